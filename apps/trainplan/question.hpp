/// From the command line to a question: a run with its specs loaded, validated and resolved.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// True when the words are MODEL CLUSTER or one RUN; else says what is wrong with them.
bool words_name_a_run(const std::string& command, const std::vector<std::string>& words, Issues& issues);

/// Adds the issues of another run of the same words: a mistake that both have is told once.
void add_once(Issues& issues, const Issues& more);

/// Without a run there is nothing that the fields of a run could change: each that was given is a mistake.
void refuse_run_fields(const RunOptions& options, Issues& issues,
                       std::string (*hint)(const std::string& key, const std::string& text));

/// `gap` and `mfu` spell the convention of attention FLOPs `--attention causal` or `full` too: the words of
/// the kernel, flash and unfused, are others. Moves it to its own field; a word that is neither is recorded.
/// Without `kernels` those of the kernel are refused too.
void take_convention(RunOptions& options, bool kernels, Issues& issues);

/// Adds the positional words (named `what`) and one option for each run field, and --pin.
void add_run_options(CLI::App& command, RunOptions& options, const std::string& what);
/// The same without the fields that a command has options of its own for.
void add_run_options_without(CLI::App& command, RunOptions& options, const std::string& what,
                             const std::vector<std::string_view>& keys);
/// The same with these fields only, and no --pin.
void add_run_options(CLI::App& command, RunOptions& options, const std::string& what,
                     const std::vector<std::string_view>& keys);

inline constexpr std::string_view kUsualFramework = "megatron-lm";
/// The fully sharded framework that a question is compared with.
inline constexpr std::string_view kShardedFramework = "torchtitan";

/// Specs of a question that were loaded before it was asked.
struct LoadedSpecs {
  const Checked<ModelSpec>& model;
  const Checked<ClusterSpec>& cluster;
  const Checked<FrameworkProfile>&profile, &fsdp_profile;
  const Checked<Calibration>& calibration;
};

/// What `load` gives; an issue without a place is about the word that named the file.
auto named(const std::string& what, Issues& issues, auto load) {
  const std::size_t first = issues.all().size();
  auto loaded = load();
  for (std::size_t i = first; i < issues.all().size(); ++i) {
    Issue& issue = issues.all()[i];
    if (issue.file.empty() && issue.pointer.empty()) issue.pointer = what;
  }
  return loaded;
}

/// A run that leaves out what it is about.
void require_names(const RunSpec& run, Issues& issues);

/// Whether a batch that does not divide is told with its legal neighbours, which takes a derivation for each
/// try.
enum class Nearby : bool { NotNamed, Named };

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
  static std::unique_ptr<Question> judged(std::unique_ptr<Question> q, Issues& issues);
  void make_planners(Issues& issues);
  std::string legal_batches() const;

 public:
  RunSpec run;

  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  /// One word is a run file, two are a model and a cluster. Nothing when an error was recorded. The options
  /// must outlive the question.
  static std::unique_ptr<Question> load(const std::vector<std::string>& words, const RunOptions& options,
                                        Issues& issues);

  /// The same with specs that are there: those that the run names.
  static std::unique_ptr<Question> of(RunSpec run, const LoadedSpecs& specs, const RunOptions& options,
                                      Issues& issues);

  /// The same without looking for a legal plan: model, cluster and recipe only.
  static std::unique_ptr<Question> open(const std::vector<std::string>& words, const RunOptions& options,
                                        Issues& issues);

  const Planner& planner() const { return *planner_; }
  /// The same question put to a fully sharded framework.
  const Planner* fully_sharded() const { return &*fsdp_; }
  const std::vector<Setting>& settings() const { return resolved_.settings; }
  /// A title such as "llama70b on h100x1024".
  std::string title() const { return (*model_)->name + " on " + (*cluster_)->name; }

  /// The derived plan with its alternatives; without a legal plan the reasons are recorded.
  std::optional<Derivation> answer(Issues& issues, Nearby nearby = Nearby::Named) const;
};

}  // namespace trainplan
