/// Rules of a framework profile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

/// Both gradient rows of a mode may exist, under conditions that exclude each other.
constexpr bool exclusive(When a, When b) {
  const auto pair = [&](When x, When y) { return (a == x && b == y) || (a == y && b == x); };
  return pair(When::Reshard, When::NoReshard) || pair(When::DeferredSync, When::SyncEachMicroBatch);
}

/// tp, cp, ep, dp and pp, each once, joined by '-'.
inline bool is_rank_order(std::string_view order) {
  std::vector<std::string_view> axes;
  while (!order.empty()) {
    const auto cut = std::min(order.find('-'), order.size());
    axes.push_back(order.substr(0, cut));
    order.remove_prefix(std::min(cut + 1, order.size()));
  }
  std::sort(axes.begin(), axes.end());
  return axes == std::vector<std::string_view>{"cp", "dp", "ep", "pp", "tp"};
}

inline void validate_width(Validator& v, const std::string& at, Width width, double bytes) {
  if (width == Width::Fixed) v.real(at + "/bytes_per_param", bytes, 0.125, kMaxBytesPerParam);
}

inline void validate_group(Validator& v, const std::string& pointer, Group group, const ShardingRows& rows) {
  const bool inner = group == Group::Shard || group == Group::Replicate;
  if (inner && rows.mode != Sharding::Hsdp && !rows.shard_groups)
    v.fail({.rule = "group-needs-hsdp",
            .pointer = pointer,
            .got = group == Group::Shard ? "shard" : "replicate",
            .must = "stand in the hsdp mode or beside shard_groups, other modes have one data-parallel group",
            .hint = "try \"data-parallel\""});
}

inline void validate_state(Validator& v, const ShardingRows& rows, const std::string& at) {
  if (rows.state.empty())
    v.fail({.rule = "state-empty",
            .pointer = at + "/state",
            .got = "[]",
            .must = "list at least the weights and the optimizer state",
            .hint = "add a row with id \"weights\""});
  for (std::size_t i = 0; i < rows.state.size(); ++i) {
    const StateRow& row = rows.state[i];
    const std::string here = at + "/state/" + std::to_string(i);
    if (std::ranges::find(kStateIds, row.id) == kStateIds.end())
      v.fail(
          {.rule = "state-id",
           .pointer = here + "/id",
           .got = row.id,
           .must =
               "be weights, gradient, gradient_shard, master, moment1, moment2, gathered, step_gradient or "
               "step_moments",
           .hint = "try \"weights\""});
    validate_width(v, here, row.width, row.bytes_per_param);
    validate_group(v, here + "/sharded_over", row.sharded_over, rows);
    for (std::size_t k = 0; k < i; ++k)
      if (rows.state[k].id == row.id && !exclusive(rows.state[k].when, row.when))
        v.fail(
            {.rule = "state-twice",
             .pointer = here + "/id",
             .got = row.id,
             .must = "appear once, or twice under conditions that exclude each other",
             .hint = "set \"when\" of one row to deferred-sync and of the other to sync-each-micro-batch"});
  }
}

/// Only rows that the mode has can move to the host.
inline void validate_host_rows(Validator& v, const ShardingRows& rows, const std::string& at) {
  const auto check = [&](const std::vector<std::string>& ids, const char* key) {
    for (const std::string& id : ids)
      if (std::none_of(rows.state.begin(), rows.state.end(), [&](const StateRow& r) { return r.id == id; }))
        v.fail({.rule = "host-row",
                .pointer = at + "/host/" + key,
                .got = id,
                .must = "be the id of a row of state of this mode",
                .hint = "try \"" + (rows.state.empty() ? "weights" : rows.state.front().id) + "\""});
  };
  check(rows.host.optimizer, "optimizer");
  check(rows.host.weights, "weights");
}

inline void validate_sharding(Validator& v, const ShardingRows& rows, const std::string& at) {
  v.real(at + "/gathered_units", rows.gathered_units, 0.0, 1024.0);
  v.real(at + "/gradient_units", rows.gradient_units, 0.0, 1024.0);
  validate_state(v, rows, at);
  validate_host_rows(v, rows, at);
  for (std::size_t i = 0; i < rows.traffic.size(); ++i) {
    const std::string here = at + "/traffic/" + std::to_string(i);
    validate_width(v, here, rows.traffic[i].width, rows.traffic[i].bytes_per_param);
    validate_group(v, here + "/group", rows.traffic[i].group, rows);
  }
}

/// Settings of fields that no plan has would never be printed.
inline void validate_flags(Validator& v, const FrameworkProfile& f) {
  for (const LaunchFlag& flag : f.flags)
    if (std::find(std::begin(kLaunchFields), std::end(kLaunchFields), flag.field) == std::end(kLaunchFields))
      v.fail({.rule = "launch-field",
              .pointer = "/flags/" + flag.field,
              .got = flag.field,
              .must = "be a field of the plan",
              .hint = "try \"tp\""});
}

/// The kernels of the loss: each once, the default among them.
inline void validate_losses(Validator& v, const FrameworkProfile& f) {
  if (f.loss(f.default_loss) == nullptr)
    v.fail({.rule = "default-loss",
            .pointer = "/loss/default",
            .got = std::string(name_of(f.default_loss)),
            .must = "be the kind of one of the kernels",
            .hint = f.losses.empty() ? "add it to /loss/kernels"
                                     : "try \"" + std::string(name_of(f.losses.front().kind)) + "\""});
  for (std::size_t i = 0; i < f.losses.size(); ++i) {
    const LossRow& row = f.losses[i];
    const std::string at = "/loss/kernels/" + std::to_string(i);
    v.real(at + "/beside_logits", row.beside, 0.0, kMaxBytesPerParam);
    v.real(at + "/beside_logits_tp", row.beside_tp.value_or(0), 0.0, kMaxBytesPerParam);
    v.range(at + "/chunks", row.chunks, 1, kMaxDegree);
    if (f.loss(row.kind) != &row)
      v.fail({.rule = "loss-twice",
              .pointer = at + "/kind",
              .got = std::string(name_of(row.kind)),
              .must = "appear once",
              .hint = "merge the two entries"});
  }
}

inline bool validate(const FrameworkProfile& f, Issues& issues) {
  Validator v{issues, f.origin};
  v.range("/vocabulary/multiple", f.vocabulary_multiple, 1, kMaxDegree);
  validate_losses(v, f);
  v.not_negative("/workspace/base", f.workspace.base);
  v.not_negative("/workspace/last_stage", f.workspace.last_stage);
  v.not_negative("/workspace/grouped", f.workspace.grouped);
  v.real("/checkpoint/bytes_per_param", f.checkpoint_bytes_per_param, 1.0, kMaxBytesPerParam);
  if (!is_rank_order(f.rank_order))
    v.fail({.rule = "rank-order",
            .pointer = "/rank_order",
            .got = f.rank_order,
            .must = "name tp, cp, ep, dp and pp once each, the fastest first",
            .hint = "try \"tp-cp-ep-dp-pp\""});
  if (f.rows(f.default_sharding) == nullptr)
    v.fail({.rule = "default-sharding",
            .pointer = "/default_sharding",
            .got = std::string(name_of(f.default_sharding)),
            .must = "be one of the modes under /shardings",
            .hint = f.shardings.empty() ? "add it to /shardings"
                                        : "try \"" + std::string(name_of(f.shardings.front().mode)) + "\""});
  for (std::size_t i = 0; i < f.shardings.size(); ++i) {
    const std::string at = "/shardings/" + std::to_string(i);
    validate_sharding(v, f.shardings[i], at);
    if (f.rows(f.shardings[i].mode) != &f.shardings[i])
      v.fail({.rule = "sharding-twice",
              .pointer = at + "/mode",
              .got = std::string(name_of(f.shardings[i].mode)),
              .must = "appear once",
              .hint = "merge the two entries"});
  }
  validate_flags(v, f);
  return v.ok();
}

}  // namespace trainplan
