/// Accelerator and cluster: what a GPU can do, how GPUs are wired, what fails and what it costs.
#pragma once

#include <cstdint>
#include <string>

#include "trainplan/spec/figure.hpp"

namespace trainplan {

/// Peaks are dense; bandwidths are one direction of one GPU.
struct Accelerator {
  std::string id, name, link;
  Figure bf16_dense, fp8_dense, fp4_dense;
  Figure memory;         // nominal
  Figure usable_memory;  // what the driver shows
  Figure memory_bandwidth, scale_up_bandwidth, nic, tdp;
  Figure host_link;  // to the memory of the host; not known: the PCI Express of the cluster
  std::int64_t scale_up_domain = 1;
  bool in_switch_reduction = false;  // the switches of the scale-up domain add up an all-reduce
};

struct ClusterSpec {
  std::string name, origin;
  Accelerator accelerator;
  std::int64_t nodes = 0, gpus_per_node = 0, scale_up_domain = 1;
  Figure nic_per_gpu, pcie;
  Figure host_link;                    // of one GPU to the memory of its host, one direction
  Figure host_memory, host_bandwidth;  // of one node
  Figure storage_write, storage_read;  // whole cluster
  Figure gpu_mtbf;                     // of one GPU; not known: no goodput
  Figure detect, restart, load;        // seconds after a failure
  Figure price;                        // dollars per second of one GPU

  std::int64_t gpus() const { return nodes * gpus_per_node; }
};

/// Data sheets print peaks with 2:4 sparsity, twice what dense products reach; rounding moves them a little.
constexpr bool is_doubled(double peak, double dense) { return peak > 1.97 * dense && peak < 2.03 * dense; }

}  // namespace trainplan
