/// Named problems of the figure files: a model, a cluster, a framework and a plan, and the ledgers they give.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/plan/problem.hpp"

namespace figures {

/// Checked specs with the problem that refers to them; stays where it was made.
class Case {
  trainplan::Checked<trainplan::ModelSpec> model_;
  trainplan::Checked<trainplan::ClusterSpec> cluster_;
  trainplan::Checked<trainplan::FrameworkProfile> framework_;
  trainplan::Checked<trainplan::Calibration> calibration_;
  trainplan::Problem problem_;
  trainplan::Plan plan_;
  std::map<int, trainplan::Ledger> ledgers_;  // by stage

 public:
  explicit Case(const nlohmann::json& spec);
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  const trainplan::Ledger& ledger(int stage);
};

/// The cases of a file, each loaded once.
class Cases {
  const nlohmann::json* specs_;
  std::map<std::string, Case> cases_;

 public:
  explicit Cases(const nlohmann::json& specs) : specs_(&specs) {}
  /// Throws std::runtime_error when there is no such case or item.
  const trainplan::LineItem& item(const std::string& name, int stage, const std::string& id);
};

}  // namespace figures
