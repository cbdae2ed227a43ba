/// Warnings about a run as a section of its report; they also go to standard error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/report.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Adds a row for each warning, after the name of the run where there are several.
inline void add_warnings(Table& table, const std::vector<Issue>& issues, const std::string& run = {}) {
  for (const Issue& i : issues) {
    if (i.level != Severity::Warning) continue;
    std::vector<Cell> row;
    if (!run.empty()) row.emplace_back(run);
    row.insert(row.end(),
               {Code{i.rule}, i.pointer + (i.got.empty() ? "" : " = " + i.got), "must " + i.must, i.hint});
    table.rows.push_back(std::move(row));
  }
}

inline Table warning_table(bool with_run) {
  Table table{"warnings", "", {}, {}};
  if (with_run) table.columns.push_back({"run", "run"});
  table.columns.insert(table.columns.end(),
                       {{"id", "id"}, {"place", "place"}, {"warning", "warning"}, {"hint", "way out"}});
  return table;
}

/// Left out of a report when nothing is to be said.
inline void add_warning_section(Report& r, Table table) {
  if (table.rows.empty()) return;
  r.sections.push_back({"warnings", "Warnings", {std::move(table)}});
}

}  // namespace trainplan
