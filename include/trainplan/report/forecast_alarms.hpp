/// What a failure is worth that is noticed sooner; without a failure rate, each of them.
#pragma once

#include <string>
#include <utility>

#include "trainplan/report/forecast_sections.hpp"

namespace trainplan::detail {

inline Section alarm_section(const ForecastAnswer& a) {
  const Figure& price = a.first().figures.price;
  Section s{"alarms", "Noticing failures sooner", {}};
  Table table{"alarms",
              "",
              {{"detect", "noticed after"},
               {"per_event", "each failure"},
               {"money", "worth"},
               {"per_day", "each day"},
               {"money_per_day", "worth a day"},
               {"goodput", "goodput"}},
              {}};
  const auto where_known = [&](Cell cell) { return a.known() ? std::move(cell) : Cell{}; };
  for (const AlarmRow& r : a.alarms)
    table.rows.push_back({time_value(r.detect), Value{r.gpu_time, Unit::GpuTime}, money_cell(price, r.money),
                          where_known(Value{r.gpu_time_of_day, Unit::GpuTime}),
                          where_known(money_cell(price, r.money_of_day)),
                          where_known(goodput_cell(r.goodput))});
  s.blocks.push_back(std::move(table));
  Sentence note{"against ", time_value(a.first().figures.detect.value)};
  if (a.known()) {
    note.push_back(", at a failure every ");
    note.push_back(time_value(a.first().run->mtbf.num()));
    note.push_back(": " + note_of(a.first().figures.gpu_mtbf));
  } else {
    note.push_back("; a day has as many of them as it has failures, which is not known");
  }
  s.blocks.push_back(Notes{"alarms_note", {std::move(note)}});
  return s;
}

}  // namespace trainplan::detail
