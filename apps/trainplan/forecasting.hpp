/// The forecast of a run, for the commands that hold a run against its deadline and budget.
#pragma once

#include <optional>

#include "question.hpp"
#include "trainplan/report/forecast_answer.hpp"

namespace trainplan {

/// The whole run of that plan as `spec` asks. Mistakes and warnings are recorded, each at its place; nothing
/// after a mistake.
std::optional<ForecastAnswer> answer_of(const Question& question, const Trial& trial,
                                        const ForecastSpec& spec, Issues& issues);

}  // namespace trainplan
