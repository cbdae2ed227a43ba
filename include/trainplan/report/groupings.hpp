/// Groups of measured runs that errors are summed up by.
#pragma once

#include <string>

#include "trainplan/cost/confidence.hpp"
#include "trainplan/report/measured_rows.hpp"

namespace trainplan::detail {

/// The name of the group that a row belongs to; rows without a name are in none.
struct Grouping {
  const char* by;
  std::string (*name)(const MeasuredRun&);
};
inline std::string kind_of(const MeasuredRun& row) { return row.sparse ? "mixture of experts" : "dense"; }
inline constexpr Grouping kGroupings[] = {
    {"source", [](const MeasuredRun& r) { return r.source; }},
    {"GPU", [](const MeasuredRun& r) { return r.gpu; }},
    {"precision", [](const MeasuredRun& r) { return r.precision.empty() ? "not stated" : r.precision; }},
    {"kind", kind_of}};

/// The class whose range a row has; with a plus where its accelerator has no constants. The row has a run.
inline std::string class_of(const MeasuredRun& row, Target target) {
  const Problem& p = row.run->problem();
  if (target == Target::Memory) return std::string(name_of(memory_class(p, row.reading)));
  const std::string name(name_of(time_class(p, row.run->plan())));
  return accelerator_is_known(p) ? name : name + " + accelerator";
}

}  // namespace trainplan::detail
