/// Scenarios of a forecast side by side; without a failure rate what is known of each.
#pragma once

#include <string>
#include <utility>

#include "trainplan/report/forecast_sections.hpp"

namespace trainplan::detail {

inline Section scenario_section(const ForecastAnswer& a) {
  Section s{"scenarios", "Scenarios", {}};
  Table table{"scenarios",
              "",
              {{"scenario", "scenario"},
               {"save", "save"},
               {"detect", "notice"},
               {"restart", "restart"},
               {"load", "load"},
               {"interval", "interval"},
               {"goodput", "goodput"},
               {"best", "at the best interval"},
               {"calendar", "calendar"},
               {"money", "money"}},
              {}};
  Notes titles{"titles", {}};
  for (const ScenarioRun& r : a.scenarios) {
    const RunFigures& f = r.figures;
    const auto known = [](const Figure& x) { return x.known ? Cell(time_value(x.value)) : Cell{}; };
    const bool run = r.run.has_value(), done = run && r.run->finishes;
    table.rows.push_back(
        {r.name, f.can_save() ? Cell(time_value(r.work.stop.num())) : Cell{}, known(f.detect),
         known(f.restart), known(f.load), run ? Cell(time_value(r.run->interval.num())) : Cell{},
         run ? goodput_cell(r.run->goodput.num()) : Cell{}, run ? goodput_cell(r.best_goodput) : Cell{},
         done && a.plan.tokens ? Cell(days_value(r.run->calendar.num())) : Cell{},
         done && a.plan.tokens ? money_cell(f.price, r.run->money.num()) : Cell{}});
    if (!r.title.empty()) titles.sentences.push_back({r.name + ": " + r.title});
  }
  if (a.first().own_save) titles.sentences.push_back({scenario_save_text(a.first().figures.saving)});
  s.blocks.push_back(std::move(table));
  if (!titles.sentences.empty()) s.blocks.push_back(std::move(titles));
  return s;
}

}  // namespace trainplan::detail
