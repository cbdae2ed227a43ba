/// "memory=2%,step=5%": how far numbers may get worse.
#pragma once

#include <string_view>
#include <vector>

#include "trainplan/report/reported_plan.hpp"
#include "trainplan/report/thresholds.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// A name is a ledger id or a short word. Every bad part of the text is recorded: an unknown name, one that
/// only one of the plans has, no percentage. Without both plans names are not looked at.
std::vector<Threshold> read_thresholds(std::string_view text, const ReportedPlan* a, const ReportedPlan* b,
                                       Issues& issues);

}  // namespace trainplan
