/// What a row of measured runs means beside its columns: the rules of configs/measured/sources.json and the
/// shapes of configs/measured/shapes.json.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "measured_line.hpp"
#include "trainplan/report/measured_rows.hpp"

namespace trainplan {

/// `pattern` may have '*' for any text; letters of either case.
bool matches(std::string_view pattern, std::string_view text);

class MeasuredRules {
  nlohmann::json sources_, shapes_;
  mutable std::map<std::string, nlohmann::json>
      shipped_;  // shapes of shipped models, null where there is none

  const nlohmann::json* shape_of(const std::string& model) const;
  const nlohmann::json& shipped_shape(const std::string& name) const;

 public:
  /// Reads the shipped files.
  explicit MeasuredRules(Issues& issues);

  /// The rules that hold for a row, one laid over the other. Members: framework, run, model, cluster,
  /// columns, assumed, remarks, reading, stage, in_sample, not_memory, skip.
  nlohmann::json setup_of(const MeasuredLine& line) const;
  /// The config.json of the model of a row: the shape of its name with the columns over it. Remarks go into
  /// the setup. Null when the columns do not tell enough.
  nlohmann::json config_of(const MeasuredLine& line, nlohmann::json& setup) const;
  /// The accelerator of a GPU whose name is neither that of a shipped one nor an alias; empty without one.
  std::string accelerator_like(const std::string& gpu) const;
  std::vector<RunBound> bounds() const;
};

}  // namespace trainplan
