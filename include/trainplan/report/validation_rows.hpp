/// Published facts to hold the program against: measured runs, and public cases with what they ask.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/derive/pinned.hpp"
#include "trainplan/spec/error_class.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

/// The ledger items of the readings.
inline constexpr std::string_view kReadingItems[] = {"memory.allocated", "memory.reserved", "memory.device"};

/// A pipeline stage: from 0, or one of these.
inline constexpr int kFullestStage = -1, kLastStage = -2;

/// A number, or a question whose answer is one: a formula of the catalogue, an item of a plan's ledger, the
/// dense peak of an accelerator.
struct Ask {
  enum class Kind : std::uint8_t { Number, Formula, Item, Peak };
  Kind kind = Kind::Number;
  double number = 0;  // of Number and Peak
  Dim dim{};          // of Number and Peak
  const CatalogEntry* formula = nullptr;
  std::vector<Ask> args{};                 // of Formula, in the order of its parameters
  std::shared_ptr<const PinnedRun> run{};  // of Item
  int stage = kFullestStage;
  std::string item{};
};

/// What a case asks of the program.
struct Check {
  /// Value: an answer and its figure. Less: the first answer is below the second. Legal: whether the plan of
  /// a run breaks a rule, and which values are legal nearby. Fits: whether it passes the memory gate.
  /// Allocation: the tensor that explains a failed request.
  enum class Kind : std::uint8_t { Value, Less, Legal, Fits, Allocation };
  Kind kind = Kind::Value;
  std::string title{};
  bool measured = false;  // the figure was measured, not worked out by hand
  Ask ask{}, other{};
  double low = 0, high = 0;  // the figure; two where the source gives a range
  double tolerance = 0;
  std::optional<Unit> unit{};
  bool yes = true;                      // Legal, Fits: the answer that is right
  std::string rule{}, name{};           // the rule that must break; the allocation that must be named
  std::vector<std::int64_t> nearest{};  // legal values of the rule's field near the one that was given
};

/// A public case: where it was told, what is asked, and what it leaves out for its measured memory to be
/// predicted.
struct CaseRow {
  std::string id, source, missing;
  std::vector<Check> checks;
};

/// A run whose memory was measured. missing: why it cannot be predicted.
struct MeasuredRow {
  std::string id, missing, note;
  std::shared_ptr<const PinnedRun> run;
  Reading reading = Reading::Allocated;
  int stage = kFullestStage;
  double peak = 0;                              // bytes
  std::optional<double> step_time, token_rate;  // seconds; tokens of one GPU in a second
  bool in_sample = false;                       // constants of the model were taken from it
};

/// Which of the scored rows a bound is about.
enum class RowGroup : std::uint8_t { All, Dense, Sparse };
inline constexpr std::string_view kRowGroupNames[] = {"all", "dense", "moe"};
/// What it bounds: errors are absolute but for Low, how much too low a row may be; Scored is the least number
/// of rows.
enum class BoundKind : std::uint8_t { Mean, Median, Worst, Low, Scored };
inline constexpr std::string_view kBoundNames[] = {"mean", "median", "worst", "low", "scored"};
struct Bound {
  RowGroup group = RowGroup::All;
  BoundKind kind = BoundKind::Mean;
  double limit = 0;
};

/// One file of rows: measured ones or cases.
struct ValidationSet {
  std::string name, title, source;
  std::vector<Bound> bounds;
  std::vector<MeasuredRow> measured;
  std::vector<CaseRow> cases;
};

}  // namespace trainplan
