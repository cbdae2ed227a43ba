/// The rows of training state that a plan has on its GPUs.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>

#include "trainplan/cost/state.hpp"

namespace trainplan {

/// host: share in host memory. ways: ranks that share one copy, for each ParamClass.
template <class N>
struct LiveRow {
  const StateRow* row;
  Phases alive;
  double host;
  BytesPerParam<N> width;
  std::array<Count<N>, 2> ways;
};

/// Rows of the profile that apply, but for those that are in host memory as a whole.
template <class N>
class LiveRows {
  std::array<LiveRow<N>, kStateIds.size()> rows_;
  std::size_t size_ = 0;

  /// A gradient that is reduced after every micro-batch is there from the second one on.
  static Phases phases_of(const StateRow& row, const Problem& problem, const Plan& plan) {
    const bool accumulates = row.alive == kBackwardPhases && plan.sync_each_micro_batch;
    return accumulates && micro_batches(problem, plan) > 1 ? kGradientPhases : row.alive;
  }

 public:
  Phases together = kAlways;  // all resident rows are alive

  template <Recorder R>
  LiveRows(R& rec, const Inputs<N>& in, const Problem& problem, const Plan& plan) {
    const bool sparse = problem.model().is_sparse();
    for (const StateRow& row : problem.profile().rows(plan.sharding)->state) {
      const double host = host_share(problem, plan, row.id);
      if (!applies(row.when, problem.recipe, plan) || host == 1) continue;
      assert(size_ < rows_.size());
      rows_[size_++] = {&row,
                        phases_of(row, problem, plan),
                        host,
                        width_leaf(rec, problem, "w_", row),
                        {ways(in, row.sharded_over, ParamClass::Dense),
                         sparse ? ways(in, row.sharded_over, ParamClass::Experts) : Count<N>{}}};
      if (row.is_resident()) together &= rows_[size_ - 1].alive;
    }
  }

  const LiveRow<N>* begin() const { return rows_.data(); }
  const LiveRow<N>* end() const { return rows_.data() + size_; }
};

}  // namespace trainplan
