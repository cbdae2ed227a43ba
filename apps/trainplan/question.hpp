/// From the command line to a question: a run with its specs loaded, validated and resolved.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/derive.hpp"

namespace CLI {
class App;
}

namespace trainplan {

/// What the command line said about runs: positional words and run fields, in order.
struct RunOptions {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> fields;
  std::vector<std::string> pins;
};

/// Adds the positional words (named `what`) and one option for each run field, and --pin.
void add_run_options(CLI::App& command, RunOptions& options, const std::string& what);

/// A loaded question. Specs stay where they are, since problems refer to them.
class Question {
  std::optional<Checked<ModelSpec>> model_;
  std::optional<Checked<ClusterSpec>> cluster_;
  std::optional<Checked<FrameworkProfile>> profile_, fsdp_profile_;
  std::optional<Checked<Calibration>> calibration_;
  Resolved resolved_;
  std::optional<Planner> planner_, fsdp_;
  const RunOptions* options_ = nullptr;

  Question() = default;
  bool load_specs(Issues& issues);
  void make_planners(Issues& issues);

 public:
  RunSpec run;

  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  /// One word is a run file, two are a model and a cluster. Nothing when an error was recorded. The options
  /// must outlive the question.
  static std::unique_ptr<Question> load(const std::vector<std::string>& words, const RunOptions& options,
                                        Issues& issues);

  const Planner& planner() const { return *planner_; }
  const std::vector<Setting>& settings() const { return resolved_.settings; }
  /// A title such as "llama70b on h100x1024".
  std::string title() const { return (*model_)->name + " on " + (*cluster_)->name; }

  /// The derived plan with its alternatives; without a legal plan the reasons are recorded.
  std::optional<Derivation> answer(Issues& issues) const;
};

}  // namespace trainplan
