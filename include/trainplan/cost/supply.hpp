/// The supply of data: what a run asks for, what workers deliver, queues, and lengths of sequences.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula sequence_demand{
    "sequence_demand", "sequences that training takes in a second", Source{"identity", "batch / step"},
    std::array{Arg{"batch", "B", "sequences of a step"}, Arg{"step", "T_step", "step time", 1e-9}},
    []<class N>(Count<N> batch, Seconds<N> step) { return batch / step; }};

inline constexpr Formula deadline_demand{
    "deadline_demand", "sequences that a token budget needs in a second to be in time",
    Source{"identity", "tokens / time / sequence length"},
    std::array{Arg{"tokens", "D", "tokens of the run"}, Arg{"time", "T", "time for them", 1e-9},
               Arg{"s", "s", "sequence length", 1}},
    []<class N>(Tokens<N> tokens, Seconds<N> time, Tokens<N> s) { return tokens / time / s; }};

inline constexpr Formula token_traffic{
    "token_traffic", "bytes of token ids in a second", Source{"identity", "tokens / time x width"},
    std::array{Arg{"tokens", "D", "tokens"}, Arg{"time", "T", "time for them", 1e-9},
               Arg{"width", "w_id", "bytes of a token id"}},
    []<class N>(Tokens<N> tokens, Seconds<N> time, BytesPerToken<N> width) { return tokens / time * width; }};

inline constexpr Formula worker_supply{
    "worker_supply", "sequences that workers prepare in a second", Source{"identity", "workers x rate"},
    std::array{Arg{"workers", "n_w", "workers"}, Arg{"each", "r_w", "sequences of one worker in a second"}},
    []<class N>(Count<N> workers, PerSec<N> each) { return workers * each; }};

inline constexpr Formula workers_needed{
    "workers_needed", "workers that keep up with training", Source{"identity", "ceil(demand / rate)"},
    std::array{Arg{"demand", "r", "sequences that training takes in a second"},
               Arg{"each", "r_w", "sequences of one worker in a second", 1e-9}},
    []<class N>(PerSec<N> demand, PerSec<N> each) { return ceil(demand / each); }};

inline constexpr Formula prefetch_depth{
    "prefetch_depth", "sequences that a queue needs to ride out a pause of some workers",
    Source{"identity", "ceil((demand - supply) x pause)"},
    std::array{Arg{"demand", "r", "sequences that training takes in a second"},
               Arg{"supply", "r_0", "sequences that the other workers prepare in a second"},
               Arg{"pause", "T_0", "time of the pause"}},
    []<class N>(PerSec<N> demand, PerSec<N> supply, Seconds<N> pause) {
      return ceil(positive(demand - supply) * pause);
    }};

inline constexpr Formula refill_time{
    "refill_time", "time until a queue is full again after a pause of some workers",
    Source{"identity", "(demand - supply) x pause / spare rate"},
    std::array{Arg{"demand", "r", "sequences that training takes in a second"},
               Arg{"supply", "r_0", "sequences that the other workers prepare in a second"},
               Arg{"pause", "T_0", "time of the pause"},
               Arg{"spare", "r_1", "what all workers prepare beyond the demand", 1e-9}},
    []<class N>(PerSec<N> demand, PerSec<N> supply, Seconds<N> pause, PerSec<N> spare) {
      return positive(demand - supply) * pause / spare;
    }};

inline constexpr Formula spare_supply{
    "spare_supply", "sequences that workers prepare beyond the demand in a second",
    Source{"identity", "workers x rate - demand"},
    std::array{Arg{"supply", "r_a", "sequences that all workers prepare in a second"},
               Arg{"demand", "r", "sequences that training takes in a second"}},
    []<class N>(PerSec<N> supply, PerSec<N> demand) { return supply - demand; }};

inline constexpr Formula skipped_batches{
    "skipped_batches", "batches that a restart at the loader's position leaves out",
    Source{"identity", "handed out - trained"},
    std::array{Arg{"handed_out", "n_out", "batches that the loader has handed out"},
               Arg{"trained", "n", "batches that training has finished"}},
    []<class N>(Count<N> handed_out, Count<N> trained) { return handed_out - trained; }};

inline constexpr Formula tokens_to_fill{
    "tokens_to_fill", "tokens of the next document that complete a packed sequence",
    Source{"identity", "sequence length - what the packer has kept"},
    std::array{Arg{"s", "s", "sequence length"}, Arg{"kept", "n_kept", "tokens that the packer has kept"}},
    []<class N>(Tokens<N> s, Tokens<N> kept) { return s - kept; }};

inline constexpr Formula causal_pairs{
    "causal_pairs", "pairs of positions that causal attention looks at, of one sequence",
    Source{"vaswani-2017", "section 3.2.3: every position and those before it, s (s + 1) / 2"},
    std::array{Arg{"s", "s", "sequence length"}},
    []<class N>(Tokens<N> s) { return as<kCount>(s) * (as<kCount>(s) + 1.0) / 2.0; }};

inline constexpr Formula cut_pairs{
    "cut_pairs", "pairs of positions of a document that is cut into sequences",
    Source{"vaswani-2017", "section 3.2.3: whole sequences and a rest, each s (s + 1) / 2"},
    std::array{Arg{"length", "s_i", "length of the document"}, Arg{"s", "s", "sequence length", 1}},
    []<class N>(Tokens<N> length, Tokens<N> s) {
      const auto whole = floor(length / s);
      return whole * causal_pairs(s) + causal_pairs(length - whole * s);
    }};

using SupplyFormulas =
    Chapter<sequence_demand, deadline_demand, token_traffic, worker_supply, workers_needed, prefetch_depth,
            refill_time, spare_supply, skipped_batches, tokens_to_fill, causal_pairs, cut_pairs>;

}  // namespace trainplan
