/// The model families in words, for `list` and the docs.
#pragma once

#include <string>
#include <vector>

namespace trainplan {

/// One row: its model_type spellings, then what that name decides. "key": the key of the file does.
struct FamilyRow {
  std::string types, attention, mlp, norms, biases, tables;
};

std::vector<FamilyRow> list_families();

}  // namespace trainplan
