/// One row of a table of measured runs, by the names of its columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// What a cell of a column may hold.
enum class CellKind : std::uint8_t { Text, Whole, Real };
struct MeasuredColumn {
  std::string_view name;
  CellKind kind;
  bool required;  // the header must have it
};

/// Every column that is read, in the order of the shipped table.
inline constexpr MeasuredColumn kMeasuredColumns[] = {
    {"id", CellKind::Text, true},
    {"source", CellKind::Text, false},
    {"source_ref", CellKind::Text, false},
    {"year", CellKind::Whole, false},
    {"model", CellKind::Text, true},
    {"params_b", CellKind::Real, false},
    {"layers", CellKind::Whole, false},
    {"hidden", CellKind::Whole, false},
    {"heads", CellKind::Whole, false},
    {"kv_heads", CellKind::Whole, false},
    {"ffn", CellKind::Whole, false},
    {"vocab", CellKind::Whole, false},
    {"moe_experts", CellKind::Whole, false},
    {"moe_topk", CellKind::Whole, false},
    {"moe_ffn", CellKind::Whole, false},
    {"gpu", CellKind::Text, true},
    {"gpu_mem_gb", CellKind::Real, false},
    {"gpus", CellKind::Whole, true},
    {"gpus_per_node", CellKind::Whole, false},
    {"interconnect", CellKind::Text, false},
    {"seq", CellKind::Whole, true},
    {"gbs_sequences", CellKind::Whole, true},
    {"mbs", CellKind::Whole, false},
    {"tp", CellKind::Whole, false},
    {"sp", CellKind::Text, false},
    {"pp", CellKind::Whole, false},
    {"vp", CellKind::Whole, false},
    {"cp", CellKind::Whole, false},
    {"ep", CellKind::Whole, false},
    {"etp", CellKind::Whole, false},
    {"dp", CellKind::Whole, false},
    {"zero_or_fsdp", CellKind::Text, false},
    {"precision", CellKind::Text, false},
    {"recompute", CellKind::Text, false},
    {"flash_attention", CellKind::Text, false},
    {"compile", CellKind::Text, false},
    {"offload", CellKind::Text, false},
    {"step_time_s", CellKind::Real, false},
    {"tokens_per_s_per_gpu", CellKind::Real, false},
    {"tflops_per_gpu", CellKind::Real, false},
    {"mfu_pct", CellKind::Real, false},
    {"peak_mem_gib", CellKind::Real, false},
    {"notes", CellKind::Text, false},
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
