/// From a name or a path to a checked spec: local files first, then the shipped configs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/anchor.hpp"
#include "trainplan/spec/calibration.hpp"
#include "trainplan/spec/checked.hpp"
#include "trainplan/spec/cluster.hpp"
#include "trainplan/spec/forecast.hpp"
#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/model.hpp"
#include "trainplan/spec/run.hpp"
#include "trainplan/spec/validate.hpp"

namespace trainplan {

/// Look-up order: the local file of that name, with and without ".json"; the shipped config of that name or
/// alias. `origin` of the result says which was used: a path, or "shipped:models/llama70b.json". Nothing is
/// returned when an error was recorded.
std::optional<Checked<ModelSpec>> load_model(std::string_view name_or_path, Issues& issues);
std::optional<Checked<ClusterSpec>> load_cluster(std::string_view name_or_path, Issues& issues);
std::optional<Accelerator> load_accelerator(std::string_view name_or_path, Issues& issues);
std::optional<Checked<FrameworkProfile>> load_framework(std::string_view name_or_path, Issues& issues);
/// Without a name: the shipped baseline, whatever lies in the current directory.
std::optional<Checked<Calibration>> load_calibration(Issues& issues, std::string_view name_or_path = {});

/// Where a fit of all constants starts: shipped figures that were published before any step was measured.
std::optional<Checked<Calibration>> published_calibration(Issues& issues);

/// The good fields, even when others had errors; nothing only when the file is not a JSON object at all.
/// A model or cluster file that lies beside the run file is named by its path.
std::optional<RunSpec> load_run(std::string_view name_or_path, Issues& issues);

/// Named save and recovery times; `where` is the place that named it.
std::optional<Scenario> load_scenario(std::string_view name_or_path, Issues& issues, const Issue& where = {});

/// The kind of config that a word names ("models", "clusters", "runs", ...): by the keys of the local file,
/// else of the shipped one. Empty where there is none, or no telling.
std::string_view kind_of_config(std::string_view name);

/// Gives issues about a run file that was loaded (its origin in `file`) their line and column.
void place_in_run_file(const RunSpec& run, Issues& issues);

/// Published figures of configs/references/anchors.json.
std::vector<Anchor> anchors(Issues& issues);
std::vector<Anchor> anchors();

/// The same from text; `file` names it in issues and origins.
std::optional<Checked<ModelSpec>> load_model_text(std::string_view text, std::string_view file,
                                                  Issues& issues);
std::optional<Checked<ClusterSpec>> load_cluster_text(std::string_view text, std::string_view file,
                                                      Issues& issues);
std::optional<Accelerator> load_accelerator_text(std::string_view text, std::string_view file,
                                                 Issues& issues);
std::optional<Checked<FrameworkProfile>> load_framework_text(std::string_view text, std::string_view file,
                                                             Issues& issues);
std::optional<Checked<Calibration>> load_calibration_text(std::string_view text, std::string_view file,
                                                          Issues& issues);
std::optional<RunSpec> load_run_text(std::string_view text, std::string_view file, Issues& issues);
std::optional<Scenario> load_scenario_text(std::string_view text, std::string_view file, Issues& issues);
std::vector<Anchor> load_anchors_text(std::string_view text, std::string_view file, Issues& issues);

/// One shipped config of a kind, for `list`: its name, its aliases and its "title" or "name" if it has one.
struct Listed {
  std::string name, title;
  std::vector<std::string> aliases;
};
std::vector<Listed> list_shipped(std::string_view kind);

}  // namespace trainplan
