#include "measured_cluster.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "find_config.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr std::int64_t kUsualNode = 8;
constexpr std::string_view kRateUnit = " Gb/s";

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// The number that ends at `end`, and where it begins.
std::optional<double> number_before(std::string_view text, std::size_t end, std::size_t& begin) {
  begin = end;
  while (begin > 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  if (begin == end) return std::nullopt;
  return std::strtod(std::string(text.substr(begin, end - begin)).c_str(), nullptr);
}

std::optional<ShippedAccelerator> shipped_accelerator(const std::string& name) {
  Issues ignored;
  const auto doc = shipped_config("accelerators", name, ignored);
  if (!doc) return std::nullopt;
  const auto scale_up = doc->root.find("scale_up");
  const std::int64_t domain = scale_up == doc->root.end() ? 1 : scale_up->value("domain", std::int64_t{1});
  return ShippedAccelerator{config_name(doc->origin), domain, false};
}

/// GPUs of one domain that a job uses: of 72 it takes 64 where it has 128 in all, so that domains are alike.
std::int64_t used_domain(std::int64_t gpus, std::int64_t per_node, std::int64_t domain) {
  for (std::int64_t n = std::min(domain, gpus) / per_node * per_node; n > per_node; n -= per_node)
    if (gpus % n == 0) return n;
  return std::min(domain, per_node);
}

}  // namespace

std::optional<ShippedAccelerator> accelerator_of(std::string_view gpu, std::string_view memory_gb) {
  if (gpu.empty()) return std::nullopt;
  const std::string name(gpu);
  if (!memory_gb.empty())
    if (const auto found = shipped_accelerator(name + "-" + std::string(memory_gb) + "GB")) return found;
  return shipped_accelerator(name);
}

std::optional<double> nic_bits_of(std::string_view text, std::int64_t gpus_per_node) {
  const std::size_t unit = text.find(kRateUnit);
  if (unit == std::string_view::npos) return std::nullopt;
  std::size_t begin = 0, ignored = 0;
  const auto rate = number_before(text, unit, begin);
  if (!rate) return std::nullopt;
  const double bits = *rate * 1e9;
  const std::string_view rest = text.substr(unit);
  if (rest.find("per GPU") != std::string_view::npos) return bits;
  const auto adapters =
      begin > 0 && text[begin - 1] == 'x' ? number_before(text, begin - 1, ignored) : std::optional<double>{};
  if (!adapters && rest.find("per node") == std::string_view::npos) return std::nullopt;
  return adapters.value_or(1) * bits / static_cast<double>(gpus_per_node);
}

nlohmann::json cluster_of(const MeasuredLine& line, const ShippedAccelerator& accelerator,
                          nlohmann::json cluster) {
  const std::int64_t gpus = line.whole("gpus").value_or(1);
  const std::int64_t node = line.whole("gpus_per_node").value_or(kUsualNode);
  const std::int64_t per_node = gpus % node == 0 ? node : std::min(gpus, node);
  cluster["accelerator"] = accelerator.id;
  cluster["gpus_per_node"] = per_node;
  cluster["nodes"] = gpus / per_node;
  if (accelerator.domain > per_node)
    cluster["scale_up_domain"] = used_domain(gpus, per_node, accelerator.domain);
  if (const auto bits = nic_bits_of(line.text("interconnect"), node))
    cluster["nic_per_gpu"] = {{"value", shown(*bits / 1e9) + " Gbit/s"}, {"source", "the row"}};
  return cluster;
}

}  // namespace trainplan
