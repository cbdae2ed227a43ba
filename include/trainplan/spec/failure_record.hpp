/// Published counts of failures of long runs; configs/references/failures.json.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainplan/spec/figure.hpp"

namespace trainplan {

struct FailureCause {
  std::string cause, kind;
  std::int64_t count = 0;
};

/// Either `failures` in `time`, or the mean time between them as published.
struct FailureRecord {
  std::string id, title, source, note;
  std::int64_t gpus = 0, failures = 0, planned = 0;
  Figure time, mtbf;
  std::vector<FailureCause> causes;

  bool counted() const { return failures > 0 && time.known; }
};

}  // namespace trainplan
