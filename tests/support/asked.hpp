/// A question as the command line puts it: a model, a cluster and fields of a run.
#pragma once

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "problems.hpp"
#include "trainplan/derive/derive.hpp"
#include "trainplan/derive/resolve.hpp"
#include "trainplan/io/run_fields.hpp"

namespace problems {

using Fields = std::initializer_list<std::pair<const char*, const char*>>;

inline RunSpec run_of(Fields fields) {
  RunSpec run;
  Issues issues;
  for (const auto& [key, text] : fields)
    if (!set_field(run, key, text, issues))
      throw std::runtime_error("bad field " + std::string(key) + " = " + text);
  return run;
}

/// Stays where it was made: the planners refer to its run.
class Asked {
  RunSpec run_;
  Issues issues_;
  Resolved resolved_;
  std::optional<Planner> planner_, fsdp_;

 public:
  Asked(const std::string& model_name, const std::string& cluster_name, Fields fields = {})
      : run_(run_of(fields)) {
    const auto& profile = framework(run_.framework.value_or("megatron-lm"));
    const auto& sharded = framework("torchtitan");
    resolved_ = resolve(run_, *model(model_name), *profile, *calibration(), issues_);
    const Problem problem(model(model_name), cluster(cluster_name), profile, calibration(), resolved_.recipe);
    planner_.emplace(problem, run_, resolved_.batch_target);
    Problem other = problem.with(sharded);
    other.recipe.gradient = run_.gradient_dtype.value_or(sharded->default_gradient);
    other.recipe.reduce = run_.reduce_dtype.value_or(other.recipe.gradient);
    fsdp_.emplace(planner_->with(other));
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  const RunSpec& run() const { return run_; }
  const Issues& issues() const { return issues_; }
  const Resolved& resolved() const { return resolved_; }
  const Planner& planner() const { return *planner_; }
  std::optional<Derivation> derived() const { return derive(*planner_, &*fsdp_); }
};

}  // namespace problems
