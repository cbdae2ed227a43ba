/// Tables of measured runs: configs/validation/measured.csv, or a file with the same columns.
#pragma once

#include <optional>
#include <string_view>

#include "trainplan/report/measured_rows.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// A local file, or the shipped table of that name. Nothing when an error was recorded. constants: a file
/// laid over the shipped ones; what the shipped runs must keep is then not asked.
std::optional<MeasuredTable> load_measured(std::string_view name_or_path, Issues& issues,
                                           std::string_view constants = {});
std::optional<MeasuredTable> load_measured_text(std::string_view text, std::string_view file, Issues& issues,
                                                std::string_view constants = {});

/// The published runs that are compiled in, whatever lies in the current directory, with the bounds that they
/// must keep.
std::optional<MeasuredTable> shipped_runs(Issues& issues, std::string_view constants = {});

/// The name of a table of runs, not of a set in JSON.
bool is_measured_table(std::string_view name_or_path);

}  // namespace trainplan
