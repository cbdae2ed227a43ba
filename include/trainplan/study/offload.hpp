/// `study offload`: what copies to the host cost, where gradients become fp32, and what the host must hold.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "trainplan/cost/cast.hpp"
#include "trainplan/cost/comm.hpp"
#include "trainplan/cost/memory.hpp"
#include "trainplan/cost/offload.hpp"
#include "trainplan/study/of_plan.hpp"
#include "trainplan/study/parts.hpp"
#include "trainplan/study/topic.hpp"

namespace trainplan::study {
namespace detail::offload {

/// Parameters of a GPU that the host updates, or would if the optimizer were there.
inline std::optional<double> updated_of(const Planned& p) {
  if (const auto updated = p.item("host.updated")) return updated;
  const auto moment = p.item("memory.state.moment1");
  return moment ? std::optional(*moment / bytes_of(p.trial().problem.recipe.moments)) : std::nullopt;
}
/// In bf16.
inline std::optional<double> gradients_of(const Planned& p) {
  if (const auto copied = p.item("host.gradients_copied")) return copied;
  const auto updated = updated_of(p);
  return updated ? std::optional(bytes_of(DType::Bf16) * *updated) : std::nullopt;
}

inline constexpr Input<kBytes> kGradients{
    {"gradients", "V_16", "bf16 gradients that go to the host", 1, 1e18},
    {.example = "96MiB", .of_plan = &gradients_of}};
inline constexpr Input<kBytes - kSeconds> kLink{
    {"link", "W_host", "rate of copies between a GPU and its host, one direction", 1, 1e15},
    {.example = "32GB/s", .required = true, .of_plan = [](const Planned& p) {
       return known(cluster_of(p).host_link);
     }}};
inline constexpr Input<kBytes - kSeconds> kHost{{"host", "W_mem_host", "rate of the host's memory", 1, 1e15},
                                                {.example = "307.2GB/s", .of_plan = [](const Planned& p) {
                                                   return known(cluster_of(p).host_bandwidth);
                                                 }}};
inline constexpr Input<kCount> kChannels{
    {"channels", "n_ch", "memory channels of the host, in place of its rate", 1, 1024}, {.example = "8"}};
inline constexpr Input<Dim{} - kSeconds> kTransfers{
    {"transfers", "r_ch", "transfers of a channel in a second, 8 bytes each", 1, 1e12},
    {.example = "4800M/s"}};
inline constexpr Input<kBytes - kSeconds> kGpu{{"gpu", "W_mem", "rate of the GPU's memory", 1, 1e16},
                                               {.example = "1008GB/s", .of_plan = [](const Planned& p) {
                                                  return known(cluster_of(p).accelerator.memory_bandwidth);
                                                }}};
inline constexpr Input<kBytes> kUp{{"up", "V_up", "bytes from the host in a window", 0, 1e18},
                                   {.example = "1GB"}};
inline constexpr Input<kBytes> kDown{{"down", "V_down", "bytes to the host in a window", 0, 1e18},
                                     {.example = "0B", .otherwise = 0, .why = "none"}};
inline constexpr Input<kSeconds> kWindow{{"window", "t_win", "work to hide the copies behind", 0, 1e9},
                                         {.example = "20ms"}};
inline constexpr Input<kParams> kParamsUpdated{
    {"params", "N_gpu", "parameters of a GPU whose optimizer is on the host", 1, 1e15},
    {.example = "1B", .of_plan = &updated_of}};
inline constexpr Input<kCount> kGpus{
    {"gpus_per_node", "G_node", "GPUs that share the host", 1, 1024},
    {.example = "8", .of_plan = [](const Planned& p) {
       return std::optional(static_cast<double>(cluster_of(p).gpus_per_node));
     }}};
inline constexpr Input<kBytes - kParams> kWidth{
    {"width", "w_host", "bytes of a parameter that stay on the host", 0, 64},
    {.example = "16B/param", .otherwise = 16, .why = "fp32 master, gradient and two moments"}};
inline constexpr Input<kCount> kBuffers{{"buffers", "f_buf", "host memory over what is counted", 1, 16},
                                        {.example = "1.5", .otherwise = 1.5, .why = "DeepSpeed, stage3.py"}};
inline constexpr Input<kBytes> kHostMemory{
    {"host_memory", "C_host", "memory of a node", 1, 1e18},
    {.example = "2TB",
     .of_plan = [](const Planned& p) { return known(cluster_of(p).host_memory); },
     .unit = Unit::Traffic}};

inline constexpr std::array<const Field*, 14> kFields{
    &kGradients, &kLink,   &kHost,          &kChannels, &kTransfers, &kGpu,     &kUp,
    &kDown,      &kWindow, &kParamsUpdated, &kGpus,     &kWidth,     &kBuffers, &kHostMemory};

inline bool knows_host(const Given& g) { return g.has(kHost) || (g.has(kChannels) && g.has(kTransfers)); }
inline bool knows_cast(const Given& g) { return g.has(kGradients) && knows_host(g) && g.has(kGpu); }
inline bool knows_wait(const Given& g) { return g.has(kUp) && g.has(kWindow); }

inline constexpr std::array<const Field*, 2> kWhole{&kChannels, &kGpus};

inline constexpr std::array<const Field*, 2> kCastNeeds{&kGradients, &kGpu}, kWaitNeeds{&kUp, &kWindow},
    kChannelNeeds{&kChannels, &kTransfers}, kTransferNeeds{&kTransfers, &kChannels};
inline constexpr std::array<const Field*, 1> kUpdateNeeds{&kParamsUpdated}, kWaitExtra{&kDown};
inline constexpr std::array<const Field*, 3> kHostExtra{&kHost, &kChannels, &kTransfers};
inline constexpr std::array<const Field*, 7> kUpdateExtra{&kHost,  &kChannels, &kTransfers, &kGpus,
                                                          &kWidth, &kBuffers,  &kHostMemory};
inline constexpr std::array kParts{Part{"the cast", kCastNeeds, kHostExtra},
                                   Part{"a wait", kWaitNeeds, kWaitExtra},
                                   Part{"the optimizer step", kUpdateNeeds, kUpdateExtra}};
/// The rate of the host in another way.
inline constexpr std::array kHostParts{Part{"the rate of the host", kChannelNeeds},
                                       Part{"the rate of the host", kTransferNeeds}};

inline void judge(const Given& given, Issues& issues) {
  judge_either(given, kHost, kChannels, issues);
  judge_either(given, kHost, kTransfers, issues);
  judge_asked(kHostParts, {}, given, issues);
  if (is_asked(given, kGradients) && !given.has_or_refused(kHost) && !given.has_or_refused(kChannels))
    issues.add({.rule = "missing",
                .pointer = option_of(kHost.arg.name),
                .must = "be given with --gradients, for the cast, or --channels and --transfers: " +
                        std::string(kHost.arg.meaning),
                .hint = to_try(kHost)});
  judge_parts(kParts, kFields, given, issues);
  judge_whole(given, kWhole, issues);
}

inline BytesPerSec<Sym> host_rate(Explain& rec, const Given& given) {
  if (const auto said = given.maybe(rec, kHost)) return *said;
  return rec.apply(channels_rate, {"offload.host_rate", "W_mem_host", ""}, given.in(rec, kChannels),
                   given.in(rec, kTransfers), rec.in<Bytes<Sym>>({"w_ch", "bytes of a transfer", "DDR"}, 8));
}

/// Copy bf16 and cast on the host, or cast on the GPU and copy fp32.
inline Section cast_section(Explain& rec, const Given& given, Report& r) {
  const auto v = given.in(rec, kGradients);
  const auto link = given.in(rec, kLink), host = host_rate(rec, given), gpu = given.in(rec, kGpu);
  const auto on_host = rec.apply(cast_on_host, {"offload.on_host", "T_c", ""}, v, link, host);
  const auto on_gpu = rec.apply(cast_on_gpu, {"offload.on_gpu", "T_g", ""}, v, link, gpu);
  const auto peak = rec.apply(cast_peak, {"offload.gpu_peak", "M_cast", ""}, v);
  Table t{"ways",
          "",
          {{"where", "cast on"},
           {"copy", "copy"},
           {"cast", "cast"},
           {"total", "total"},
           {"gpu_memory", "memory of the GPU"}},
          {}};
  const auto time = [&](const char* id, const auto& formula, Bytes<Sym> bytes,
                        BytesPerSec<Sym> rate) -> Cell {
    return Value{value_of(rec.apply(formula, {id, id, ""}, bytes, rate)), Unit::Time};
  };
  t.rows.push_back({std::string("host"), time("offload.host_copy", transfer_time, v, link),
                    time("offload.host_cast", cast_time, v, host), Value{value_of(on_host), Unit::Time},
                    Value{value_of(v), Unit::Memory}});
  t.rows.push_back({std::string("GPU"), time("offload.gpu_copy", transfer_time, 2.0 * v, link),
                    time("offload.gpu_cast", cast_time, v, gpu), Value{value_of(on_gpu), Unit::Time},
                    Value{value_of(peak), Unit::Memory}});
  const bool host_wins = value_of(on_host) <= value_of(on_gpu);
  r.headline = {host_wins ? "copy bf16 and cast on the host: " : "cast on the GPU and copy fp32: ",
                Value{value_of(host_wins ? on_host : on_gpu), Unit::Time}, " instead of ",
                Value{value_of(host_wins ? on_gpu : on_host), Unit::Time}};
  Facts f{"", {}};
  if (value_of(host) < value_of(gpu)) {
    const auto slower = rec.apply(
        link_ratio, {"offload.slower", "x_mem", "memory of the host over that of the GPU"}, host, gpu);
    const auto even =
        rec.apply(cast_break_even, {"offload.break_even", "W_even", "link from which the GPU should cast"},
                  host, slower);
    add_fact(f, rec.ledger(), "offload.break_even", "break_even", Unit::ByteRate,
             value_of(link) < value_of(even) ? "this link is slower" : "this link is as fast or faster");
  } else {
    f.facts.push_back({"break_even", "link from which the GPU should cast", std::string("none"),
                       "the host's memory is as fast as the GPU's", ""});
  }
  return {"cast", "Where bf16 becomes fp32", {std::move(t), std::move(f)}};
}

inline Section wait_section(Explain& rec, const Given& given) {
  rec.apply(offload_wait, {"offload.wait", "T_wait", "wait that the work does not hide"}, given.in(rec, kUp),
            given.in(rec, kDown), given.in(rec, kLink), given.in(rec, kWindow));
  Facts f{"", {}};
  add_fact(f, rec.ledger(), "offload.wait", "wait", Unit::Time);
  return {"wait", "Copies in a window", {std::move(f)}};
}

/// All GPUs of a node copy at once, each on its own link, and share the host's memory.
inline Section optimizer_section(Explain& rec, const Given& given, Report& r) {
  const auto params = given.in(rec, kParamsUpdated);
  Facts f{"", {}};
  const auto gradient =
      params * rec.in<BytesPerParam<Sym>>({"w_g", "bytes of a gradient that is copied", "bf16"}, 2);
  const auto weight =
      params * rec.in<BytesPerParam<Sym>>({"w_w", "bytes of a weight that comes back", "bf16"}, 2);
  const auto link = given.in(rec, kLink);
  const auto down =
      rec.apply(transfer_time, {"offload.down", "t_down", "gradients to the host"}, gradient, link);
  const auto up = rec.apply(transfer_time, {"offload.up", "t_up", "weights to the GPU"}, weight, link);
  add_fact(f, rec.ledger(), "offload.down", "down", Unit::Time);
  if (const auto gpus = given.maybe(rec, kGpus)) {
    const auto node =
        rec.item({"offload.node_params", "N_node", "parameters that the node updates"}, params * *gpus);
    if (knows_host(given)) {
      const auto update =
          rec.apply(host_update_time, {"offload.update", "t_u", ""}, node, host_rate(rec, given));
      add_fact(f, rec.ledger(), "offload.update", "update", Unit::Time, "at the full rate of the memory");
      rec.item({"offload.step", "t_opt", "optimizer step, nothing hidden"}, down + update + up);
    }
    const auto held =
        rec.apply(host_state, {"offload.host_memory", "H_node", ""}, node, given.in(rec, kWidth),
                  given.in(rec, kBuffers), rec.in<Count<Sym>>({"n_node", "nodes", "one"}, 1));
    if (const auto has = given.number(kHostMemory)) {
      r.verdict = value_of(held) <= *has ? Verdict::Fits : Verdict::DoesNotFit;
      r.headline = {"the optimizer takes ", Value{value_of(held), Unit::Traffic}, " of the ",
                    Value{*has, Unit::Traffic}, " of a node"};
    }
  }
  add_fact(f, rec.ledger(), "offload.up", "up", Unit::Time);
  add_fact(f, rec.ledger(), "offload.step", "step", Unit::Time);
  add_fact(f, rec.ledger(), "offload.host_memory", "host_memory", Unit::Traffic);
  return {"optimizer", "Optimizer on the host", {std::move(f)}};
}

inline Report answer(Explain& rec, const Given& given, const Planned*) {
  Report r{"", "Offloading", Verdict::None, {}, {}};
  if (knows_cast(given)) r.sections.push_back(cast_section(rec, given, r));
  if (knows_wait(given)) r.sections.push_back(wait_section(rec, given));
  if (given.has(kParamsUpdated)) r.sections.push_back(optimizer_section(rec, given, r));
  return r;
}

}  // namespace detail::offload

inline constexpr Topic kOffload{
    "offload",
    "what copies to the host cost, where to cast, and what the host holds",
    "cast on the host: V/W_host + 3 V/W_mem_host; on the GPU: 3 V/W_mem + 2 V/W_host",
    detail::offload::kFields,
    &detail::offload::judge,
    &detail::offload::answer};

}  // namespace trainplan::study
