/// What a sharding mode of a framework leaves to choose.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "trainplan/plan/problem.hpp"

namespace trainplan {

/// Some row of state or traffic of the plan's sharding depends on one of these conditions.
inline bool depends_on(const Problem& x, const Plan& p, std::initializer_list<When> conditions) {
  const ShardingRows* rows = x.profile().rows(p.sharding);
  const auto is = [&](const auto& row) {
    return std::ranges::find(conditions, row.when) != conditions.end();
  };
  return rows != nullptr && (std::ranges::any_of(rows->state, is) || std::ranges::any_of(rows->traffic, is));
}

/// Gathered weights may be freed between the passes or stay.
inline bool may_keep_gathered(const Problem& x, const Plan& p) {
  return depends_on(x, p, {When::Reshard, When::NoReshard, When::GatheredOnce, When::GatheredEachMicroBatch});
}
/// Gradients may be reduced after every micro-batch or once a step.
inline bool may_put_off_reduction(const Problem& x, const Plan& p) {
  return depends_on(
      x, p, {When::DeferredSync, When::SyncEachMicroBatch, When::GatheredOnce, When::GatheredEachMicroBatch});
}

}  // namespace trainplan
