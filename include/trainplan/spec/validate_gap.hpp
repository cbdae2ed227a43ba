/// Rules of a measured step: what no step can be, whatever the plan.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "trainplan/spec/gap.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

namespace detail {

inline std::string rounded(double v, std::chars_format format, int digits) {
  char text[400];  // the longest double in fixed notation fits
  return {text, std::to_chars(text, text + sizeof text, v, format, digits).ptr};
}
/// "6.2 s".
inline std::string seconds_text(double s) { return rounded(s, std::chars_format::general, 4) + " s"; }

/// Records mistakes about figures of a gap, each where its figure stands: an option, or the run file.
class GapJudge {
  const GapSpec& gap_;
  const std::string& file_;
  Issues& issues_;

  void add(const Stated& s, const std::string& option, const std::string& pointer, Issue issue) {
    issue.file = s.option ? "" : file_;
    issue.pointer = s.option ? option : "/gap/" + pointer;
    issues_.add(std::move(issue));
  }

 public:
  GapJudge(const GapSpec& gap, const std::string& file, Issues& issues)
      : gap_(gap), file_(file), issues_(issues) {}

  /// No step is faster than the peak allows.
  void not_below(const std::optional<Stated>& step, const char* name, double ideal) {
    if (!step || step->value >= ideal) return;
    add(*step, std::string("--") + name, name,
        {.rule = "faster-than-peak",
         .got = seconds_text(step->value),
         .must = "be at least " + seconds_text(ideal) + ", the step at the dense peak of every GPU",
         .hint = "give seconds of one optimizer step of the whole batch"});
  }

  /// Nor is one likely to be faster than the range of the plan: then it is another step.
  void not_below_range(double low) {
    if (gap_.measured->value >= low) return;
    add(*gap_.measured, "--measured", "measured",
        {.level = Severity::Warning,
         .rule = "faster-than-range",
         .got = seconds_text(gap_.measured->value),
         .must = "be at least " + seconds_text(low) + ", the fast end of what the plan predicts",
         .hint = "check that the batch, the model and the number of GPUs are those of the step"});
  }

  void item_fits(LossItem item, double ideal) {
    const auto& figure = gap_.items[index_of(item)];
    if (!figure) return;
    const std::string name(name_of(item));
    if (figure->value > gap_.measured->value)
      add(*figure, "--item " + name, "items/" + name,
          {.rule = "item-within-step",
           .got = seconds_text(figure->value),
           .must = "be at most the measured step of " + seconds_text(gap_.measured->value),
           .hint = "give seconds of one step"});
    else if (item == LossItem::Kernel && figure->value < ideal)
      add(*figure, "--item " + name, "items/" + name,
          {.rule = "faster-than-peak",
           .got = seconds_text(figure->value),
           .must = "be at least " + seconds_text(ideal) +
                   ", the ideal step: it is the whole time of the kernels, not their loss",
           .hint = "add the ideal step"});
  }

  /// Items do not overlap, so they add to the step at most; figures are rounded, so a hundredth is forgiven.
  void items_fit_together() {
    double sum = 0;
    const Stated* last = nullptr;
    for (const auto& figure : gap_.items)
      if (figure) sum += figure->value, last = &*figure;
    if (last == nullptr || sum <= 1.01 * gap_.measured->value) return;
    add(*last, "--item", "items",
        {.rule = "items-within-step",
         .got = seconds_text(sum) + " together",
         .must = "add to the measured step of " + seconds_text(gap_.measured->value) + " at most",
         .hint = "count each second once: an item is time in which nothing else goes on"});
  }
};

}  // namespace detail

/// `ideal`: the step at the dense peak with the fewest FLOPs that are counted. `file`: origin of the run. The
/// measured step is known.
inline void judge_gap(const GapSpec& gap, const std::string& file, double ideal, Issues& issues) {
  detail::GapJudge judge(gap, file, issues);
  judge.not_below(gap.measured, "measured", ideal);
  judge.not_below(gap.target_step, "target", ideal);
  const std::size_t before = issues.all().size();
  for (const LossItem item : kAllLossItems) judge.item_fits(item, ideal);
  if (issues.all().size() == before) judge.items_fit_together();
}

/// `low`: the fast end of the range that the plan predicts. The measured step is known.
inline void judge_range(const GapSpec& gap, const std::string& file, double low, Issues& issues) {
  detail::GapJudge(gap, file, issues).not_below_range(low);
}

/// The quoted points are used where they round the exact ones; else that is said.
inline void judge_points(const GapSpec& gap, const std::string& file, double exact, bool quoted,
                         Issues& issues) {
  if (!gap.points || quoted) return;
  const std::string points = detail::rounded(exact, std::chars_format::fixed, 2);
  issues.add({.level = Severity::Warning,
              .rule = "points-of-gap",
              .file = gap.points->option ? "" : file,
              .pointer = gap.points->option ? "--points" : "/gap/points",
              .got = detail::rounded(gap.points->value, std::chars_format::general, 4),
              .must = "round the " + points + " points between target and measurement, which are used",
              .hint = "leave it out, or try --points " + points});
}

}  // namespace trainplan
