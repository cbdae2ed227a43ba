/// Which layer has what: routed experts, a window, a chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "families.hpp"
#include "model_keys.hpp"

namespace trainplan {

/// One entry for each layer: does it have routed experts?
std::vector<bool> sparse_layers(ModelKeys& keys, const Family& family, std::int64_t layers);

/// One entry for each layer: the positions that it attends to; sparse is left false.
std::vector<LayerKind> layer_spans(ModelKeys& keys, const Family& family, std::int64_t layers);

}  // namespace trainplan
