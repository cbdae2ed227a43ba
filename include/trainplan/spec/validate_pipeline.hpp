/// What the numbers of a pipeline must keep together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/pipeline.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

/// Where a key was given, or is to be given: an option, or a place of the file.
inline Issue place_of_key(const PipelineSpec& s, std::string_view key) {
  const bool option = s.origin.empty() || std::ranges::find(s.options, key) != s.options.end();
  Issue out;
  out.file = option ? "" : s.origin;
  out.pointer = option ? option_of(key) : "/" + std::string(key);
  return out;
}

/// A pair that takes longer than its passes one after the other is none. Times have digits that no one types,
/// so the hint is a whole number of microseconds where there is one.
inline void refuse_slow_pair(Issue where, double pair, double most, Issues& issues) {
  constexpr double kRounding = 1e-9, kMicro = 1e6;
  if (pair <= most * (1 + kRounding)) return;
  const double near = most * kMicro < 1 ? most : std::floor(most * kMicro * (1 + kRounding)) / kMicro;
  where.rule = "range";
  where.got = shown(pair) + " s";
  where.must = "be at most a forward and a backward pass one after the other, " + shown(near) + " s";
  where.hint = "try " + shown(1e3 * near) + "ms, or leave it out: their sum";
  issues.add(std::move(where));
}

namespace detail {

class PipelineRules {
  const PipelineSpec& s_;
  Issues& issues_;

  void fail(std::string_view key, std::string rule, std::string got, std::string must, std::string hint) {
    Issue issue = place_of_key(s_, key);
    issue.rule = std::move(rule);
    issue.got = std::move(got);
    issue.must = std::move(must);
    issue.hint = std::move(hint);
    issues_.add(std::move(issue));
  }
  /// A key as it is written where this pipeline stands: in a file or on the command line.
  std::string written(std::string_view key, const std::string& value) const {
    if (!s_.origin.empty()) return "\"" + std::string(key) + "\": \"" + value + "\"";
    return option_of(key) + " " + value;
  }
  void require(std::string_view key, bool given, const std::string& example) {
    if (!given) fail(key, "missing", "", "be given", "try " + written(key, example));
  }

  void lists() {
    using List = std::pair<std::string_view, const std::vector<double>*>;
    for (const auto& [key, times] :
         {List{"forward", &s_.forward}, List{"backward", &s_.backward},
          List{"input_gradient", &s_.input_gradient}, List{"weight_gradient", &s_.weight_gradient}}) {
      if (times->size() <= 1 || !s_.stages || static_cast<std::int64_t>(times->size()) == *s_.stages)
        continue;
      fail(key, "stages", std::to_string(times->size()) + " times",
           "be one time, or one for each of the " + std::to_string(*s_.stages) + " stages",
           "give " + std::to_string(*s_.stages) + " times, joined by commas");
    }
  }

  /// One way to say how the backward pass is made up.
  void halves() {
    const bool input = !s_.input_gradient.empty(), weight = !s_.weight_gradient.empty(),
               whole = !s_.backward.empty();
    if (!whole && !(input && weight))
      fail("backward", "missing", "", "be given, or both --input-gradient and --weight-gradient",
           "try " + written("backward", "20ms"));
    if (whole && (input || weight))
      fail(input ? "input_gradient" : "weight_gradient", "twice",
           "a half of the backward pass beside --backward",
           "replace --backward, together with the other half", "leave one of them out");
    if (s_.weight_gradient_share && (input || weight))
      fail("weight_gradient_share", "twice", shown(*s_.weight_gradient_share),
           "stand with --backward, not with its halves", "leave it out");
  }

  void layers() {
    if (!s_.layers || !s_.stages) return;
    const std::int64_t rest = *s_.layers % *s_.stages, below = *s_.layers - rest;
    if (rest == 0) return;
    fail("layers", "layers-divide", std::to_string(*s_.layers),
         "be a multiple of the stages, " + std::to_string(*s_.stages) +
             "; times may differ by stage, layers not",
         "try " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + *s_.stages));
  }

  /// A size that says nothing without that of a layer; empty when there is none.
  std::string_view other_size() const {
    if (s_.memory_budget) return "memory_budget";
    if (s_.saved_head) return "saved_bytes_head";
    if (s_.kept_for_weights) return "kept_for_weights";
    if (s_.activation_message) return "activation_message";
    return s_.gradient_message ? "gradient_message" : "";
  }

  void sizes() {
    const std::string_view other = other_size();
    if (s_.saved_per_layer)
      require("layers", s_.layers.has_value(), "36");
    else if (!other.empty())
      fail("saved_bytes_per_layer", "missing", place_of_key(s_, other).pointer + " without it",
           "be given where other sizes are", "try " + written("saved_bytes_per_layer", "26768384"));
  }

  /// The longest of the stages, one pass after the other; 0 where lists do not go together.
  double passes() const {
    const std::size_t stages = std::max(
        {s_.forward.size(), s_.backward.size(), s_.input_gradient.size(), s_.weight_gradient.size()});
    double most = 0;
    for (std::size_t g = 0; g < stages; ++g) {
      double sum = 0;
      for (const auto* times : {&s_.forward, &s_.backward, &s_.input_gradient, &s_.weight_gradient}) {
        if (times->size() > 1 && times->size() != stages) return 0;
        if (!times->empty()) sum += times->size() == 1 ? times->front() : (*times)[g];
      }
      most = std::max(most, sum);
    }
    return most;
  }

  /// A pair is never shorter than its longer half, and never longer than both.
  void pair() {
    if (!s_.pair || s_.forward.empty()) return;
    const bool whole = !s_.backward.empty() || !(s_.input_gradient.empty() || s_.weight_gradient.empty());
    if (const double most = passes(); whole && most > 0)
      refuse_slow_pair(place_of_key(s_, "pair"), *s_.pair, most, issues_);
    const double least = std::max(*std::ranges::max_element(s_.forward),
                                  s_.backward.empty() ? 0 : *std::ranges::max_element(s_.backward));
    if (*s_.pair < least)
      fail("pair", "range", shown(*s_.pair) + " s",
           "be at least the longer of its passes, " + shown(least) + " s",
           "try " + shown(1e3 * least) + "ms");
  }

 public:
  PipelineRules(const PipelineSpec& s, Issues& issues) : s_(s), issues_(issues) {}

  /// wrong: keys that have a mistake of their own already.
  void check(const std::vector<std::string>& wrong) {
    const auto open = [&](std::string_view key) { return std::ranges::find(wrong, key) == wrong.end(); };
    if (open("stages")) require("stages", s_.stages.has_value(), "4");
    if (open("micro_batches")) require("micro_batches", s_.micro_batches.has_value(), "8");
    if (open("forward")) require("forward", !s_.forward.empty(), "10ms");
    if (open("backward") && open("input_gradient") && open("weight_gradient")) halves();
    lists();
    if (open("layers")) layers();
    if (open("saved_bytes_per_layer") && open("layers")) sizes();
    pair();
  }
};

}  // namespace detail

/// Records what is missing and what contradicts itself.
inline void validate(const PipelineSpec& s, const std::vector<std::string>& wrong, Issues& issues) {
  detail::PipelineRules(s, issues).check(wrong);
}

}  // namespace trainplan
