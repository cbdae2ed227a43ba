/// From a GPU's name and a line about its network to a cluster description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "measured_line.hpp"

namespace trainplan {

/// A shipped accelerator and the GPUs of its scale-up domain.
struct ShippedAccelerator {
  std::string id;
  std::int64_t domain = 1;
  bool guessed = false;  // from a part of the name
};

/// The accelerator of a GPU's name, with its memory where that decides; nothing when there is none.
std::optional<ShippedAccelerator> accelerator_of(std::string_view gpu, std::string_view memory_gb);

/// Bits per second of one GPU's share, from "4x100 Gb/s RoCE per node", "800 Gb/s per node" or "400 Gb/s per
/// GPU"; nothing when the text says none of these.
std::optional<double> nic_bits_of(std::string_view interconnect, std::int64_t gpus_per_node);

/// The cluster of a row, over what is known of its kind of GPU. Needs gpus.
nlohmann::json cluster_of(const MeasuredLine& line, const ShippedAccelerator& accelerator,
                          nlohmann::json known);

}  // namespace trainplan
