#include "trainplan/io/run_fields.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "choices.hpp"
#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/error_class.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

std::string_view stripped(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// The legal whole number that is nearest to what was written.
std::string try_near(double value, std::int64_t hi) {
  const double low = std::clamp(std::floor(value), 1.0, static_cast<double>(hi));
  const double high = std::clamp(std::ceil(value), 1.0, static_cast<double>(hi));
  const auto text = [](double v) { return std::to_string(static_cast<std::int64_t>(v)); };
  return low == high ? "try " + text(low) : "try " + text(low) + " or " + text(high);
}

/// A whole number from 1 to hi; `dim` tokens lets "8Ki tokens" pass.
std::optional<std::int64_t> whole(std::string_view text, Dim dim, std::int64_t hi, std::string_view example,
                                  Issue& out) {
  const Measure m = parse_quantity(text, dim);
  const bool number = m && m.word == UnitWord::None;
  if (number && m.value == std::floor(m.value) && m.value >= 1 && m.value <= static_cast<double>(hi))
    return static_cast<std::int64_t>(m.value);
  refuse(out, number && m.value == std::floor(m.value) ? "range" : "integer",
         "be an integer from 1 to " + std::to_string(hi),
         number ? try_near(m.value, hi) : "try " + std::string(example));
  return std::nullopt;
}

template <auto Member, std::int64_t Hi>
bool set_whole(RunSpec& run, std::string_view text, Issue& out) {
  const auto n = whole(text, kCount, Hi, "8", out);
  if (n) run.*Member = *n;
  return n.has_value();
}

bool set_sequence(RunSpec& run, std::string_view text, Issue& out) {
  const auto n = whole(text, kTokens, kMaxSequence, "8192", out);
  if (n) run.sequence = *n;
  return n.has_value();
}

bool set_global_batch(RunSpec& run, std::string_view text, Issue& out) {
  const Measure m = parse_quantity(text, kTokens), any = parse_quantity(text);
  const bool sequences =
      any && any.dim == kCount && (any.word == UnitWord::None || any.word == UnitWord::Sequences);
  const std::string must = "be a whole number of sequences or of tokens";
  if (!sequences && !m) return refuse(out, "quantity", must, "try 512 sequences or 4Mi-tokens");
  const double amount = sequences ? any.value : m.value;
  if (amount != std::floor(amount) || amount < 1 || amount > static_cast<double>(kMaxSequence))
    return refuse(out, "range", must,
                  try_near(amount, kMaxSequence) + (sequences ? " sequences" : " tokens"));
  run.global_batch = GlobalBatch{static_cast<std::int64_t>(amount), !sequences};
  return true;
}

template <auto Member, const auto& Choices>
bool set_choice(RunSpec& run, std::string_view text, Issue& out) {
  const std::string wanted = lower(text);
  for (const auto& c : Choices)
    if (c.name == wanted) {
      run.*Member = c.value;
      return true;
    }
  return refuse(out, "choice", "be " + one_of(names_of(Choices, false)), hint_for(text, names_of(Choices)));
}

template <auto Member>
bool set_name(RunSpec& run, std::string_view text, Issue& out) {
  if (text.empty()) return refuse(out, "name", "be a name or a path", "see: trainplan list");
  run.*Member = std::string(text);
  return true;
}

/// A quantity in lo..hi of its base unit.
std::optional<double> quantity(std::string_view text, Dim dim, double lo, double hi, std::string_view example,
                               Issue& out) {
  const Measure m = parse_quantity(text, dim);
  const bool legal = m && m.word != UnitWord::Sequences;
  if (legal && m.value >= lo && m.value <= hi) return m.value;
  const std::string hint = "try " + std::string(example);
  if (legal)
    refuse(out, "range", "be from " + shown(lo) + " to " + shown(hi), hint);
  else
    refuse(out, "quantity", "be " + noun_of(dim) + (m ? "" : "; it " + m.error), hint);
  return std::nullopt;
}

bool set_margin(RunSpec& run, std::string_view text, Issue& out) {
  return (run.memory_margin = quantity(text, kCount, 0, 0.99, "30%", out)).has_value();
}
bool set_offload_optimizer(RunSpec& run, std::string_view text, Issue& out) {
  return (run.offload_optimizer = quantity(text, kCount, 0, 1, "100%", out)).has_value();
}
bool set_confidence(RunSpec& run, std::string_view text, Issue& out) {
  return (run.confidence = quantity(text, kCount, kLeastConfidence, kMostConfidence, "90%", out)).has_value();
}
bool set_tokens(RunSpec& run, std::string_view text, Issue& out) {
  return (run.tokens = quantity(text, kTokens, 1, 1e18, "15T-tokens", out)).has_value();
}
bool set_min_mfu(RunSpec& run, std::string_view text, Issue& out) {
  return (run.limits.min_mfu = quantity(text, kCount, 0, 1, "40%", out)).has_value();
}
bool set_max_step(RunSpec& run, std::string_view text, Issue& out) {
  return (run.limits.max_step_time = quantity(text, kSeconds, 1e-6, 1e9, "5s", out)).has_value();
}
bool set_max_memory(RunSpec& run, std::string_view text, Issue& out) {
  return (run.limits.max_memory = quantity(text, kBytes, 1, 1e15, "70GiB", out)).has_value();
}
bool set_capacity(RunSpec& run, std::string_view text, Issue& out) {
  return (run.capacity_factor = quantity(text, kCount, 0.1, 1000, "1.25", out)).has_value();
}
bool set_imbalance(RunSpec& run, std::string_view text, Issue& out) {
  return (run.expert_imbalance = quantity(text, kCount, 1, 1000, "1.2", out)).has_value();
}
/// Names joined by commas. They imply selective recompute.
bool set_modules(RunSpec& run, std::string_view text, Issue& out) {
  Modules modules = 0;
  const std::span<const std::string_view> names(kModuleNames);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string name = lower(stripped(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return refuse(out, "choice",
                    "be names of modules joined by commas: " + one_of({names.begin(), names.end()}),
                    hint_for(name, {names.begin(), names.end()}));
    modules |= bit(static_cast<Module>(found - names.begin()));
  }
  if (modules == 0) return refuse(out, "choice", "name at least one module", "try core_attn");
  run.recompute_modules = modules;
  if (!run.recompute) run.recompute = Recompute::Selective;
  return true;
}
/// "any" leaves the choice open.
bool set_schedule(RunSpec& run, std::string_view text, Issue& out) {
  if (lower(text) == "any") return run.any_schedule = true;
  if (set_choice<&RunSpec::schedule, kSchedules>(run, text, out)) return true;
  std::vector<std::string_view> names = names_of(kSchedules, false);
  names.push_back("any");
  out.must = "be " + one_of(names);
  return false;
}
/// A number of layers says which layers: it implies that mode.
bool set_recompute_layers(RunSpec& run, std::string_view text, Issue& out) {
  const auto n = whole(text, kCount, kMaxLayers, "1", out);
  if (!n) return false;
  run.recompute_layers = *n;
  if (!run.recompute) run.recompute = Recompute::Layers;
  return true;
}

constexpr std::string_view kSwitch = "true or false", kInteger = "integer", kDTypeText = "fp32, bf16 or fp16";

constexpr RunField kFields[] = {
    {"model", "name or file", "the model: a config.json or a shipped name", "llama70b", "required",
     set_name<&RunSpec::model>},
    {"cluster", "name or file", "the cluster", "h100x1024", "required", set_name<&RunSpec::cluster>},
    {"framework", "name or file", "the framework profile", "megatron-lm", "megatron-lm",
     set_name<&RunSpec::framework>},
    {"calibration", "name or file", "constants laid over the shipped ones, as calibrate writes them",
     "calibration.json", "the shipped constants", set_name<&RunSpec::calibration>},
    {"sequence", "tokens", "tokens of one sequence", "8192", "min(8192, max_position_embeddings)",
     set_sequence},
    {"global_batch", "sequences or tokens", "batch of one optimizer step", "4Mi-tokens",
     "the multiple of dp x micro_batch nearest to 4Mi tokens", set_global_batch},
    {"micro_batch", kInteger, "sequences of one micro-batch and rank", "1", "1",
     set_whole<&RunSpec::micro_batch, kMaxDegree>},
    {"tp", kInteger, "tensor-parallel degree", "8", "derived", set_whole<&RunSpec::tp, kMaxDegree>},
    {"pp", kInteger, "pipeline stages", "4", "derived", set_whole<&RunSpec::pp, kMaxDegree>},
    {"vpp", kInteger, "virtual stages of one pipeline rank", "4", "derived",
     set_whole<&RunSpec::vpp, kMaxDegree>},
    {"cp", kInteger, "context-parallel degree", "2", "derived", set_whole<&RunSpec::cp, kMaxDegree>},
    {"dp", kInteger, "data-parallel degree", "32", "GPUs / (tp x pp x cp)",
     set_whole<&RunSpec::dp, kMaxRanks>},
    {"ep", kInteger, "expert-parallel degree: ranks that share the routed experts of a layer", "8", "derived",
     set_whole<&RunSpec::ep, kMaxDegree>},
    {"etp", kInteger, "tensor-parallel degree of routed experts", "1", "1",
     set_whole<&RunSpec::etp, kMaxDegree>},
    {"first_layers", kInteger, "layers of the first pipeline stage", "3", "derived",
     set_whole<&RunSpec::first_layers, kMaxLayers>},
    {"last_layers", kInteger, "layers of the last pipeline stage", "2",
     "derived, as first_layers when that is given", set_whole<&RunSpec::last_layers, kMaxLayers>},
    {"uneven_stages", kSwitch,
     "the embedding and the loss count as a layer each when layers are split over stages", "true",
     "derived, true where layers are no multiple of pp", set_choice<&RunSpec::uneven_stages, kSwitches>},
    {"shard_size", kInteger, "ranks of one shard group (hsdp)", "8", "scale_up_domain / tp, at most dp x cp",
     set_whole<&RunSpec::shard_size, kMaxDegree>},
    {"sharding", "none, zero1, zero2, zero3 or hsdp", "what data-parallel ranks share", "zero1",
     "derived, from the one of the framework", set_choice<&RunSpec::sharding, kShardings>},
    {"sequence_parallel", kSwitch, "split the rest of the activations over the tensor-parallel ranks", "true",
     "true when tp is above 1", set_choice<&RunSpec::sequence_parallel, kSwitches>},
    {"reshard_after_forward", kSwitch, "free gathered weights between forward and backward", "false", "true",
     set_choice<&RunSpec::reshard_after_forward, kSwitches>},
    {"gradient_sync", "step or micro-batch", "how often gradients are reduced", "micro-batch", "micro-batch",
     set_choice<&RunSpec::sync_each_micro_batch, kGradientSyncs>},
    {"schedule", "gpipe, 1f1b, interleaved, looped-bfs, interleaved-zb, zbv, dualpipev or any",
     "pipeline schedule, also by torch's name; any: the fastest of the framework's", "1f1b",
     "interleaved when vpp is above 1, else 1f1b", set_schedule},
    {"recompute", "none, selective, layers or full", "activations computed again in the backward pass",
     "selective", "derived, none where that fits", set_choice<&RunSpec::recompute, kRecomputes>},
    {"recompute_layers", kInteger, "layers of a stage that are recomputed", "4", "derived, as few as needed",
     set_recompute_layers},
    {"recompute_modules", "module names", "parts of a layer that selective recompute rebuilds",
     "moe_act,layernorm", "core_attn", set_modules},
    {"capacity_factor", "number", "tokens that an expert takes at most, over the mean", "1.25",
     "none: dropless", set_capacity},
    {"expert_imbalance", "number", "tokens of the busiest expert-parallel rank over the mean", "1.2",
     "1: balanced", set_imbalance},
    {"mtp", kSwitch, "train the blocks for further tokens (multi-token prediction) that the model announces",
     "false", "true where the model announces them", set_choice<&RunSpec::mtp, kSwitches>},
    {"precision", "bf16 or fp16", "type of weights and activations", "bf16", "bf16",
     set_choice<&RunSpec::precision, kPrecisions>},
    {"gradient_dtype", kDTypeText, "type of the gradients kept", "bf16",
     "fp16 with fp16, else the one of the framework", set_choice<&RunSpec::gradient_dtype, kDTypes>},
    {"reduce_dtype", kDTypeText, "type in which gradients travel", "bf16", "gradient_dtype",
     set_choice<&RunSpec::reduce_dtype, kDTypes>},
    {"moment_dtype", "fp32 or bf16", "type of the optimizer's moments (precision-aware optimizer)", "bf16",
     "fp32", set_choice<&RunSpec::moment_dtype, kMomentTypes>},
    {"loss", "te, native, eager, compiled or chunked", "kernel of the loss", "te", "the one of the framework",
     set_choice<&RunSpec::loss, kLosses>},
    {"compile", kSwitch, "torch.compile", "false", "as the framework",
     set_choice<&RunSpec::compile, kSwitches>},
    {"accumulation_fusion", kSwitch, "add weight gradients to the main gradient inside the matrix product",
     "false", "true", set_choice<&RunSpec::accumulation_fusion, kSwitches>},
    {"matmul_precision", "as-precision, fp8, fp8-rowwise, fp8-blockwise, mxfp8 or nvfp4",
     "number format of the matrix products; fp8 is scaled by tensor", "fp8", "as-precision",
     set_choice<&RunSpec::matmul_precision, kMatmuls>},
    {"fp8_param_gather", kSwitch,
     "weights of products in 8 or 4 bits are kept and gathered in that format, with no copy in 16 bits",
     "true", "false", set_choice<&RunSpec::fp8_param_gather, kSwitches>},
    {"attention", "flash or unfused", "attention kernel", "unfused", "flash",
     set_choice<&RunSpec::attention, kAttentions>},
    {"flop_convention", "causal or full", "how attention FLOPs are counted", "full", "causal",
     set_choice<&RunSpec::flop_convention, kConventions>},
    {"cp_mode", "ring, all-to-all or all-gather", "how context-parallel ranks exchange", "all-to-all",
     "the first of ring, all-gather and all-to-all that the framework has",
     set_choice<&RunSpec::cp_mode, kCpModes>},
    {"tp_overlap", kSwitch, "overlap tensor-parallel traffic with its matrix products", "true", "true",
     set_choice<&RunSpec::tp_overlap, kSwitches>},
    {"dp_overlap", kSwitch, "overlap data-parallel traffic with compute", "true", "true",
     set_choice<&RunSpec::dp_overlap, kSwitches>},
    {"gather_overlap", kSwitch, "overlap gathers of updated weights with the forward pass, with dp_overlap",
     "false", "as dp_overlap", set_choice<&RunSpec::gather_overlap, kSwitches>},
    {"ep_overlap", kSwitch, "overlap expert-parallel traffic with another micro-batch", "true", "false",
     set_choice<&RunSpec::ep_overlap, kSwitches>},
    {"moe_dispatcher", "alltoall, deepep or hybridep",
     "how tokens travel to their experts: every copy by all-to-all, or one copy to a rank", "deepep",
     "alltoall", set_choice<&RunSpec::moe_dispatcher, kDispatchers>},
    {"cuda_graphs", "none, layer or full",
     "what is captured in CUDA graphs: parts of a layer, or the whole iteration", "layer", "none",
     set_choice<&RunSpec::cuda_graphs, kGraphModes>},
    {"stack", "name of a software stack",
     "software whose time constants apply: megatron-core, megatron-lm-2022, megatron-deepspeed, torchtitan, "
     "torchtitan-compiled, llm-foundry, jax or unknown",
     "megatron-lm-2022", "the one of the framework", set_choice<&RunSpec::stack, kStacks>},
    {"fused_mlp", kSwitch, "fused activation of the MLP", "false",
     "true where the framework has one or compiles", set_choice<&RunSpec::fused_mlp, kSwitches>},
    {"hidden_dropout", kSwitch, "dropout of the outputs of attention and MLP, with a probability above 0",
     "true", "false", set_choice<&RunSpec::hidden_dropout, kSwitches>},
    {"attention_dropout", kSwitch, "dropout of attention probabilities, with a probability above 0", "true",
     "false", set_choice<&RunSpec::attention_dropout, kSwitches>},
    {"expandable_segments", kSwitch, "the caching allocator maps memory page by page", "true", "false",
     set_choice<&RunSpec::expandable_segments, kSwitches>},
    {"offload_optimizer", "share",
     "parameters whose optimizer state lives in host memory and is updated there", "100%", "0%",
     set_offload_optimizer},
    {"offload_weights", kSwitch, "sharded weights live in host memory and are copied when they are gathered",
     "true", "false", set_choice<&RunSpec::offload_weights, kSwitches>},
    {"offload_layers", kInteger, "layers of a stage whose saved activations wait in host memory", "8", "none",
     set_whole<&RunSpec::offload_layers, kMaxLayers>},
    {"memory_margin", "share", "part of the memory gate that a derived plan keeps free", "30%",
     "planning_margin of the constants, 30%", set_margin},
    {"tokens", "tokens", "tokens of the whole training", "15T-tokens", "none: costs are those of 30 days",
     set_tokens},
    {"confidence", "share",
     "part of measured runs that printed ranges hold, 50% to 95%; limits are then held against the worse end",
     "80%", "80%, and limits are held against the prediction itself", set_confidence},
    {"min_mfu", "share", "limit: least MFU", "40%", "no limit", set_min_mfu},
    {"max_step_time", "time", "limit: longest step", "5s", "no limit", set_max_step},
    {"max_memory", "size", "limit: most memory of one GPU", "70GiB", "no limit", set_max_memory},
};

std::string underscored(std::string_view key) {
  std::string out(key);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::vector<std::string_view> keys() {
  std::vector<std::string_view> out;
  for (const RunField& f : kFields) out.push_back(f.key);
  return out;
}

}  // namespace

std::span<const RunField> run_fields() { return kFields; }

const RunField* find_run_field(std::string_view key) {
  const std::string wanted = underscored(key);
  for (const RunField& f : kFields)
    if (f.key == wanted) return &f;
  return nullptr;
}

bool set_field(RunSpec& run, std::string_view key, std::string_view text, Issues& issues,
               const Issue& where) {
  Issue issue = where;
  const RunField* field = find_run_field(key);
  if (issue.pointer.empty()) {
    issue.pointer = option_of(field != nullptr ? field->key : key);
  }
  if (field == nullptr) {
    issue.got = clipped(key);
    refuse(issue, "unknown-key", "be a field of a run", suggestion(underscored(key), keys()));
  } else {
    issue.got = clipped(text);
    if (field->set(run, stripped(text), issue)) return true;
  }
  issues.add(std::move(issue));
  return false;
}

bool set_pins(RunSpec& run, std::string_view pins, Issues& issues, const Issue& where) {
  bool ok = true;
  std::vector<std::string> seen;
  const auto repeats = [&](std::string_view key) {
    const RunField* field = find_run_field(key);
    if (field == nullptr) return false;
    if (std::find(seen.begin(), seen.end(), field->key) == seen.end())
      return seen.emplace_back(field->key), false;
    Issue issue = where;
    if (issue.pointer.empty()) issue.pointer = "--pin";
    issue.got = clipped(key);
    refuse(issue, "twice", "be pinned once", "leave one of the two out");
    issues.add(std::move(issue));
    return true;
  };
  while (!pins.empty()) {
    const std::size_t end = std::min(pins.find(','), pins.size());
    const std::string_view pin = stripped(pins.substr(0, end));
    pins.remove_prefix(std::min(end + 1, pins.size()));
    const std::size_t equals = pin.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view key = stripped(pin.substr(0, equals));
      ok = !repeats(key) && set_field(run, key, pin.substr(equals + 1), issues, where) && ok;
      continue;
    }
    Issue issue = where;
    if (issue.pointer.empty()) issue.pointer = "--pin";
    issue.got = clipped(pin);
    refuse(issue, "pin", "be FIELD=VALUE, several joined by commas", "try tp=8,pp=4");
    issues.add(std::move(issue));
    ok = false;
  }
  return ok;
}

}  // namespace trainplan
