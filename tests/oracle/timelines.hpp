/// Simulated pipelines that rows of figures refer to by name.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "trainplan/base/quantity.hpp"
#include "trainplan/sim/pipeline.hpp"
#include "trainplan/sim/retention.hpp"
#include "trainplan/sim/schedules.hpp"

namespace figures {

/// A fraction of a ms that layers, chunks and the printed digits of a time divide.
inline constexpr double kTicksPerMs = 36'000;

/// A schedule on a timeline, with what it keeps; {"schedule": id, "stages", "micro_batches", "chunks",
/// "group", "lead", "memory", "forward", "input_gradient", "weight_gradient", "pair", "transfer", "update"};
/// with "layers", "saved_per_layer", "saved_head" and messages in bytes, or with "saved" and "for_weights"
/// for a chunk.
class Pipeline {
  const trainplan::sim::Schedule* schedule_;
  trainplan::sim::Shape shape_;
  trainplan::sim::Map map_;
  trainplan::sim::Times times_;
  trainplan::sim::Orders orders_;
  trainplan::sim::Timeline timeline_, without_transfers_;
  std::vector<trainplan::sim::Residency> bytes_, sets_, sets_until_x_;
  trainplan::sim::Ticks pass_ = 0;  // of one micro-batch on a stage
  bool grows_ = false;

 public:
  /// Throws std::runtime_error when the schedule refuses or cannot run.
  explicit Pipeline(const nlohmann::json& spec);

  const trainplan::sim::Schedule& schedule() const { return *schedule_; }
  /// A metric in base units; via is {"metric": name, "stage": 0, "event": "F.0.3"}.
  std::pair<double, trainplan::Dim> metric(const nlohmann::json& via) const;
  /// Empty when a table of the whole run agrees in every entry, else the first that does not.
  std::string disagreement(const nlohmann::json& table) const;

 private:
  std::map<std::string, double> totals() const;
  std::map<std::string, double> of_stage(std::size_t stage) const;
  double event(const nlohmann::json& via) const;
  std::string order(std::size_t stage, std::size_t sequence) const;
  nlohmann::json table_of_orders() const;
};

/// Made once, when a row asks for it.
class Pipelines {
  const nlohmann::json* specs_;
  std::map<std::string, Pipeline> made_;

 public:
  explicit Pipelines(const nlohmann::json& specs) : specs_(&specs) {}
  const Pipeline& get(const std::string& name);
};

}  // namespace figures
