/// The plan in the words of the framework: each setting with the flag or key that carries it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

namespace detail {

/// The value of a run field in a trial; empty when the field says nothing here.
inline Cell field_cell(const Trial& t, std::string_view field) {
  const Plan& p = t.plan;
  const Recipe& r = t.problem.recipe;
  const auto number = [](auto n) { return Cell{std::to_string(n)}; };
  if (field == "tp") return number(p.tp);
  if (field == "pp") return number(p.pp);
  if (field == "vpp" && p.vpp > 1) return number(p.vpp);
  if (field == "cp") return number(p.cp);
  if (field == "shard_size") return number(p.shard);
  if (field == "micro_batch") return number(p.micro_batch);
  if (field == "global_batch") return number(r.global_batch);
  if (field == "sequence") return number(r.sequence);
  if (field == "sequence_parallel" && p.tp > 1) return p.sequence_parallel;
  if (field == "recompute" && p.recompute != Recompute::None) return std::string(name_of(p.recompute));
  if (field == "recompute_layers" && p.recompute == Recompute::Layers)
    return number(p.recompute_layers / p.vpp);
  if (field == "gradient_dtype" && r.gradient != t.problem.profile().default_gradient)
    return std::string(name_of(r.gradient));
  if (field == "reduce_dtype") return std::string(name_of(r.reduce));
  if (field == "tp_overlap" && p.tp > 1) return r.tp_overlap;
  if (field == "dp_overlap" && p.dp > 1) return r.dp_overlap;
  if (field == "cp_mode" && p.cp > 1) return std::string(name_of(r.cp_mode));
  if (field == "attention") return std::string(name_of(r.attention));
  if (field == "schedule" && p.pp > 1) return std::string(name_of(p.schedule));
  if (field == "reshard_after_forward") return p.reshard;
  if (field == "uneven_stages" && p.layout == Layout::EmbeddingAndLoss) return true;
  return {};
}

}  // namespace detail

inline Section launch_section(const Trial& t) {
  const FrameworkProfile& f = t.problem.profile();
  Section s{"launch", "Launch settings of " + f.id + " " + f.version, {}};
  Table table{"settings", "", {{"field", "run field"}, {"flag", "flag or key"}, {"value", "value"}}, {}};
  for (const auto& [field, flag] : f.flags) {
    Cell cell = detail::field_cell(t, field);
    if (std::holds_alternative<std::monostate>(cell)) continue;
    table.rows.push_back({field, flag, std::move(cell)});
  }
  const std::string& sharding = f.rows(t.plan.sharding)->flags;
  if (!sharding.empty())
    table.rows.push_back({std::string("sharding"), sharding, std::string(name_of(t.plan.sharding))});
  s.blocks.push_back(std::move(table));
  return s;
}

}  // namespace trainplan
