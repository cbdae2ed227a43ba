/// Published failures of long runs.
#pragma once

#include <string_view>
#include <vector>

#include "trainplan/spec/failure_record.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// configs/references/failures.json.
std::vector<FailureRecord> failure_records(Issues& issues);
std::vector<FailureRecord> failure_records();
/// The same from text; `file` names it in issues and origins.
std::vector<FailureRecord> load_failures_text(std::string_view text, std::string_view file, Issues& issues);

}  // namespace trainplan
