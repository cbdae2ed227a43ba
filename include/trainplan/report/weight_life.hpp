/// One weight in a framework: the bytes that it takes, what travels for it, and how it lives, in words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/build.hpp"
#include "trainplan/report/plan_sections.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

namespace detail {

/// Ranks that share a row of dense weights.
inline std::int64_t ranks_of(const Plan& plan, Group group) {
  return group == Group::None ? 1 : group_of(plan, axis_of(plan, group, ParamClass::Dense)).size;
}

/// "6 + 12/128": bytes per parameter on every rank and shared ones, by the rows of the profile; the number
/// itself is memory.state_per_param. Empty where a part of them lives on the host.
inline std::string resident_text(const Trial& t) {
  const Recipe& recipe = t.problem.recipe;
  if (recipe.offload.any() || recipe.low_weights) return {};
  std::map<std::int64_t, double> widths;
  for (const StateRow& row : t.problem.profile().rows(t.plan.sharding)->state)
    if (row.is_resident() && !row.largest_group && applies(row.when, recipe, t.plan))
      widths[ranks_of(t.plan, row.sharded_over)] += width_of(row.width, row.bytes_per_param, recipe);
  std::string text;
  for (const auto& [ranks, width] : widths)
    text += (text.empty() ? "" : " + ") + shown(width) + (ranks > 1 ? "/" + std::to_string(ranks) : "");
  return text;
}

/// The state of a parameter were gradients kept in that type; nothing where the framework cannot.
inline Cell resident_with(const Trial& t, DType gradient) {
  Problem other = t.problem;
  other.recipe.gradient = gradient;
  if (!legal(other, t.plan)) return {};
  return cell(evaluate_stage(other, t.plan, t.cost.stage).memory.state_per_param, Unit::BytesPerParam);
}

inline Cell item_cell(const Ledger& ledger, std::string_view id, Unit unit) {
  const LineItem* item = ledger.find(id);
  return item == nullptr ? Cell{} : Cell{Value{item->value, unit}};
}

/// "tp 8 NVLink, dp 32 NIC, pp 4 NIC".
inline std::string groups_text(const Trial& t) {
  std::string text;
  for (const auto& row : group_table(t).rows)
    text += (text.empty() ? "" : ", ") + std::get<std::string>(row[0]) + " " +
            std::to_string(static_cast<std::int64_t>(std::get<Value>(row[1]).number)) + " " +
            std::get<std::string>(row[4]);
  return text.empty() ? "none: one GPU" : text;
}

/// "tp, pp: --flag; ep: no; else as it is"; empty when the profile says nothing of the part.
inline std::string reshard_text(const FrameworkProfile& f, SavedPart part) {
  const auto& rows = f.checkpoint.reshard;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const ReshardRow& r) { return r.part == part; });
  if (row == rows.end()) return {};
  const auto degrees = [&](Loads loads) {
    std::string names;
    for (std::size_t i = 0; i < kDegrees; ++i)
      if (row->loads[i] == loads) names.append(names.empty() ? "" : ", ").append(kDegreeNames[i]);
    return names;
  };
  const std::string with = degrees(Loads::Needs), never = degrees(Loads::No), freely = degrees(Loads::Yes);
  std::string text = freely.empty() ? "" : "any " + freely;
  if (!with.empty()) text += (text.empty() ? "" : "; ") + with + ": " + row->needs;
  if (!never.empty()) text += (text.empty() ? "" : "; ") + ("not another " + never);
  return text;
}

/// What a checkpoint has of the position in the data, and who can load it.
inline std::string data_text(const FrameworkProfile& f) {
  const PartSaved* saved = f.checkpoint.find(SavedPart::DataPosition);
  if (saved == nullptr) return {};
  const std::string kept = saved->saved == Saved::No ? "not kept" : saved->how;
  const std::string loads = reshard_text(f, SavedPart::DataPosition);
  return loads.empty() ? kept : kept + "; " + loads;
}

/// "gradient reduce-scatter" of a row that applies: how often, and behind what it hides.
inline std::string when_text(const CommRow& row, const Recipe& recipe) {
  static constexpr std::string_view behind[] = {"exposed", "behind the last backward pass",
                                                "behind the next forward pass", "behind compute"};
  const std::size_t hides = recipe.dp_overlap ? static_cast<std::size_t>(row.hides) : 0;
  return std::string(row.times == Times::PerStep ? "once a step, " : "every micro-batch, ") +
         std::string(behind[hides]);
}

}  // namespace detail

/// Columns of `weight_row`.
inline Table weight_table() {
  return {"bytes",
          "Bytes of one parameter: its state on a rank (d in a/d: ranks that share), and in a checkpoint",
          {{"framework", "framework"},
           {"sharding", "sharding"},
           {"resident", "resident"},
           {"terms", "as"},
           {"with_bf16_gradients", "bf16 gradients"},
           {"with_fp32_gradients", "fp32 gradients"},
           {"checkpoint", "checkpoint"}},
          {}};
}

inline std::vector<Cell> weight_row(const Trial& t, const Ledger& ledger) {
  const FrameworkProfile& f = t.problem.profile();
  return {f.id,
          std::string(name_of(t.plan.sharding)),
          detail::item_cell(ledger, "memory.state_per_param", Unit::BytesPerParam),
          detail::resident_text(t),
          detail::resident_with(t, DType::Bf16),
          detail::resident_with(t, DType::Fp32),
          Value{f.checkpoint_bytes_per_param, Unit::BytesPerParam}};
}

/// Columns of `layer_row`.
inline Table layer_table() {
  return {"layers",
          "Layers that are whole for a time on one GPU, and all that it sends for weights and gradients",
          {{"framework", "framework"},
           {"sharding", "sharding"},
           {"gathered", "gathered layers"},
           {"unsharded_gradients", "whole gradients"},
           {"sent", "sent in a step"}},
          {}};
}

inline std::vector<Cell> layer_row(const Trial& t, const Ledger& ledger) {
  return {t.problem.profile().id, std::string(name_of(t.plan.sharding)),
          detail::item_cell(ledger, "memory.gathered", Unit::Memory),
          detail::item_cell(ledger, "memory.gradient_units", Unit::Memory),
          detail::item_cell(ledger, "comm.dp", Unit::Traffic)};
}

/// A row for each collective over the weights and gradients of a GPU.
inline Table collective_table() {
  return {"collectives",
          "What one GPU sends for its weights and gradients in a step",
          {{"framework", "framework"},
           {"title", "what"},
           {"when", "when"},
           {"bytes_per_param", "of a parameter"},
           {"sent", "sent in a step"},
           {"time", "at link rate"},
           {"id", "id"}},
          {}};
}

inline void add_collectives(Table& table, const Trial& t, const Ledger& ledger) {
  const Recipe& recipe = t.problem.recipe;
  for (const CommRow& row : t.problem.profile().rows(t.plan.sharding)->traffic) {
    const LineItem* item = ledger.find("comm.dp." + row.id);
    if (item == nullptr || !applies(row.when, recipe, t.plan)) continue;
    table.rows.push_back({t.problem.profile().id, row.title, detail::when_text(row, recipe),
                          Value{width_of(row.width, row.bytes_per_param, recipe), Unit::BytesPerParam},
                          Value{item->value, Unit::Traffic},
                          detail::item_cell(ledger, item->id + "_time", Unit::Time), Code{item->id}});
  }
}

/// What words can say, a line of it for each framework.
struct LifeLine {
  std::string_view key, label;
  std::string (*text)(const Trial&);
};
inline constexpr LifeLine kLifeLines[] = {
    {"sharding", "sharding",
     [](const Trial& t) {
       const ShardingRows& rows = *t.problem.profile().rows(t.plan.sharding);
       return std::string(name_of(rows.mode)) + ": " + rows.title;
     }},
    {"kept", "a rank keeps",
     [](const Trial& t) { return t.problem.profile().rows(t.plan.sharding)->weight.kept; }},
    {"gathered", "whole from",
     [](const Trial& t) { return t.problem.profile().rows(t.plan.sharding)->weight.gathered; }},
    {"released", "whole until",
     [](const Trial& t) { return t.problem.profile().rows(t.plan.sharding)->weight.released; }},
    {"master", "fp32 master",
     [](const Trial& t) { return t.problem.profile().rows(t.plan.sharding)->weight.master; }},
    {"groups", "process groups", [](const Trial& t) { return detail::groups_text(t); }},
    {"reshard_weights", "weights load with",
     [](const Trial& t) { return detail::reshard_text(t.problem.profile(), SavedPart::Weights); }},
    {"reshard_moments", "optimizer loads with",
     [](const Trial& t) { return detail::reshard_text(t.problem.profile(), SavedPart::Moments); }},
    {"data_position", "position in the data",
     [](const Trial& t) { return detail::data_text(t.problem.profile()); }},
    {"source", "source",
     [](const Trial& t) { return t.problem.profile().rows(t.plan.sharding)->weight.source; }},
};

/// The lines side by side, a column for each framework.
inline Table life_table(const std::vector<const Trial*>& plans) {
  Table table{"life", "", {{"what", "what"}}, {}};
  for (const Trial* t : plans) table.columns.push_back({t->problem.profile().id, t->problem.profile().id});
  for (const LifeLine& line : kLifeLines) {
    std::vector<Cell> row{std::string(line.label)};
    for (const Trial* t : plans) {
      std::string text = line.text(*t);
      row.push_back(text.empty() ? Cell{} : Cell{std::move(text)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace trainplan
