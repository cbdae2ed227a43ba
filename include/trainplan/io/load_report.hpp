/// A plan read back from the JSON that `plan --format json` wrote.
#pragma once

#include <optional>
#include <string_view>

#include "trainplan/report/reported_plan.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// True for a file with a "schema", as every JSON answer has and no run does.
bool names_a_report(std::string_view path);

/// Only `trainplan.plan/1` and `trainplan.search/1` with their ledger; every other mistake of the file is recorded. Keys that are not
/// known are skipped: newer versions may add some. Nothing when an error was recorded.
std::optional<ReportedPlan> load_report(std::string_view path, Issues& issues);
std::optional<ReportedPlan> load_report_text(std::string_view text, std::string_view file, Issues& issues);

}  // namespace trainplan
