/// What is shipped beside the inputs of a question: framework profiles and published failures.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "trainplan/spec/failure_record.hpp"
#include "trainplan/spec/framework.hpp"

namespace trainplan::study {

struct Shelf {
  std::vector<FrameworkProfile> frameworks;
  std::vector<FailureRecord> failures;

  const FrameworkProfile* framework(std::string_view id) const {
    for (const FrameworkProfile& f : frameworks)
      if (f.id == id) return &f;
    return nullptr;
  }
};

}  // namespace trainplan::study
