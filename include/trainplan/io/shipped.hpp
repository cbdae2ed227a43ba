/// The configs compiled into the binary.
#pragma once

#include <span>
#include <string_view>

namespace trainplan {

/// kind: a folder of configs/ (models, clusters, accelerators, frameworks, ...). name: the file without
/// ".json"; a table keeps its ".csv".
struct Shipped {
  std::string_view kind, name, text;
};

/// Generated at build time from configs/, sorted by kind and name.
std::span<const Shipped> shipped();

}  // namespace trainplan
