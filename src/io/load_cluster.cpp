#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "text.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kAcceleratorKeys[] = {"base",      "name",     "vendor",        "bf16_dense",
                                                 "fp8_dense", "memory",   "usable_memory", "memory_bandwidth",
                                                 "fp4_dense", "scale_up", "nic",           "tdp",
                                                 "host_link", "notes"};
constexpr std::string_view kScaleUpKeys[] = {"link", "bandwidth", "domain", "in_switch_reduction"};
constexpr std::string_view kClusterKeys[] = {
    "name", "accelerator", "nodes",   "gpus_per_node", "scale_up_domain", "nic_per_gpu",
    "pcie", "host",        "storage", "reliability",   "price",           "notes"};
constexpr std::string_view kHostKeys[] = {"memory", "memory_bandwidth", "link"};
constexpr std::string_view kStorageKeys[] = {"write", "read"};
constexpr std::string_view kReliabilityKeys[] = {"gpu_mtbf", "detect", "restart", "load"};

/// An object that may be left out; figures of a missing one still get their origin.
Reader part(const Reader& in, std::string_view key, std::span<const std::string_view> keys, Issues& issues) {
  static const nlohmann::json kNothing = nlohmann::json::object();
  const std::optional<Reader> given = in.object(key);
  Reader out = given.value_or(Reader(in.document(), kNothing, in.pointer(key), issues));
  out.allow(keys);
  return out;
}

/// Lays what an object says over `a`; used for the base and for what a cluster overrides.
void read_accelerator(const Reader& in, Accelerator& a, Issues& issues) {
  in.allow(kAcceleratorKeys);
  a.name = in.string("name").value_or(a.name);
  in.figure("bf16_dense", kFlops - kSeconds, a.bf16_dense);
  in.figure("fp8_dense", kFlops - kSeconds, a.fp8_dense);
  in.figure("fp4_dense", kFlops - kSeconds, a.fp4_dense);
  in.figure("memory", kBytes, a.memory);
  in.figure("usable_memory", kBytes, a.usable_memory);
  in.figure("memory_bandwidth", kBytes - kSeconds, a.memory_bandwidth);
  in.figure("nic", kBytes - kSeconds, a.nic);
  in.power("tdp", a.tdp);
  in.figure("host_link", kBytes - kSeconds, a.host_link);
  const Reader scale_up = part(in, "scale_up", kScaleUpKeys, issues);
  a.link = scale_up.string("link").value_or(a.link);
  scale_up.figure("bandwidth", kBytes - kSeconds, a.scale_up_bandwidth);
  a.scale_up_domain = scale_up.integer("domain", 1, kMaxRanks).value_or(a.scale_up_domain);
  a.in_switch_reduction = scale_up.boolean("in_switch_reduction").value_or(a.in_switch_reduction);
}

std::optional<Accelerator> accelerator_of(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  Accelerator a;
  a.id = a.name = config_name(doc.origin);
  read_accelerator(Reader(doc, issues), a, issues);
  return errors_since(issues, first) ? std::nullopt : std::optional(std::move(a));
}

/// Whether a shipped accelerator may be meant by this name: "H100" is a beginning of "H100 SXM5 80GB".
bool may_be(const Shipped& s, const std::string& name) {
  constexpr std::size_t kShortestName = 4;
  return name.size() >= kShortestName &&
         (lower(s.name).starts_with(name) || lower(s.text).find("\"name\": \"" + name) != std::string::npos);
}

/// A dense bf16 peak known of this device that is half of what the device is said to have; 0 without one.
double halved_peak(const Accelerator& a, const Figure& base) {
  const auto doubles = [&](const Figure& dense) {
    return dense.known && is_doubled(a.bf16_dense.value, dense.value);
  };
  if (doubles(base)) return base.value;
  for (const Shipped& s : shipped()) {
    if (s.kind != "accelerators" || (!may_be(s, lower(a.id)) && !may_be(s, lower(a.name)))) continue;
    Issues ignored;
    const auto known = load_accelerator_text(s.text, std::string(s.name) + ".json", ignored);
    if (known && doubles(known->bf16_dense)) return known->bf16_dense.value;
  }
  return 0;
}

class ClusterReader {
  const Document& doc_;
  Issues& issues_;
  std::unique_ptr<Document> base_;  // of the accelerator, when it has a file of its own
  Figure base_peak_;                // before the cluster's own figures

  void read_base(const Reader& in, std::string_view key, Accelerator& a) {
    const std::optional<std::string> id = in.string(key);
    if (!id) return;
    const Place place = place_of(doc_.text, locate(doc_.text, in.pointer(key)).value);
    const Issue where{
        .file = doc_.file, .pointer = in.pointer(key), .line = place.line, .column = place.column};
    auto found = find_config("accelerators", *id, issues_, directory_of(doc_.origin), where);
    a.id = *id;
    if (!found) return;
    base_ = std::make_unique<Document>(std::move(*found));
    a.id = config_name(base_->origin);
    a.name = a.id;
    read_accelerator(Reader(*base_, issues_), a, issues_);
  }

  /// A name, an object of its own, or an object that changes some figures of a "base".
  bool read_accelerator_key(const Reader& in, Accelerator& a) {
    if (!in.require("accelerator", "\"h100-sxm\"")) return false;
    if (!in.node().find("accelerator")->is_object()) {
      read_base(in, "accelerator", a);
      return base_ != nullptr;
    }
    const Reader own = *in.object("accelerator");
    read_base(own, "base", a);
    if (own.has("base") && base_ == nullptr) return false;
    base_peak_ = a.bf16_dense;
    read_accelerator(own, a, issues_);
    if (a.id.empty()) a.id = a.name;
    return true;
  }

  /// A sparse peak in place of the dense one would halve every MFU.
  void refuse_sparse_peak(const Accelerator& a) {
    const double dense = a.bf16_dense.known ? halved_peak(a, base_peak_) : 0;
    if (dense == 0) return;
    constexpr double kTera = 1e12;
    const std::string text = shown(dense / kTera) + " TFLOP/s";
    Validator v{issues_, doc_.file};
    v.figure("/accelerator/bf16_dense", a.bf16_dense, "sparse-peak",
             "be the dense peak of the device, " + text + "; twice that is the peak with 2:4 sparsity",
             "try \"" + text + "\"");
  }

  void read_size(const Reader& in, ClusterSpec& c) {
    in.require("nodes", "128");
    in.require("gpus_per_node", "8");
    c.nodes = in.integer("nodes", 1, kMaxRanks).value_or(0);
    c.gpus_per_node = in.integer("gpus_per_node", 1, kMaxNodeWidth).value_or(0);
    c.scale_up_domain = in.integer("scale_up_domain", 1, kMaxRanks).value_or(0);
    if (in.has("scale_up_domain")) return;
    const std::int64_t gpus = std::max<std::int64_t>(c.gpus(), 1);
    c.scale_up_domain = std::min(c.accelerator.scale_up_domain, gpus);
  }

  /// The link to the host is the cluster's own, else the accelerator's, else PCI Express.
  void read_host(const Reader& in, ClusterSpec& c) {
    const Reader host = part(in, "host", kHostKeys, issues_);
    host.figure("memory", kBytes, c.host_memory);
    host.figure("memory_bandwidth", kBytes - kSeconds, c.host_bandwidth);
    host.figure("link", kBytes - kSeconds, c.host_link);
    if (host.has("link")) return;
    if (c.accelerator.host_link.known)
      c.host_link = c.accelerator.host_link;
    else if (c.pcie.known)
      c.host_link = c.pcie;
  }

  void read_operation(const Reader& in, ClusterSpec& c) {
    in.figure("nic_per_gpu", kBytes - kSeconds, c.nic_per_gpu);
    if (!in.has("nic_per_gpu") && c.accelerator.nic.known) c.nic_per_gpu = c.accelerator.nic;
    in.figure("pcie", kBytes - kSeconds, c.pcie);
    read_host(in, c);
    in.figure("price", kUsd - kSeconds, c.price);
    const Reader storage = part(in, "storage", kStorageKeys, issues_);
    storage.figure("write", kBytes - kSeconds, c.storage_write);
    storage.figure("read", kBytes - kSeconds, c.storage_read);
    const Reader reliability = part(in, "reliability", kReliabilityKeys, issues_);
    reliability.figure("gpu_mtbf", kSeconds, c.gpu_mtbf);
    reliability.figure("detect", kSeconds, c.detect);
    reliability.figure("restart", kSeconds, c.restart);
    reliability.figure("load", kSeconds, c.load);
  }

 public:
  ClusterReader(const Document& doc, Issues& issues) : doc_(doc), issues_(issues) {}

  /// Issues from `first` on are about this file, those of its text among them.
  std::optional<Checked<ClusterSpec>> read(std::size_t first) {
    const Reader in(doc_, issues_);
    in.allow(kClusterKeys);
    ClusterSpec c;
    c.origin = doc_.origin;
    c.name = in.string("name").value_or(config_name(doc_.origin));
    const bool accelerator = read_accelerator_key(in, c.accelerator);
    read_size(in, c);
    read_operation(in, c);
    if (accelerator) refuse_sparse_peak(c.accelerator);
    const std::size_t checked_from = issues_.all().size();
    auto checked = Checked<ClusterSpec>::make(std::move(c), issues_);
    if (!accelerator)
      for (const std::string_view dependent : {"/accelerator", "/nic_per_gpu", "/pcie"})
        drop_under(issues_, checked_from, dependent);
    const Document* const documents[] = {&doc_, base_.get()};
    place_issues(std::span(documents, base_ == nullptr ? 1 : 2), issues_, first);
    return errors_since(issues_, first) ? std::nullopt : checked;
  }
};

}  // namespace

std::optional<Checked<ClusterSpec>> load_cluster(std::string_view name_or_path, Issues& issues) {
  const std::size_t first = issues.all().size();
  const auto doc = find_config("clusters", name_or_path, issues, {}, {}, {.repeated = Repeated::ReadOn});
  return doc ? ClusterReader(*doc, issues).read(first) : std::nullopt;
}

std::optional<Checked<ClusterSpec>> load_cluster_text(std::string_view text, std::string_view file,
                                                      Issues& issues) {
  const std::size_t first = issues.all().size();
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues,
                                 {.repeated = Repeated::ReadOn});
  return doc ? ClusterReader(*doc, issues).read(first) : std::nullopt;
}

std::optional<Accelerator> load_accelerator_text(std::string_view text, std::string_view file,
                                                 Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? accelerator_of(*doc, issues) : std::nullopt;
}

std::optional<Accelerator> load_accelerator(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("accelerators", name_or_path, issues);
  return doc ? accelerator_of(*doc, issues) : std::nullopt;
}

}  // namespace trainplan
