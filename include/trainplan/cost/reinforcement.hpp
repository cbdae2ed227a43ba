/// Reinforcement learning: the rates of its stages, synchronous and asynchronous periods, what moves and
/// ages.
#pragma once

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula accepted_rate{
    "accepted_rate", "trajectories that reach the learner in a second",
    Source{"identity", "generate, verify, keep: q min(r_g, r_v)"},
    std::array{Arg{"keep", "q_v", "share that is kept after verification", 0, 1},
               Arg{"generate", "r_g", "trajectories generated in a second"},
               Arg{"verify", "r_v", "trajectories verified in a second"}},
    []<class N>(Count<N> keep, PerSec<N> generate, PerSec<N> verify) {
      return keep * min(generate, verify);
    }};

inline constexpr Formula loop_rate{
    "loop_rate", "trajectories that the loop learns from in a second",
    Source{"identity", "the slowest of three stages in a row: min(r_l, q min(r_g, r_v))"},
    std::array{Arg{"learn", "r_l", "trajectories learned from in a second"},
               Arg{"keep", "q_v", "share that is kept after verification", 0, 1},
               Arg{"generate", "r_g", "trajectories generated in a second"},
               Arg{"verify", "r_v", "trajectories verified in a second"}},
    []<class N>(PerSec<N> learn, Count<N> keep, PerSec<N> generate, PerSec<N> verify) {
      return min(learn, keep * min(generate, verify));
    }};

inline constexpr Formula synchronous_period{
    "synchronous_period", "time of one batch when nothing overlaps",
    Source{"hybridflow-2024", "generation, learning and the transfer of weights one after the other"},
    std::array{Arg{"generate", "T_g", "generation of a batch"}, Arg{"learn", "T_l", "learning of a batch"},
               Arg{"sync", "T_s", "transfer of weights to the generators"}},
    []<class N>(Seconds<N> generate, Seconds<N> learn, Seconds<N> sync) { return generate + learn + sync; }};

inline constexpr Formula asynchronous_period{
    "asynchronous_period", "time of one batch when the next is generated while one is learned",
    Source{"areal-2025", "the longer of the two, and the transfer of weights"},
    std::array{Arg{"generate", "T_g", "generation of a batch"}, Arg{"learn", "T_l", "learning of a batch"},
               Arg{"sync", "T_s", "transfer of weights to the generators"}},
    []<class N>(Seconds<N> generate, Seconds<N> learn, Seconds<N> sync) {
      return max(generate, learn) + sync;
    }};

inline constexpr Formula break_even_retention{
    "break_even_retention",
    "share of samples that must stay usable for asynchrony to pay",
    Source{"identity", "q / T_async > 1 / T_sync"},
    std::array{Arg{"asynchronous", "T_async", "period of the asynchronous loop"},
               Arg{"synchronous", "T_sync", "period of the synchronous loop", 1e-9}},
    []<class N>(Seconds<N> asynchronous, Seconds<N> synchronous) { return asynchronous / synchronous; },
    Unit::Share};

inline constexpr Formula asynchronous_gain{
    "asynchronous_gain",
    "throughput of usable samples that asynchrony adds",
    Source{"identity", "q T_sync / T_async - 1"},
    std::array{Arg{"retention", "q", "share of samples that stays usable", 0, 1},
               Arg{"synchronous", "T_sync", "period of the synchronous loop"},
               Arg{"asynchronous", "T_async", "period of the asynchronous loop", 1e-9}},
    []<class N>(Count<N> retention, Seconds<N> synchronous, Seconds<N> asynchronous) {
      return retention * synchronous / asynchronous - 1.0;
    },
    Unit::Share};

inline constexpr Formula policy_staleness{
    "policy_staleness", "updates between the weights that begin a trajectory and those that learn from it",
    Source{"areal-2025", "updates while it is generated, and while it waits in the queue"},
    std::array{Arg{"duration", "t", "time that a trajectory takes"},
               Arg{"period", "T_async", "time between updates", 1e-9},
               Arg{"queued", "n_q", "batches that wait before the learner"}},
    []<class N>(Seconds<N> duration, Seconds<N> period, Count<N> queued) {
      return ceil(duration / period) + queued;
    }};

inline constexpr Formula trajectory_survival{
    "trajectory_survival",
    "probability that nothing fails while a trajectory is generated",
    Source{"daly-2006", "failures of a Poisson process: exp(-t / M)"},
    std::array{Arg{"duration", "t", "time that a trajectory takes"},
               Arg{"mtbf", "M", "mean time between failures of the generator", 1e-9}},
    []<class N>(Seconds<N> duration, Seconds<N> mtbf) { return 1.0 / exp(duration / mtbf); },
    Unit::Share};

inline constexpr Formula probability_ratio{
    "probability_ratio", "weight of a token: its probability now over that when it was generated",
    Source{"ppo-2017", "section 3: exp(log pi - log mu)"},
    std::array{Arg{"policy", "log_pi", "log-probability under the current weights", -500, 0},
               Arg{"behaviour", "log_mu", "log-probability recorded when it was generated", -500, 0}},
    []<class N>(Count<N> policy, Count<N> behaviour) { return exp(policy - behaviour); }};

inline constexpr Formula routing_record{
    "routing_record",
    "record of the experts that every token visited",
    Source{"routing-replay-2025", "one id for each token, layer and chosen expert"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"layers", "L_e", "layers with routed experts"},
               Arg{"top_k", "k_top", "experts that a token visits"}, Arg{"id", "w_id", "bytes of an id"}},
    []<class N>(Tokens<N> tokens, Count<N> layers, Count<N> top_k, BytesPerToken<N> id) {
      return tokens * layers * top_k * id;
    },
    Unit::Request};

inline constexpr Formula kv_cache_bytes{
    "kv_cache_bytes", "keys and values of generated tokens",
    Source{"paged-attention-2023", "section 1: two tensors for each layer and key-value head"},
    std::array{Arg{"tokens", "T", "tokens in the cache"}, Arg{"layers", "L", "transformer layers"},
               Arg{"groups", "n_kv", "key-value heads"}, Arg{"head", "d_h", "width of a head"},
               Arg{"element", "e", "bytes of an element"}},
    []<class N>(Tokens<N> tokens, Count<N> layers, Count<N> groups, Count<N> head, BytesPerToken<N> element) {
      return 2.0 * layers * groups * head * tokens * element;
    }};

inline constexpr Formula weight_share{
    "weight_share", "weights that one receiver of new weights needs",
    Source{"identity", "weights / ranks that split them"},
    std::array{Arg{"weights", "M_w", "weights"}, Arg{"ranks", "n", "ranks that split the weights", 1}},
    []<class N>(Bytes<N> weights, Count<N> ranks) { return weights / ranks; }};

inline constexpr Formula broadcast_bytes{
    "broadcast_bytes", "bytes that arrive when every receiver takes all weights",
    Source{"identity", "weights x receivers"},
    std::array{Arg{"weights", "M_w", "weights"}, Arg{"receivers", "n", "receivers"}},
    []<class N>(Bytes<N> weights, Count<N> receivers) { return weights * receivers; }};

inline constexpr Formula token_mean_gradient{
    "token_mean_gradient", "gradient of two kinds of replies, every token weighing the same",
    Source{"dapo-2025", "section 3.3: token-level loss"},
    std::array{Arg{"short_tokens", "T_1", "tokens of all short replies"},
               Arg{"long_tokens", "T_2", "tokens of all long replies", 1},
               Arg{"short_gradient", "g_1", "gradient of a token of a short reply"},
               Arg{"long_gradient", "g_2", "gradient of a token of a long reply"}},
    []<class N>(Tokens<N> short_tokens, Tokens<N> long_tokens, Count<N> short_gradient,
                Count<N> long_gradient) {
      return (short_tokens * short_gradient + long_tokens * long_gradient) / (short_tokens + long_tokens);
    }};

inline constexpr Formula reply_mean_gradient{
    "reply_mean_gradient", "gradient of two kinds of replies, every reply weighing the same",
    Source{"deepseekmath-2024", "eq. 3: mean over the tokens of a reply, then over the replies"},
    std::array{Arg{"short_replies", "n_1", "short replies"}, Arg{"long_replies", "n_2", "long replies", 1},
               Arg{"short_gradient", "g_1", "gradient of a token of a short reply"},
               Arg{"long_gradient", "g_2", "gradient of a token of a long reply"}},
    []<class N>(Count<N> short_replies, Count<N> long_replies, Count<N> short_gradient,
                Count<N> long_gradient) {
      return (short_replies * short_gradient + long_replies * long_gradient) / (short_replies + long_replies);
    }};

inline constexpr Formula token_weight{
    "token_weight",
    "share of the gradient that long replies have, every token weighing the same",
    Source{"dapo-2025", "section 3.3: token-level loss"},
    std::array{Arg{"short_tokens", "T_1", "tokens of all short replies"},
               Arg{"long_tokens", "T_2", "tokens of all long replies", 1}},
    []<class N>(Tokens<N> short_tokens, Tokens<N> long_tokens) {
      return long_tokens / (short_tokens + long_tokens);
    },
    Unit::Share};

inline constexpr Formula centred_advantage{
    "centred_advantage", "advantage of a reply over the mean of its group, not scaled",
    Source{"deepseekmath-2024", "section 4.1: reward less the mean of the group"},
    std::array{Arg{"reward", "r", "reward of the reply"}, Arg{"mean", "r_mean", "mean reward of the group"}},
    []<class N>(Count<N> reward, Count<N> mean) { return reward - mean; }};

using ReinforcementFormulas =
    Chapter<accepted_rate, loop_rate, synchronous_period, asynchronous_period, break_even_retention,
            asynchronous_gain, policy_staleness, trajectory_survival, probability_ratio, routing_record,
            kv_cache_bytes, weight_share, broadcast_bytes, token_mean_gradient, reply_mean_gradient,
            token_weight, centred_advantage>;

}  // namespace trainplan
