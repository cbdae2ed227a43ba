/// Where an MFU stands: the band that it falls into and the published runs beside it.
#pragma once

#include <string>
#include <vector>

#include "trainplan/report/published.hpp"
#include "trainplan/report/report.hpp"

namespace trainplan {

/// Under `problem` something is clearly wrong; from `good` on it is a good result.
struct UtilisationBand {
  double problem = 0, good = 0;
};

inline UtilisationBand utilisation_band(const std::vector<Anchor>& anchors) {
  return {published(anchors, "mfu_problem").value.value, published(anchors, "mfu_good").value.value};
}

/// "good: 40 % and more".
inline Sentence band_of(const UtilisationBand& band, double reached) {
  const Value problem{band.problem, Unit::Share}, good{band.good, Unit::Share};
  if (reached < band.problem) return {"a clear problem: under ", problem};
  if (reached >= band.good) return {"good: ", good, " and more"};
  return {"below a good result: ", good, " and more are good, under ", problem, " is a clear problem"};
}

/// Published runs and rules of thumb, each with its source.
inline Table utilisation_anchors(const std::vector<Anchor>& anchors) {
  Table table{"anchors", "", {{"id", "id"}, {"title", "what"}, {"value", "value"}, {"source", "source"}}, {}};
  for (const char* id : {"mfu_problem", "mfu_llama3_405b_low", "mfu_good", "mfu_target",
                         "mfu_llama3_405b_high", "mfu_expected_high", "mfu_palm_540b", "mfu_megatron_a100"}) {
    const Anchor& a = published(anchors, id);
    table.rows.push_back({Code{a.id}, a.title, Value{a.value.value, Unit::Share}, a.value.source});
  }
  return table;
}

}  // namespace trainplan
