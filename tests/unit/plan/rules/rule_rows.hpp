/// Tables of rules, each with a plan that keeps it and one that breaks it.
#pragma once

#include <set>
#include <span>
#include <string_view>

#include "catch.hpp"
#include "problems.hpp"
#include "trainplan/plan/rules.hpp"

namespace rule_rows {

using namespace trainplan;

struct Asked : problems::Draft {
  Plan plan = problems::main_plan();
};
using Change = void (*)(Asked&);

/// Both changes start from the legal main plan. `also`: a further rule that the failing plan cannot help
/// breaking.
struct Row {
  std::string_view rule;
  Change passes, fails;
  std::string_view also{};
};

/// Four experts a rank; 128 of them, each 4,096 wide, in every layer of the main model.
inline void with_experts(Asked& a) {
  a.model.experts = {.count = 128, .per_token = 8, .width = 4096};
  a.model.pattern = std::vector(static_cast<std::size_t>(a.model.layers), LayerKind{.sparse = true});
}
/// The plan in another framework, without what only Megatron-LM has.
inline void in_framework(Asked& a, const char* name) {
  a.framework = *problems::framework(name);
  a.plan.vpp = 1;
  a.plan.schedule = Schedule::OneFOneB;
  a.plan.sharding = a.framework.default_sharding;
  a.recipe.gradient = a.recipe.reduce = a.framework.default_gradient;
}
inline void degrees(Asked& a, std::uint16_t tp, std::uint16_t pp, std::uint16_t cp, std::uint32_t dp) {
  a.plan.tp = tp;
  a.plan.pp = pp;
  a.plan.cp = cp;
  a.plan.dp = dp;
  a.plan.shard = dp * cp;
}
inline void no_interleaving(Asked& a) {
  a.plan.vpp = 1;
  a.plan.schedule = Schedule::OneFOneB;
}
/// A model that 1, 3, 4, 6, 8 and 12 ranks may cut, except for what a row changes; 1,152 GPUs take 3 ranks.
inline void cut_by_threes(Asked& a) {
  a.model.heads = 96;
  a.model.kv_heads = 24;
  a.model.hidden = 12288;
  a.model.head_dim = 128;
  a.model.ffn = 36864;
  a.cluster.nodes = 144;
}

/// Ids of all rules that the changed plan breaks.
inline std::set<std::string_view> broken(Change change) {
  Asked asked;
  change(asked);
  const Problem problem = asked.problem();
  std::set<std::string_view> ids;
  for (const Rule& rule : rules())
    if (!rule.holds(problem, asked.plan)) ids.insert(rule.id);
  CHECK(legal(problem, asked.plan) == ids.empty());
  return ids;
}

/// A broken rule has a field, a sentence, and the numbers that it was judged on.
inline void check_words(const Row& row) {
  Asked asked;
  row.fails(asked);
  const Problem problem = asked.problem();
  const Rule* first = first_broken(problem, asked.plan);
  REQUIRE(first != nullptr);
  CHECK_FALSE(first->field.empty());
  CHECK_FALSE(first->must.empty());
  for (const Rule& rule : rules())
    if (rule.id == row.rule) CHECK_FALSE(rule.numbers(problem, asked.plan).empty());
}

/// Every rule of the subject has a row, and each row breaks its rule and no other.
inline void check_rows(std::span<const Row> rows, std::span<const Rule> subject) {
  std::set<std::string_view> tabled, listed;
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    tabled.insert(row.rule);
    CHECK(broken(row.passes).empty());
    std::set<std::string_view> want{row.rule};
    if (!row.also.empty()) want.insert(row.also);
    CHECK(broken(row.fails) == want);
    check_words(row);
  }
  for (const Rule& rule : subject) listed.insert(rule.id);
  CHECK(tabled == listed);
}

}  // namespace rule_rows
