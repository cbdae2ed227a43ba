/// The figures of a measured step, once: for the object "gap" of a run file and for the options of `gap`.
#pragma once

#include <span>
#include <string_view>

#include "trainplan/spec/gap.hpp"
#include "trainplan/spec/issue.hpp"

namespace trainplan {

/// Which of the two columns of the ledger a figure belongs to.
enum class GapColumn : unsigned char { Measured, Budget };

/// A field with one figure: measured, target or points.
struct GapField {
  std::string_view key, type, help, example;
  bool (*set)(GapSpec& gap, std::string_view text, bool option, Issue& out);
};

std::span<const GapField> gap_fields();

/// Sets one field. `option`: it comes from the command line. A mistake is recorded at `where`.
bool set_gap_field(GapSpec& gap, const GapField& field, std::string_view text, bool option, Issues& issues,
                   Issue where);

/// Sets one item of a column; '-' stands for '_' in its name.
bool set_gap_item(GapSpec& gap, GapColumn column, std::string_view name, std::string_view text, bool option,
                  Issues& issues, Issue where);

/// "exposed_comm=0.8s", as an option gives it.
bool set_gap_pair(GapSpec& gap, GapColumn column, std::string_view pair, Issues& issues);

}  // namespace trainplan
