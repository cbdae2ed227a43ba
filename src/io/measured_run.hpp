/// From the columns of a row and what is known of its source to the fields of a run.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "measured_line.hpp"

namespace trainplan {

/// The text after a word in the notes, up to the next semicolon: "release 26.06" -> "26.06". Empty without
/// it.
std::string noted(const MeasuredLine& line, std::string_view word);

/// The run of a row; what it takes for granted is added to the member `assumed` of the setup.
nlohmann::json run_of(const MeasuredLine& line, nlohmann::json& setup);

/// Sequences of a micro-batch that divide the `local` ones of a data-parallel rank, in the number of
/// micro-batches that comes nearest to the given size.
std::int64_t fitting_micro_batch(std::int64_t local, std::int64_t micro_batch);

}  // namespace trainplan
