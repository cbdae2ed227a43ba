#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "find_config.hpp"
#include "framework_checkpoint.hpp"
#include "framework_rules.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/suggest.hpp"

namespace trainplan {
namespace {

constexpr Named<Group> kGroups[] = {{"none", Group::None},
                                    {"data-parallel", Group::DataParallel},
                                    {"shard", Group::Shard},
                                    {"replicate", Group::Replicate}};
constexpr Named<When> kWhens[] = {{"always", When::Always},
                                  {"reshard", When::Reshard},
                                  {"no-reshard", When::NoReshard},
                                  {"deferred-sync", When::DeferredSync},
                                  {"sync-each-micro-batch", When::SyncEachMicroBatch},
                                  {"gradient-16bit", When::Gradient16Bit},
                                  {"moments-16bit", When::Moments16Bit},
                                  {"gathered-once", When::GatheredOnce},
                                  {"gathered-each-micro-batch", When::GatheredEachMicroBatch}};
/// Moments exist from the first optimizer step on; a gradient from the first backward pass to the optimizer.
constexpr Phases kAfterFirstStep = static_cast<Phases>(kAlways & ~bit(Phase::Load));
constexpr Named<Phases> kLives[] = {{"always", kAlways},
                                    {"after-first-step", kAfterFirstStep},
                                    {"gradient", kGradientPhases},
                                    {"backward", kBackwardPhases},
                                    {"optimizer", bit(Phase::Optimizer)}};
constexpr Named<Collective> kCollectives[] = {{"all-reduce", Collective::AllReduce},
                                              {"reduce-scatter", Collective::ReduceScatter},
                                              {"all-gather", Collective::AllGather}};
constexpr Named<Times> kTimes[] = {{"step", Times::PerStep}, {"micro-batch", Times::PerMicroBatch}};
constexpr Named<HidesBehind> kHidings[] = {{"nothing", HidesBehind::Nothing},
                                           {"last-backward", HidesBehind::LastBackward},
                                           {"next-forward", HidesBehind::NextForward},
                                           {"compute", HidesBehind::Compute}};
constexpr Named<Width> kWidths[] = {{"gradient_dtype", Width::GradientDType},
                                    {"reduce_dtype", Width::ReduceDType},
                                    {"moment_dtype", Width::MomentDType}};
constexpr Named<SelectivePolicy> kPolicies[] = {{"modules", SelectivePolicy::Modules},
                                                {"every-second-matmul", SelectivePolicy::EverySecondMatmul},
                                                {"none", SelectivePolicy::None}};
constexpr Named<PipelineBuffers> kBuffers[] = {{"none", PipelineBuffers::None},
                                               {"torch", PipelineBuffers::Torch}};
constexpr Named<bool> kStateGroups[] = {{"each", false}, {"largest", true}};

constexpr Named<UnevenStages> kUneven[] = {
    {"none", UnevenStages::None}, {"counted", UnevenStages::Counted}, {"by-one", UnevenStages::ByOne}};

constexpr std::string_view kProfileKeys[] = {"name",
                                             "version",
                                             "default_sharding",
                                             "default_gradient_dtype",
                                             "vocabulary",
                                             "uneven_stages",
                                             "low_gathers",
                                             "low_operands",
                                             "low_weights",
                                             "trains_mtp",
                                             "expert_parallel",
                                             "expert_tensor_parallel",
                                             "replicates_key_value",
                                             "schedules",
                                             "loss",
                                             "scratch_gradients",
                                             "head_gather",
                                             "compile",
                                             "stack",
                                             "compiled_stack",
                                             "fused_mlp",
                                             "weights_expert_output",
                                             "selective_recompute",
                                             "pipeline_buffers",
                                             "reduce_bucket",
                                             "workspace",
                                             "host",
                                             "checkpoint",
                                             "flop_convention",
                                             "rank_order",
                                             "shardings",
                                             "flags",
                                             "rules",
                                             "notes"};
constexpr std::string_view kVocabularyKeys[] = {"multiple", "times_tp", "source"};
constexpr std::string_view kLossKeys[] = {"default", "kernels"};
constexpr std::string_view kLossRowKeys[] = {"kind",         "beside_logits", "beside_logits_tp",
                                             "frees_logits", "chunks",        "source"};
constexpr std::string_view kWorkspaceKeys[] = {"base", "last_stage", "grouped"};
constexpr std::string_view kShardingKeys[] = {
    "mode",           "title", "flags",   "with_pipeline", "pipeline_keeps_whole", "gathered_units",
    "gradient_units", "state", "traffic", "notes",         "with_experts",         "gradient_as_weights",
    "shard_groups",   "host",  "weight"};
constexpr std::string_view kWeightKeys[] = {"kept", "gathered", "released", "master", "source"};
constexpr std::string_view kHostRowKeys[] = {"optimizer", "weights", "partial", "source"};
constexpr std::string_view kHostUseKeys[] = {"layers",       "together", "gradient_bytes",
                                             "weight_bytes", "buffers",  "source"};
constexpr Named<LayerOffload> kLayerOffloads[] = {
    {"none", LayerOffload::None}, {"saved", LayerOffload::Saved}, {"kept", LayerOffload::Kept}};
constexpr std::string_view kStateKeys[] = {"id",    "symbol", "title", "bytes_per_param", "sharded_over",
                                           "alive", "when",   "group", "source"};
constexpr std::string_view kTrafficKeys[] = {
    "id",    "symbol", "title",        "collective", "bytes_per_param",
    "group", "times",  "hides_behind", "when",       "source"};

std::string required_text(const Reader& in, std::string_view key, std::string_view example) {
  in.require(key, example);
  const auto text = in.string(key);
  if (text && text->empty()) in.refuse(key, "empty-text", "not be empty", "try " + std::string(example));
  return text.value_or("");
}

/// A number, or the name of the type that decides it.
void read_width(const Reader& in, Width& width, double& bytes) {
  constexpr std::string_view kKey = "bytes_per_param";
  if (!in.require(kKey, "2")) return;
  if (in.node().find(std::string(kKey))->is_string()) {
    width = in.choice(kKey, kWidths).value_or(Width::GradientDType);
    return;
  }
  bytes = in.real(kKey, 0.125, kMaxBytesPerParam).value_or(0);
}

StateRow read_state(const Reader& in) {
  in.allow(kStateKeys);
  StateRow row;
  row.id = required_text(in, "id", "\"weights\"");
  row.symbol = required_text(in, "symbol", "\"M_w\"");
  row.title = required_text(in, "title", "\"bf16 weights\"");
  row.source = in.string("source").value_or("");
  read_width(in, row.width, row.bytes_per_param);
  row.sharded_over = in.choice("sharded_over", kGroups).value_or(row.sharded_over);
  row.alive = in.choice("alive", kLives).value_or(row.alive);
  row.when = in.choice("when", kWhens).value_or(row.when);
  row.largest_group = in.choice("group", kStateGroups).value_or(false);
  return row;
}

CommRow read_traffic(const Reader& in) {
  in.allow(kTrafficKeys);
  CommRow row;
  row.id = required_text(in, "id", "\"reduce_scatter\"");
  row.symbol = required_text(in, "symbol", "\"V_rs\"");
  row.title = required_text(in, "title", "\"gradient reduce-scatter\"");
  row.source = in.string("source").value_or("");
  in.require("collective", "\"reduce-scatter\"");
  row.collective = in.choice("collective", kCollectives).value_or(row.collective);
  read_width(in, row.width, row.bytes_per_param);
  row.group = in.choice("group", kGroups).value_or(row.group);
  in.require("times", "\"step\"");
  row.times = in.choice("times", kTimes).value_or(row.times);
  row.hides = in.choice("hides_behind", kHidings).value_or(row.hides);
  row.when = in.choice("when", kWhens).value_or(row.when);
  return row;
}

HostRows read_host_rows(const Reader& in) {
  in.allow(kHostRowKeys);
  return {in.strings("optimizer"), in.strings("weights"), in.boolean("partial").value_or(false),
          in.string("source").value_or("")};
}

/// All of it or nothing: half a life would be compared with whole ones.
WeightLife read_weight(const Reader& in) {
  in.allow(kWeightKeys);
  return {required_text(in, "kept", "\"1/d of it\""),
          required_text(in, "gathered", "\"before its layer runs forward, every micro-batch\""),
          required_text(in, "released", "\"after its layer has run\""),
          required_text(in, "master", "\"fp32, 1/d of it on each rank\""),
          required_text(in, "source", "\"torchtitan/distributed/fsdp.py\"")};
}

void read_host_use(const Reader& in, HostUse& h) {
  in.allow(kHostUseKeys);
  h.layers = in.choice("layers", kLayerOffloads).value_or(h.layers);
  h.together = in.boolean("together").value_or(h.together);
  h.gradient_bytes = in.real("gradient_bytes", 0, kMaxBytesPerParam).value_or(h.gradient_bytes);
  h.weight_bytes = in.real("weight_bytes", 0, kMaxBytesPerParam).value_or(h.weight_bytes);
  h.buffers = in.real("buffers", 1, 16).value_or(h.buffers);
  h.source = in.string("source").value_or("");
}

ShardingRows read_sharding(const Reader& in) {
  in.allow(kShardingKeys);
  ShardingRows rows;
  in.require("mode", "\"zero1\"");
  rows.mode = in.choice("mode", kShardings).value_or(rows.mode);
  rows.title = required_text(in, "title", "\"distributed optimizer\"");
  rows.flags = in.string("flags").value_or("");
  rows.with_pipeline = in.boolean("with_pipeline").value_or(true);
  rows.with_experts = in.boolean("with_experts").value_or(true);
  rows.shard_groups = in.boolean("shard_groups").value_or(false);
  rows.gradient_as_weights = in.boolean("gradient_as_weights").value_or(false);
  rows.pipeline_keeps_whole = in.boolean("pipeline_keeps_whole").value_or(false);
  rows.gathered_units = in.real("gathered_units", 0, 1024).value_or(0);
  rows.gradient_units = in.real("gradient_units", 0, 1024).value_or(0);
  for (const Reader& row : in.objects("state")) rows.state.push_back(read_state(row));
  for (const Reader& row : in.objects("traffic")) rows.traffic.push_back(read_traffic(row));
  if (const auto host = in.object("host")) rows.host = read_host_rows(*host);
  if (const auto weight = in.object("weight")) rows.weight = read_weight(*weight);
  return rows;
}

/// A text is a flag that the value follows; an object has the setting of each value.
void read_flags(const Reader& in, FrameworkProfile& f) {
  in.allow(kLaunchFields);
  for (const std::string_view key : kLaunchFields) {
    if (!in.has(key)) continue;
    const nlohmann::json& value = *in.node().find(std::string(key));
    LaunchFlag flag{std::string(key), "", {}};
    if (!value.is_object()) {
      flag.flag = in.string(key).value_or("");
    } else if (const auto settings = in.object(key)) {
      for (const auto& [name, setting] : value.items())
        if (!name.starts_with('_'))
          if (auto text = settings->string(name)) flag.settings.emplace_back(name, std::move(*text));
    }
    f.flags.push_back(std::move(flag));
  }
}

void read_losses(const Reader& in, FrameworkProfile& f) {
  in.allow(kLossKeys);
  in.require("default", "\"native\"");
  f.default_loss = in.choice("default", kLosses).value_or(f.default_loss);
  in.require("kernels", "[{\"kind\": \"native\", ...}]");
  f.losses.clear();
  for (const Reader& row : in.objects("kernels")) {
    row.allow(kLossRowKeys);
    LossRow loss;
    row.require("kind", "\"native\"");
    loss.kind = row.choice("kind", kLosses).value_or(loss.kind);
    row.require("beside_logits", "4");
    loss.beside = row.real("beside_logits", 0, kMaxBytesPerParam).value_or(loss.beside);
    loss.beside_tp = row.real("beside_logits_tp", 0, kMaxBytesPerParam);
    loss.frees_logits = row.boolean("frees_logits").value_or(false);
    loss.chunks = row.integer("chunks", 1, kMaxDegree).value_or(1);
    loss.source = row.string("source").value_or("");
    f.losses.push_back(std::move(loss));
  }
}

void read_memory(const Reader& in, FrameworkProfile& f) {
  f.scratch_gradients = in.boolean("scratch_gradients").value_or(f.scratch_gradients);
  f.head_gather = in.boolean("head_gather").value_or(f.head_gather);
  f.compiles = in.boolean("compile").value_or(f.compiles);
  f.fuses_mlp = in.boolean("fused_mlp").value_or(f.fuses_mlp);
  f.weights_expert_output = in.boolean("weights_expert_output").value_or(f.weights_expert_output);
  f.selective = in.choice("selective_recompute", kPolicies).value_or(f.selective);
  f.reduce_bucket = in.real("reduce_bucket", 1, 1e12).value_or(f.reduce_bucket);
  f.pipeline_buffers = in.choice("pipeline_buffers", kBuffers).value_or(f.pipeline_buffers);
}

void read_parts(const Reader& in, FrameworkProfile& f) {
  if (const auto vocabulary = in.object("vocabulary")) {
    vocabulary->allow(kVocabularyKeys);
    f.vocabulary_multiple = vocabulary->integer("multiple", 1, kMaxDegree).value_or(1);
    f.vocabulary_times_tp = vocabulary->boolean("times_tp").value_or(false);
  }
  if (const auto loss = in.object("loss")) read_losses(*loss, f);
  if (const auto workspace = in.object("workspace")) {
    workspace->allow(kWorkspaceKeys);
    workspace->figure("base", kBytes, f.workspace.base);
    workspace->figure("last_stage", kBytes, f.workspace.last_stage);
    workspace->figure("grouped", kBytes, f.workspace.grouped);
  }
  if (const auto host = in.object("host")) read_host_use(*host, f.host);
  if (const auto checkpoint = in.object("checkpoint")) read_checkpoint(*checkpoint, f);
  if (const auto flags = in.object("flags")) read_flags(*flags, f);
  if (const auto rules = in.object("rules")) f.rules = read_framework_rules(*rules);
}

/// Names that are none leave an issue behind.
Schedules read_schedules(const Reader& in) {
  Schedules out = 0;
  for (const std::string& name : in.strings("schedules")) {
    const auto* const found = std::ranges::find(kSchedules, std::string_view(name), &Named<Schedule>::name);
    if (found != std::end(kSchedules))
      out = static_cast<Schedules>(out | bit(found->value));
    else
      in.refuse("schedules", "choice", "be an array of names of schedules",
                suggestion(name, names_of(kSchedules, false)));
  }
  return out;
}

FrameworkProfile read_profile(const Reader& in) {
  in.allow(kProfileKeys);
  FrameworkProfile f;
  f.origin = in.document().origin;
  f.id = config_name(f.origin);
  f.name = required_text(in, "name", "\"Megatron-LM\"");
  f.version = required_text(in, "version", "\"core 0.20.0\"");
  in.require("default_sharding", "\"zero1\"");
  f.default_sharding = in.choice("default_sharding", kShardings).value_or(f.default_sharding);
  f.default_gradient = in.choice("default_gradient_dtype", kDTypes).value_or(f.default_gradient);
  f.uneven_stages = in.choice("uneven_stages", kUneven).value_or(f.uneven_stages);
  f.low_gathers = in.boolean("low_gathers").value_or(f.low_gathers);
  f.low_operands = in.boolean("low_operands").value_or(f.low_operands);
  f.low_weights = in.boolean("low_weights").value_or(f.low_weights);
  f.trains_mtp = in.boolean("trains_mtp").value_or(f.trains_mtp);
  f.expert_parallel = in.boolean("expert_parallel").value_or(f.expert_parallel);
  f.expert_tensor_parallel = in.boolean("expert_tensor_parallel").value_or(f.expert_tensor_parallel);
  f.replicates_key_value = in.boolean("replicates_key_value").value_or(f.replicates_key_value);
  if (in.has("schedules")) f.schedules = read_schedules(in);
  f.causal_flops =
      in.choice("flop_convention", kConventions).value_or(FlopConvention::Causal) == FlopConvention::Causal;
  f.stack = in.choice("stack", kStacks).value_or(f.stack);
  f.compiled_stack = in.choice("compiled_stack", kStacks);
  f.rank_order = in.string("rank_order").value_or(f.rank_order);
  read_memory(in, f);
  read_parts(in, f);
  in.require("shardings", "[{\"mode\": \"zero1\", ...}]");
  for (const Reader& rows : in.objects("shardings")) f.shardings.push_back(read_sharding(rows));
  return f;
}

std::optional<Checked<FrameworkProfile>> read_framework(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  auto checked = Checked<FrameworkProfile>::make(read_profile(Reader(doc, issues)), issues);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : checked;
}

}  // namespace

std::optional<Checked<FrameworkProfile>> load_framework(std::string_view name_or_path, Issues& issues) {
  const auto doc = find_config("frameworks", name_or_path, issues);
  return doc ? read_framework(*doc, issues) : std::nullopt;
}

std::optional<Checked<FrameworkProfile>> load_framework_text(std::string_view text, std::string_view file,
                                                             Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_framework(*doc, issues) : std::nullopt;
}

}  // namespace trainplan
