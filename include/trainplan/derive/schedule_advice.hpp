/// When another pipeline schedule is worth a look, and why, in one line each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainplan/cost/schedule_bounds.hpp"
#include "trainplan/derive/derivation.hpp"

namespace trainplan {

namespace detail {

/// Idle time over the work of a stage above which more virtual stages pay.
inline constexpr double kIdleWorthChunks = 0.05;
/// Exposed expert traffic over the kernels above which it is comparable to compute.
inline constexpr double kExchangesMatter = 0.2;

inline void advise_few(const Trial& t, std::vector<Sentence>& out) {
  const std::int64_t m = micro_batches(t.problem, t.plan);
  if (m >= t.plan.pp) return;
  out.push_back({num(m) + " micro-batches for " + num(t.plan.pp) +
                 " stages: filling and draining bind any schedule; raise global_batch or lower dp first"});
}

inline void advise_chunks(const Trial& t, std::vector<Sentence>& out) {
  const double idle = t.cost.schedule.bubble_of_ideal.num();
  if (has_chunks(t.plan.schedule) || idle <= kIdleWorthChunks || !t.problem.profile().interleaves()) return;
  out.push_back({std::string(name_of(t.plan.schedule)) + " idles ", Value{idle, Unit::Share},
                 " of its work: interleaved divides that by vpp, for more sets in flight (" + num(t.plan.pp) +
                     " + (" + num(t.plan.pp) + " - 1) / vpp on the first stage)"});
}

/// Split backward passes keep the memory of 1F1B.
inline void advise_split(const Trial& t, std::vector<Sentence>& out) {
  const FrameworkProfile& f = t.problem.profile();
  const double idle = t.cost.schedule.bubble_of_ideal.num();
  if (splits_backward(t.plan.schedule) || idle <= kIdleWorthChunks / 2) return;
  if (!f.offers(Schedule::ZbV) && !f.offers(Schedule::InterleavedZb)) return;
  const std::string compiled = f.rules.split_needs_eager && t.problem.recipe.compile
                                   ? "; stages must not be compiled (compile false)"
                                   : "";
  out.push_back({"bubble ", Value{idle, Unit::Share},
                 " of the work: zbv and interleaved-zb fill it with gradients of weights at the memory of "
                 "1F1B, fully where F, X and W take as long; compare with schedule any" +
                     compiled});
}

inline void advise_memory(const Trial& t, std::vector<Sentence>& out) {
  const auto& memory = t.cost.memory;
  if (t.verdict() == Verdict::Fits || memory.activations.saved < memory.state) return;
  const Count<> p{static_cast<double>(t.plan.pp)};
  out.push_back({"activations decide: a V-Half order would keep ",
                 Value{in_flight_v_half(p).num(), Unit::Count}, " sets instead of ",
                 Value{memory.activations.in_flight.num(), Unit::Count},
                 "; " + t.problem.profile().id + " has none, so recompute, cp or a smaller micro-batch"});
}

inline void advise_exchanges(const Trial& t, std::vector<Sentence>& out) {
  if (!t.problem.model().is_sparse() || t.plan.schedule == Schedule::DualPipeV) return;
  const double share = (t.cost.step.exposed_experts / t.cost.step.compute).num();
  if (share < kExchangesMatter) return;
  const bool offered = t.problem.profile().offers(Schedule::DualPipeV);
  out.push_back({"exposed expert traffic is ", Value{share, Unit::Share},
                 std::string(" of the kernels: pairs of a forward and a backward pass can hide it") +
                     (offered                                ? " (dualpipev)"
                      : t.problem.profile().rules.ep_overlap ? " (ep_overlap)"
                                                             : "")});
}

}  // namespace detail

/// Nothing without a pipeline.
inline std::vector<Sentence> schedule_advice(const Trial& t) {
  std::vector<Sentence> out;
  if (t.plan.pp == 1) return out;
  detail::advise_few(t, out);
  if (out.empty()) {
    detail::advise_chunks(t, out);
    detail::advise_split(t, out);
  }
  detail::advise_memory(t, out);
  detail::advise_exchanges(t, out);
  return out;
}

}  // namespace trainplan
