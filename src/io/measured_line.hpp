/// One row of a table of measured runs, by the names of its columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv.hpp"
#include "trainplan/spec/issue.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

/// What a cell of a column may hold.
enum class CellKind : std::uint8_t { Text, Whole, Real };
struct MeasuredColumn {
  std::string_view name;
  CellKind kind;
  bool required = false;           // the header must have it
  std::int64_t most = kMaxDegree;  // of a whole number
};

/// Every column that is read, in the order of the shipped table.
inline constexpr MeasuredColumn kMeasuredColumns[] = {
    {"id", CellKind::Text, true},
    {"source", CellKind::Text},
    {"source_ref", CellKind::Text},
    {"year", CellKind::Whole},
    {"model", CellKind::Text, true},
    {"params_b", CellKind::Real},
    {"layers", CellKind::Whole, false, kMaxLayers},
    {"hidden", CellKind::Whole, false, kMaxWidth},
    {"heads", CellKind::Whole, false, kMaxHeads},
    {"kv_heads", CellKind::Whole, false, kMaxHeads},
    {"ffn", CellKind::Whole, false, kMaxWidth},
    {"vocab", CellKind::Whole, false, kMaxVocab},
    {"moe_experts", CellKind::Whole, false, kMaxWidth},
    {"moe_topk", CellKind::Whole, false, kMaxWidth},
    {"moe_ffn", CellKind::Whole, false, kMaxWidth},
    {"gpu", CellKind::Text, true},
    {"gpu_mem_gb", CellKind::Real},
    {"gpus", CellKind::Whole, true, kMaxRanks},
    {"gpus_per_node", CellKind::Whole, false, kMaxNodeWidth},
    {"interconnect", CellKind::Text},
    {"seq", CellKind::Whole, true, kMaxSequence},
    {"gbs_sequences", CellKind::Whole, true, kMaxSequence},
    {"mbs", CellKind::Whole},
    {"tp", CellKind::Whole},
    {"sp", CellKind::Text},
    {"pp", CellKind::Whole},
    {"vp", CellKind::Whole},
    {"cp", CellKind::Whole},
    {"ep", CellKind::Whole},
    {"etp", CellKind::Whole},
    {"dp", CellKind::Whole, false, kMaxRanks},
    {"zero_or_fsdp", CellKind::Text},
    {"precision", CellKind::Text},
    {"recompute", CellKind::Text},
    {"flash_attention", CellKind::Text},
    {"compile", CellKind::Text},
    {"offload", CellKind::Text},
    {"step_time_s", CellKind::Real},
    {"tokens_per_s_per_gpu", CellKind::Real},
    {"tflops_per_gpu", CellKind::Real},
    {"mfu_pct", CellKind::Real},
    {"peak_mem_gib", CellKind::Real},
    {"notes", CellKind::Text},
};

/// The cells of one row; numbers were checked when it was read.
class MeasuredLine {
  int line_ = 0;
  std::vector<std::string> cells_;  // in the order of kMeasuredColumns

 public:
  MeasuredLine(int line, std::vector<std::string> cells) : line_(line), cells_(std::move(cells)) {}

  int line() const { return line_; }
  /// Empty where the cell is, or where the table has no such column.
  const std::string& text(std::string_view column) const;
  std::optional<std::int64_t> whole(std::string_view column) const;
  std::optional<double> real(std::string_view column) const;
  /// A value for a cell that is empty.
  void fill(std::string_view column, std::string value);
  /// Another value for a cell.
  void set(std::string_view column, std::string value);
};

/// All rows; mistakes name the line and the column.
std::vector<MeasuredLine> measured_lines(const std::vector<CsvRecord>& records, std::string_view file,
                                         Issues& issues);

}  // namespace trainplan
