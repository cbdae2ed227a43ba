/// What holds for every text that a loader is given, whatever is in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "trainplan/cost/stated_pipeline.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_pipeline.hpp"
#include "trainplan/io/load_report.hpp"
#include "trainplan/render/render.hpp"
#include "trainplan/sim/schedules.hpp"
#include "trainplan/spec/validate_pipeline.hpp"

namespace fuzz {

using namespace trainplan;

inline constexpr std::string_view kFile = "in.json";  // there is no such file
inline constexpr std::size_t kMostIssues = 150;       // of one file, however long it is

inline std::string described(const Issue& i) {
  return "[" + i.rule + "] " + i.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) + " " +
         i.pointer + " = " + i.got + ": must " + i.must + "; " + i.hint;
}

/// The line and column are inside the text, or just behind its end.
inline bool inside(std::string_view text, const Issue& issue) {
  for (int line = 1; line < issue.line; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::size_t longest = std::min(text.find('\n'), text.size()) + 1;
  return issue.line >= 1 && issue.column >= 1 && static_cast<std::size_t>(issue.column) <= longest;
}

/// Why an issue does not say all that it has to; empty when it does.
inline std::string flaw(std::string_view text, const Issue& issue) {
  const bool whole_file = issue.rule == "too-many" || issue.rule.starts_with("file-");
  if (issue.rule.empty()) return "no rule";
  if (issue.file.empty()) return "no file";
  if (issue.must.empty()) return "no rule in words";
  if (issue.hint.empty()) return "no hint";
  if (issue.file == kFile && !whole_file && !inside(text, issue)) return "no place in the file";
  return "";
}

inline std::string flaws(std::string_view text, const Issues& issues) {
  for (const Issue& issue : issues.all()) {
    const std::string why = flaw(text, issue);
    if (!why.empty()) return why + ": " + described(issue);
  }
  if (issues.all().size() > kMostIssues) return "too many issues: " + std::to_string(issues.all().size());
  for (const Format format : {Format::Text, Format::Json})
    if (render(issues, format, {}).empty() != (format == Format::Text && issues.all().empty()))
      return "not rendered";
  return "";
}

/// Nothing comes without an error, and an error is never hidden behind a result.
template <class T>
std::string exact(const std::optional<T>& loaded, std::string_view text, const Issues& issues) {
  if (loaded.has_value() == issues.has_errors())
    return loaded ? "loaded in spite of an error" : "neither loaded nor refused";
  return flaws(text, issues);
}

/// A legal pipeline can be counted in ticks, or is refused for its digits; 1F1B runs on it.
inline std::string odd_pipeline(const PipelineSpec& spec) {
  if (*spec.stages * *spec.micro_batches > 256 || !countable(spec)) return "";
  const sim::Pipeline pipeline = stated_pipeline(spec);
  const sim::Attempt t = sim::try_schedule(*sim::find_schedule("one_f1b"), pipeline);
  if (!t.ran()) return "1F1B does not run";
  const double step = pipeline.clock.seconds(t.timeline.makespan);
  return step > 0 && step < 1e9 ? "" : "a step of " + std::to_string(step) + " s";
}

/// Those with a place in the text.
inline Issues field_issues(const Issues& issues) {
  Issues out;
  for (const Issue& issue : issues.all())
    if (issue.line > 0) out.add(issue);
  return out;
}

/// Loads a text of a kind (a folder of configs/, "runs" or "reports"); the first claim that does not hold, or
/// nothing.
inline std::string broken_claim(std::string_view kind, std::string_view text) {
  Issues issues;
  if (kind == "models") return exact(load_model_text(text, kFile, issues), text, issues);
  if (kind == "clusters") return exact(load_cluster_text(text, kFile, issues), text, issues);
  if (kind == "accelerators") return exact(load_accelerator_text(text, kFile, issues), text, issues);
  if (kind == "frameworks") return exact(load_framework_text(text, kFile, issues), text, issues);
  if (kind == "calibration") return exact(load_calibration_text(text, kFile, issues), text, issues);
  if (kind == "reports") return exact(load_report_text(text, kFile, issues), text, issues);
  if (kind == "references") {
    load_anchors_text(text, kFile, issues);
    return flaws(text, issues);
  }
  if (kind == "schedules") {
    const auto spec = load_pipeline_text(text, kFile, issues);
    if (!spec && !issues.has_errors()) return "neither loaded nor refused";
    const bool legal = !issues.has_errors();
    if (spec) validate(*spec, {}, issues);  // what is missing has no place in a text
    const bool whole = legal && !issues.has_errors();
    const std::string why = whole ? odd_pipeline(*spec) : "";
    if (!why.empty()) return why;
    return legal ? "" : flaws(text, field_issues(issues));
  }
  // The good fields of a run come even when others are wrong.
  if (!load_run_text(text, kFile, issues) && !issues.has_errors()) return "neither loaded nor refused";
  return flaws(text, issues);
}

}  // namespace fuzz
