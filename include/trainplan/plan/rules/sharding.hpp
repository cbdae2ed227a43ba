/// Rules about what data-parallel ranks share.
#pragma once

#include <algorithm>

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

inline bool any_mode(const FrameworkProfile& f, bool (*is)(const ShardingRows&)) {
  return std::any_of(f.shardings.begin(), f.shardings.end(), is);
}

inline constexpr std::array kShardingRules{
    Rule{"sharding-is-known", "sharding", "", "be one that the framework profile describes",
         [](const Problem& x, const Plan& p) { return x.profile().rows(p.sharding) != nullptr; },
         [](const Problem& x, const Plan& p) {
           return x.profile().id + ", sharding " + std::string(name_of(p.sharding));
         }},
    Rule{.id = "sharding-allows-pipeline",
         .field = "sharding",
         .also = "pp",
         .must = "be one that runs with a pipeline in this framework when pp is above 1",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const ShardingRows* rows = x.profile().rows(p.sharding);
               return p.pp == 1 || rows == nullptr || rows->with_pipeline;
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return x.profile().id + ", sharding " + std::string(name_of(p.sharding)) + ", pp " +
                      text(p.pp);
             },
         .repair = [](const Problem&,
                      const Plan& p) { return "keep " + std::string(name_of(p.sharding)) + " with pp 1"; },
         .applies =
             [](const FrameworkProfile& f) {
               return any_mode(f, [](const ShardingRows& r) { return !r.with_pipeline; });
             }},
    Rule{.id = "sharding-allows-experts",
         .field = "sharding",
         .must = "be one that runs with routed experts in this framework",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const ShardingRows* rows = x.profile().rows(p.sharding);
               return !x.model().is_sparse() || rows == nullptr || rows->with_experts;
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return text(x.model().experts.count) + " experts, sharding " +
                      std::string(name_of(p.sharding));
             },
         .applies =
             [](const FrameworkProfile& f) {
               return any_mode(f, [](const ShardingRows& r) { return !r.with_experts; });
             }},
    Rule{.id = "shard-group-divides",
         .field = "shard_size",
         .also = "dp",
         .must = "divide dp x cp",
         .keeps = [](const Problem&, const Plan& p) { return divides(p.shard, std::int64_t{p.dp} * p.cp); },
         .numbers =
             [](const Problem&, const Plan& p) {
               return "dp x cp = " + text(std::int64_t{p.dp} * p.cp) + ", shard group " + text(p.shard) +
                      ", groups = " + quotient(std::int64_t{p.dp} * p.cp, p.shard);
             },
         .repair =
             [](const Problem& x, const Plan& p) {
               const std::int64_t own = x.cluster().gpus_per_node / p.tp;
               return own > 1 && divides(own, std::int64_t{p.dp} * p.cp)
                          ? "take shard_size " + text(own) + ", the ranks of one node"
                          : std::string{};
             }},
};

}  // namespace trainplan::detail
