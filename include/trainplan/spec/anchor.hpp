/// A measured or published figure that is shown beside a computed one; configs/references/anchors.json.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/figure.hpp"

namespace trainplan {

/// id says what is measured and where ("mfu.llama405b-h100x16384"); model, accelerator and gpus may be empty
/// or 0.
struct Anchor {
  std::string id, title, model, accelerator;
  std::int64_t gpus = 0;
  Dim dim{};
  Figure value;
};

}  // namespace trainplan
