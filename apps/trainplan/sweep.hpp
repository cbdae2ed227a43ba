/// The combinations of a sweep, each answered as `plan` answers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "question.hpp"
#include "trainplan/io/sweep_axes.hpp"
#include "trainplan/report/sweep_row.hpp"

namespace trainplan {

inline constexpr std::size_t kMostCombinations = 10'000'000;

/// One row, and whether its plan fits and keeps its limits.
struct SweepAnswer {
  std::vector<Cell> cells;
  bool fits = false;
};

/// What all combinations share is loaded once. The last axis changes from row to row, the first least often.
class Sweep {
  template <class Spec>
  using Loaded = std::map<std::string, Checked<Spec>, std::less<>>;

  std::vector<SweepAxis> axes_;
  RunSpec base_;
  RunOptions options_;  // says which fields the command line has the last word on
  bool exhaustive_ = false;
  Loaded<ModelSpec> models_;
  Loaded<ClusterSpec> clusters_;
  Loaded<FrameworkProfile> frameworks_;
  Loaded<Calibration> calibrations_;

  Sweep() = default;
  bool read(RunOptions options, Issues& issues);
  void add_axis(const std::string& key, const std::string& text, Issues& issues);
  void add_pins(const std::string& pins, Issues& issues);
  void load_all(Issues& issues);
  void check_gpus(Issues& issues) const;
  std::vector<std::string> named_by(std::string_view key, const std::string& otherwise) const;
  const SweepAxis* axis(std::string_view key) const;
  std::vector<std::size_t> places_of(std::size_t row) const;
  std::optional<Trial> plan(const Question& question, Issues& issues) const;

 public:
  /// The fields of `options` may have several values each; their order is that of the axes, after the words.
  /// Nothing when an error was recorded.
  static std::optional<Sweep> load(RunOptions options, bool exhaustive, Issues& issues);

  std::size_t size() const;
  SweepTable table() const;

  /// Row `row` of the table. Several threads may ask at once.
  SweepAnswer answer(std::size_t row, const SweepTable& table) const;
};

}  // namespace trainplan
