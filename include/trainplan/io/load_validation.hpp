/// Published facts from configs/validation or from a file of the same form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/report/validation_rows.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// A local file or a shipped set. Nothing when an error was recorded.
std::optional<ValidationSet> load_validation(std::string_view name_or_path, Issues& issues);
std::optional<ValidationSet> load_validation_text(std::string_view text, std::string_view file,
                                                  Issues& issues);

/// The names of all shipped sets.
std::vector<std::string> shipped_validation();

}  // namespace trainplan
