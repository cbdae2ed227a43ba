/// The fields of a forecast, once: for the object "forecast" of a run file, for the options and for the docs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trainplan/spec/forecast.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// key as in a run file; on the command line '-' stands for '_'. origin: what the figure keeps as its place.
/// set returns false and fills rule, got, must and hint of the issue when the text is not legal.
struct ForecastField {
  std::string_view key, type, help, example, otherwise;
  bool (*set)(ForecastSpec& to, std::string_view text, const std::string& origin, Issue& out);
};

std::span<const ForecastField> forecast_fields();

/// Sets one field. A mistake is recorded at `where`, and the field stays as it was.
bool set_forecast_field(ForecastSpec& to, const ForecastField& field, std::string_view text,
                        const std::string& origin, Issues& issues, Issue where);

}  // namespace trainplan
