/// The pipeline schedules that are known, and the shipped pipelines.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/lists.hpp"
#include "trainplan/sim/schedule_names.hpp"

namespace trainplan {

/// A shipped pipeline in numbers; about: what it shows.
struct ListedPipeline {
  std::string name, about;
  std::int64_t stages = 0, micro_batches = 0;
};

namespace detail {

inline std::string placement_text(sim::Placement p) {
  switch (p) {
    case sim::Placement::Linear: return "in a row";
    case sim::Placement::Loop: return "in loops";
    case sim::Placement::Vee: return "in a V";
    case sim::Placement::TwoDirections: return "two copies";
  }
  return {};
}

/// "1F1B (Megatron-LM, torch, nanotron); TrainSchedule (DeepSpeed)".
inline std::string names_elsewhere(std::string_view id) {
  std::string out;
  for (const sim::ScheduleAlias& a : sim::schedule_aliases())
    if (a.id == id)
      out.append(out.empty() ? "" : "; ").append(a.name).append(" (").append(a.where).append(")");
  return out;
}

}  // namespace detail

inline Report schedule_list_report(const std::vector<ListedPipeline>& pipelines) {
  detail::TableRows rows, shipped;
  for (const sim::Schedule& s : sim::schedules())
    rows.push_back({Code{std::string(s.id)}, std::string(s.title), detail::placement_text(s.placement),
                    std::string(s.split ? "in halves" : "whole"), detail::names_elsewhere(s.id)});
  for (const ListedPipeline& p : pipelines)
    shipped.push_back({Code{p.name}, Value{static_cast<double>(p.stages), Unit::Count},
                       Value{static_cast<double>(p.micro_batches), Unit::Count}, p.about});
  Report r = detail::table_report("schedules", "Pipeline schedules",
                                  {{"id", "id"},
                                   {"title", "what it is"},
                                   {"placement", "stages lie"},
                                   {"backward", "backward"},
                                   {"names", "elsewhere called"}},
                                  std::move(rows));
  r.sections.push_back({"shipped", "Shipped pipelines", {}});
  detail::add_table(r, "pipelines", "",
                    {{"name", "name"},
                     {"stages", "stages"},
                     {"micro_batches", "micro-batches"},
                     {"about", "what it shows"}},
                    std::move(shipped));
  return r;
}

}  // namespace trainplan
