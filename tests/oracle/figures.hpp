/// Figures with the way to get them, read from JSON: a formula of the catalogue, a ledger of a plan or a
/// constant.
///
/// A value is a number, a quantity ("300 s"), {"calc": formula, "args": {name: value}}, {"case": name,
/// "item": id, "stage": 0}, {"anchor": id}, {"saves": {"bytes", "rate", "interval", "copy", "count"},
/// "metric": name, "index": 1, "failure": time}, {"failures": id of a published record}, {"cluster": name,
/// "figure": name}, {"accelerator": name, "figure": name}, {"chosen": k, "of": [scores]}, {"timeline": name,
/// "metric": name, "stage": 0} or {"op": "plus|minus|times|divide", "of": [values]}.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cases.hpp"
#include "timelines.hpp"
#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/anchor.hpp"

namespace figures {

/// In base units. A bare number fits every dimension that a number without a unit may have.
struct Value {
  double number = 0;
  trainplan::Dim dim{};
  bool bare = false;
};

class File {
  nlohmann::json doc_, timelines_;
  Cases cases_;
  Pipelines pipelines_;
  std::vector<trainplan::Anchor> anchors_;

  Value calc(const nlohmann::json& via);
  Value metric(const nlohmann::json& via);
  Value saved(const nlohmann::json& via);
  Value operation(const nlohmann::json& via);
  Value anchor(const std::string& id) const;

 public:
  /// `name` is a file of tests/oracle/.
  explicit File(const std::string& name);
  const nlohmann::json& rows() const { return doc_.at("rows"); }
  const nlohmann::json& timelines() const { return timelines_; }
  const Pipeline& pipeline(const std::string& name) { return pipelines_.get(name); }
  /// Throws std::runtime_error when the JSON asks for something that does not exist or mixes units.
  Value evaluate(const nlohmann::json& via);
  /// Ids of the formulas that the rows call by name.
  std::set<std::string> called() const;
};

/// Empty when the row's value agrees, else what was expected and what came out. `row` may be the "other" part
/// of one, with the unit and tolerance of `defaults`.
std::string disagreement(File& file, const nlohmann::json& row, const nlohmann::json& defaults);

}  // namespace figures
