/// Measured runs from a table: each row with the problem and plan that it stands for, or why it has none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/report/validation_rows.hpp"

namespace trainplan {

/// Nonstandard: not a plain run of its framework. Flagged: its published figures contradict each other. Both
/// are compared in groups of their own.
enum class Standing : std::uint8_t { Standard, Flagged, Nonstandard };
inline constexpr std::string_view kStandingNames[] = {"standard", "flagged", "nonstandard"};
constexpr std::string_view name_of(Standing s) { return kStandingNames[static_cast<int>(s)]; }

/// One row. The texts stand as the file has them; `family` is the same for rows that repeat one
/// configuration (other releases, weak scaling), `contest` for rows among which a plan could be chosen.
struct MeasuredRun {
  int line = 0;
  std::string id, source, source_ref, model, gpu, precision, release, family, contest;
  bool sparse = false, in_sample = false;
  Standing standing = Standing::Standard;
  std::optional<double> step_time, peak;  // seconds, bytes
  Reading reading = Reading::Allocated;
  int stage = kFullestStage;
  std::string skipped;               // why it is not compared
  std::string not_memory;            // why its memory is not
  std::vector<std::string> assumed;  // what neither the row nor its source says
  std::vector<std::string> remarks;
  std::vector<std::string> broken;       // rules that the plan breaks although it ran
  std::shared_ptr<const PinnedRun> run;  // ready for evaluate(run->problem(), run->plan())
};

/// What a bound is about: step times of standard rows, or peaks of memory.
enum class Target : std::uint8_t { Time, Memory };
inline constexpr std::string_view kTargetNames[] = {"time", "memory"};

/// A bound on the rows of one source; without a source on all rows.
struct RunBound {
  std::string source;
  Target target = Target::Memory;
  Bound bound;
};

/// One table of measured runs.
struct MeasuredTable {
  std::string name, origin;
  std::vector<MeasuredRun> rows;
  std::vector<RunBound> bounds;
};

}  // namespace trainplan
