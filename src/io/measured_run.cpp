#include "measured_run.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

namespace trainplan {

using nlohmann::json;

namespace {

/// The number after "shard " or "shard group " of zero_or_fsdp.
std::optional<std::int64_t> shard_of(std::string_view text) {
  for (const std::string_view word : {"shard group ", "shard "}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::size_t from = at + word.size();
    const std::size_t end = text.find_first_not_of("0123456789", from);
    const std::string digits(text.substr(from, end == std::string_view::npos ? end : end - from));
    if (!digits.empty() && digits.size() < 8) return std::stoll(digits);
  }
  return std::nullopt;
}

/// "mla_up_proj+mlp" as the field takes it.
std::string modules_of(const MeasuredLine& line) {
  std::string text = noted(line, "recompute modules ");
  text = text.substr(0, text.find(' '));
  std::replace(text.begin(), text.end(), '+', ',');
  return text;
}

class RunWriter {
  const MeasuredLine& line_;
  json& setup_;
  json run_;

  void assume(const std::string& key, json value) { setup_["assumed"][key] = std::move(value); }

  /// A degree of the plan; one that is not given is 1, and said to be where it could be another.
  std::int64_t degree(const char* field, std::string_view column, bool matters) {
    const auto given = line_.whole(column);
    if (!given && matters) assume(field, 1);
    run_[field] = given.value_or(1);
    return given.value_or(1);
  }

  void write_batch(std::int64_t dp) {
    const std::int64_t batch = line_.whole("gbs_sequences").value_or(1);
    const std::int64_t micro = degree("micro_batch", "mbs", true);
    run_["sequence"] = line_.whole("seq").value_or(1);
    run_["global_batch"] = batch;
    if (batch % dp != 0 || (batch / dp) % micro == 0) return;
    run_["micro_batch"] = fitting_micro_batch(batch / dp, micro);
    assume("micro_batch", std::to_string(run_["micro_batch"].get<std::int64_t>()) + " for " +
                              std::to_string(micro) + ", which does not divide the sequences of a rank");
  }

  /// Hybrid sharding where a group is smaller than all ranks and the profile can.
  void write_shards(std::int64_t ranks) {
    const auto shard = shard_of(line_.text("zero_or_fsdp"));
    const bool full = run_.value("sharding", "") == "zero3" || run_.value("sharding", "") == "hsdp";
    if (!shard || *shard >= ranks) return;
    if (full && setup_.at("framework") == "torchtitan") {
      run_["sharding"] = "hsdp";
      run_["shard_size"] = *shard;
    } else if (run_.value("sharding", "") == "zero1" && setup_.at("framework") == "megatron-lm") {
      run_["shard_size"] = *shard;
    } else {
      assume("sharding", "over all ranks, not " + std::to_string(*shard));
    }
  }

  void write_recompute() {
    if (run_.value("recompute", "") != "selective" || run_.contains("recompute_modules")) return;
    const std::string modules = modules_of(line_);
    if (!modules.empty()) run_["recompute_modules"] = modules;
  }

 public:
  RunWriter(const MeasuredLine& line, json& setup) : line_(line), setup_(setup), run_(setup.at("run")) {}

  json write() {
    run_["framework"] = setup_.at("framework");
    const std::int64_t tp = degree("tp", "tp", false), pp = degree("pp", "pp", false),
                       cp = degree("cp", "cp", false);
    if (pp > 1) degree("vpp", "vp", true);
    if (line_.whole("moe_experts") || line_.whole("ep")) degree("ep", "ep", true);
    if (line_.whole("etp")) degree("etp", "etp", false);
    const std::int64_t rest = line_.whole("gpus").value_or(1) / std::max<std::int64_t>(1, tp * pp * cp);
    const std::int64_t dp = std::max<std::int64_t>(1, line_.whole("dp").value_or(rest));
    run_["dp"] = dp;
    write_batch(dp);
    write_shards(dp * cp);
    write_recompute();
    return run_;
  }
};

}  // namespace

std::string noted(const MeasuredLine& line, std::string_view word) {
  const std::string& notes = line.text("notes");
  std::size_t at = 0;
  while (at < notes.size()) {
    const std::size_t end = std::min(notes.find(';', at), notes.size());
    const std::size_t from = notes.find_first_not_of(' ', at);
    if (from < end && notes.compare(from, word.size(), word) == 0)
      return notes.substr(from + word.size(), end - from - word.size());
    at = end + 1;
  }
  return {};
}

json run_of(const MeasuredLine& line, json& setup) { return RunWriter(line, setup).write(); }

std::int64_t fitting_micro_batch(std::int64_t local, std::int64_t micro_batch) {
  const double wanted = std::ceil(static_cast<double>(local) / static_cast<double>(micro_batch));
  std::int64_t best = 1;
  double least = INFINITY;
  for (std::int64_t size = 1; size <= local && size <= 2 * micro_batch; ++size) {
    if (local % size != 0) continue;
    const double off = std::abs(std::log(static_cast<double>(local / size) / wanted));
    if (off < least) best = size;
    least = std::min(off, least);
  }
  return best;
}

}  // namespace trainplan
