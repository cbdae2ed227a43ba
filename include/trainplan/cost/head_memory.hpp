/// Memory of the two ends of a model: final norm, head and loss on the last stage, the embedding on the
/// first.
#pragma once

#include <algorithm>
#include <optional>

#include "trainplan/cost/activations.hpp"
#include "trainplan/cost/lifetimes.hpp"
#include "trainplan/cost/live_rows.hpp"
#include "trainplan/cost/scratch.hpp"
#include "trainplan/trace/formula.hpp"

namespace trainplan {

inline constexpr Formula logits_bytes{
    "logits_bytes", "logits, or what a loss keeps beside them",
    Source{"megatron-lm", "vocabulary-parallel cross-entropy"},
    std::array{Arg{"tokens", "T", "tokens"}, Arg{"vocabulary", "V_pad", "padded vocabulary"},
               Arg{"element", "e_l", "bytes per token and vocabulary entry"},
               Arg{"t", "t", "tensor parallel degree", 1}},
    []<class N>(Tokens<N> tokens, Count<N> v, BytesPerToken<N> e, Count<N> t) { return tokens * v * e / t; }};

/// Bytes that running layers need whichever stage runs them: the gradient of a weight that stands alone; rows
/// on their way to experts, and the layer that overlaps with them; the layer that runs backward, and its
/// gradient in the format of the products.
template <class N>
struct RunningLayers {
  Bytes<N> weight_gradient{}, rows{}, overlapped{}, backward{}, low_gradient{};
};

/// What the stages of a plan have in common of their memory.
template <class N>
struct CommonMemory {
  std::optional<ModelParams<N>> model;
  std::optional<LiveRows<N>> rows;
  OfMix<detail::LayerTotals<N>> tensors;
  OfMix<ScratchBuffers<N>> scratch;
  OfMix<RunningLayers<N>> running;
};

/// One GPU of a stage, and where its items go.
template <Recorder R>
struct StageMemory {
  using N = typename R::Num;
  R& rec;
  const Inputs<N>& in;
  const Problem& problem;
  const Plan& plan;
  int stage;
  const ParamsCost<N>& params;
  const ActivationCost<N>& act;
  Lifetimes<N>& live;
  CommonMemory<N>& common;

  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage == head_stage(plan); }
  bool is_fully_sharded() const { return problem.profile().rows(plan.sharding)->is_fully_sharded(); }
  /// The hidden states are whole on the tp ranks in a product, and split between blocks.
  bool gathers() const { return plan.tp > 1 && plan.sequence_parallel; }
  LayerMix mix() const { return params.mix; }

  /// n hidden tensors of a micro-batch between blocks, and n of them whole.
  Bytes<N> hidden(double n = 1) const {
    return n == 1 ? activation_tensor(act.tokens, in.hidden, in.element, hidden_ways(in, plan))
                  : activation_tensor(act.tokens, n * in.hidden, in.element, hidden_ways(in, plan));
  }
  Bytes<N> gathered() const { return activation_tensor(act.tokens, in.hidden, in.element, Count<N>{1.0}); }
};

namespace detail {

/// Tokens of one part of the loss.
template <Recorder R>
Tokens<typename R::Num> loss_tokens(const StageMemory<R>& s, const LossRow& loss) {
  if (loss.chunks == 1) return s.act.tokens;
  return s.act.tokens /
         count(s.rec, "n_chunk", "parts of the loss", s.problem.profile().origin, "/loss", loss.chunks);
}

/// Logits and what the loss keeps beside them. Returns the bytes at the loss.
template <Recorder R>
Bytes<typename R::Num> add_loss(const StageMemory<R>& s) {
  using N = typename R::Num;
  const LossRow& loss = s.problem.loss();
  const std::string& origin = s.problem.profile().origin;
  const auto tokens = loss_tokens(s, loss);
  const auto entry = [&](std::string_view symbol, std::string_view meaning, double bytes) {
    return from_file<BytesPerToken<N>>(s.rec, symbol, meaning, origin, "/loss", bytes);
  };
  const auto logits =
      s.rec.apply(logits_bytes,
                  {"memory.logits", "M_logits",
                   loss.frees_logits ? "gradient of the logits" : "logits, then their gradient"},
                  tokens, s.params.padded_vocabulary, s.in.element, s.in.tp);
  const Phases both = bit(Phase::Loss) | bit(Phase::HeadBackward);
  // Freed logits leave their block, too small for the fp32 tensors that follow, to the gradient.
  s.live.add_transient(logits, loss.frees_logits ? bit(Phase::HeadBackward)
                                                 : static_cast<Phases>(both | bit(Phase::Evaluation)));
  Sum<Bytes<N>> at_loss;
  if (!loss.frees_logits) at_loss.add(logits);
  const double beside = s.plan.tp > 1 ? loss.beside_tp.value_or(loss.beside) : loss.beside;
  if (beside > 0) {
    const auto kept =
        s.rec.apply(logits_bytes, {"memory.loss", "M_loss_k", "what the loss keeps beside the logits"},
                    tokens, s.params.padded_vocabulary,
                    entry("e_l", "bytes of the loss for a token and vocabulary entry", beside), s.in.tp);
    s.live.add_transient(kept, bit(Phase::Loss) | bit(Phase::Evaluation));
    at_loss.add(kept);
  }
  if (loss.chunks > 1)
    s.live.add_transient(
        s.rec.item({"memory.loss_gradient", "M_loss_g", "hidden gradient that the parts of the loss fill"},
                   s.hidden(2)),
        both);
  if (s.problem.recipe.mtp_layers > 0)
    s.live.add_transient(
        s.rec.item(
            {"memory.logits_mtp", "M_logits_mtp", "logits of further tokens, until their backward pass"},
            s.in.mtp_layers * logits_bytes(s.act.tokens, s.params.padded_vocabulary,
                                           entry("e_mtp", "bytes that the loss keeps for its backward pass",
                                                 std::max(beside, 2.0)),
                                           s.in.tp)),
        both);
  return at_loss.total();
}

/// The head's backward pass: the gradient of its input, whole and then split, and of its weight.
template <Recorder R>
void add_head_backward(const StageMemory<R>& s) {
  s.live.add_transient(s.rec.item({"memory.head_dgrad", "M_dgrad", "gradient of the head's input"},
                                  s.gathers() ? s.gathered() + s.hidden() : 1.0 * s.gathered()),
                       bit(Phase::HeadBackward));
  if (s.plan.pp > 1 && s.problem.profile().pipeline_buffers == PipelineBuffers::None)
    s.live.add_transient(
        s.rec.item({"memory.sent_gradient", "M_sent", "gradient sent to the stage before, still referenced"},
                   1.0 * s.hidden()),
        bit(Phase::HeadBackward));
  if (!keeps_scratch_gradients(s.problem, s.plan))
    s.live.add_transient(gradient_of(s.rec, {"memory.head_wgrad", "M_hgrad", "gradient of the head's weight"},
                                     head_shape(s.in, s.params)),
                         bit(Phase::HeadBackward));
}

}  // namespace detail

/// Final norm, head and loss. Returns logits and loss at the loss; nothing on other stages.
template <Recorder R>
Bytes<typename R::Num> add_head(const StageMemory<R>& s) {
  if (!s.is_last()) return {};
  if (s.problem.profile().head_gather && s.gathers())
    s.live.add(s.rec.item({"memory.head_gather", "M_hgather", "gathered input of the head, kept"},
                          1.0 * s.gathered()),
               kAfterLoad);
  s.live.add_transient(
      s.rec.item({"memory.final_norm", "M_fnorm", "input and output of the final norm"}, 1.0 * s.hidden(2)),
      bit(Phase::Loss) | bit(Phase::HeadBackward));
  const auto logits = detail::add_loss(s);
  detail::add_head_backward(s);
  return logits;
}

/// The dense gradient of the token table, with its incoming gradient. On the stage of the head it takes the
/// block of the head's gradient, where there is one.
template <Recorder R>
void add_embedding(const StageMemory<R>& s) {
  s.live.add(s.act.left, bit(Phase::EmbeddingBackward));
  if (!s.is_first()) return;
  const auto table =
      detail::gradient_of(s.rec, {"memory.embedding_wgrad", "M_egrad", "gradient of the token table"},
                          detail::head_shape(s.in, s.params));
  const bool has_block = s.is_last() && !keeps_scratch_gradients(s.problem, s.plan);
  s.live.add(table, bit(Phase::EmbeddingBackward), has_block ? kAlways : bit(Phase::EmbeddingBackward));
  s.live.add(s.rec.item({"memory.embedding_dgrad", "M_edgrad", "gradient of the embedding's output"},
                        1.0 * s.hidden(2)),
             bit(Phase::EmbeddingBackward));
}

}  // namespace trainplan
