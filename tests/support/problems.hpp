/// Problems made of shipped configurations, with any field changed before it is checked.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/io/load.hpp"
#include "trainplan/plan/problem.hpp"

namespace problems {

using namespace trainplan;

template <class T>
T required(std::optional<T> value, const Issues& issues, const std::string& what) {
  if (value) return std::move(*value);
  std::string text = "cannot use " + what;
  for (const Issue& i : issues.all())
    text += "\n  " + i.file + " " + i.pointer + " = " + i.got + ": must " + i.must;
  throw std::runtime_error(text);
}

/// Each file is read once in a program.
template <class T, class Loader>
const Checked<T>& cached(const std::string& name, Loader load) {
  static std::map<std::string, Checked<T>> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  Issues issues;
  return loaded.emplace(name, required(load(name, issues), issues, name)).first->second;
}

inline const Checked<ModelSpec>& model(std::string_view name) {
  return cached<ModelSpec>(std::string(name), load_model);
}
inline const Checked<ClusterSpec>& cluster(std::string_view name) {
  return cached<ClusterSpec>(std::string(name), load_cluster);
}
inline const Checked<FrameworkProfile>& framework(std::string_view name) {
  return cached<FrameworkProfile>(std::string(name), load_framework);
}
inline const Checked<Calibration>& calibration() {
  return cached<Calibration>("baseline",
                             [](const std::string&, Issues& issues) { return load_calibration(issues); });
}

/// What a test asks for: names of shipped files and the batch.
struct Names {
  std::string model = "llama70b", cluster = "h100x1024", framework = "megatron-lm";
  std::int64_t sequence = 8192, batch = 512;
};

/// Copies of the specs to be changed at will; problem() checks them and gives them a place to stay.
class Draft {
  struct Specs {
    Checked<ModelSpec> model;
    Checked<ClusterSpec> cluster;
    Checked<FrameworkProfile> framework;
    Checked<Calibration> calibration;
  };
  std::unique_ptr<Specs> specs_;

  template <class T>
  static Checked<T> checked(T value) {
    Issues issues;
    return required(Checked<T>::make(std::move(value), issues), issues, "the changed specs");
  }

 public:
  ModelSpec model;
  ClusterSpec cluster;
  FrameworkProfile framework;
  Calibration calibration;
  Recipe recipe;

  explicit Draft(const Names& names = {})
      : model(*problems::model(names.model)),
        cluster(*problems::cluster(names.cluster)),
        framework(*problems::framework(names.framework)),
        calibration(*problems::calibration()) {
    recipe.sequence = names.sequence;
    recipe.global_batch = names.batch;
    recipe.gradient = recipe.reduce = framework.default_gradient;
    recipe.margin = calibration.planning_margin.value;
  }

  /// Refers to the specs that this draft keeps; a later call replaces them.
  Problem problem() {
    specs_ = std::make_unique<Specs>(
        Specs{checked(model), checked(cluster), checked(framework), checked(calibration)});
    return {specs_->model, specs_->cluster, specs_->framework, specs_->calibration, recipe};
  }
};

/// Fills in what follows from the degrees: shard group, schedule, sequence parallelism.
inline Plan completed(Plan p) {
  if (p.sharding != Sharding::Hsdp) p.shard = p.dp * p.cp;
  if (p.vpp > 1) p.schedule = Schedule::Interleaved;
  p.sequence_parallel = p.tp > 1;
  return p;
}

/// TP 8, PP 4, v 4, DP 32: 16 micro-batches of one sequence at 512 sequences a step.
inline Plan main_plan() { return completed({.tp = 8, .pp = 4, .vpp = 4, .dp = 32}); }

}  // namespace problems
