/// Sections that describe one plan: memory, activations, compute, communication, step, checkpoint, cost.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/base/quantity.hpp"
#include "trainplan/cost/plan_cost.hpp"
#include "trainplan/derive/trial.hpp"
#include "trainplan/report/build.hpp"
#include "trainplan/report/ranges.hpp"

namespace trainplan {

namespace detail {

inline Cell count_cell(std::int64_t n) { return Value{static_cast<double>(n), Unit::Count}; }
template <Dim D>
Cell cell(Quantity<D> q, Unit unit) {
  return Value{q.num(), unit};
}

inline Table stage_table(const Trial& t) {
  Table table{"stages",
              "Each pipeline stage (one GPU of it)",
              {{"stage", "stage"},
               {"layers", "layers"},
               {"in_flight", "micro-batches in flight"},
               {"params", "parameters"},
               {"state", "state"},
               {"activations", "activations"},
               {"logits", "logits"},
               {"allocated", "allocated"},
               {"device", "device total"}},
              {}};
  for (int s = 0; s < t.plan.pp; ++s) {
    const auto c = evaluate_stage(t.problem, t.plan, s);
    table.rows.push_back({count_cell(s), count_cell(stage_layers(t.problem.model(), t.plan, s)),
                          cell(c.memory.activations.in_flight, Unit::Count),
                          cell(c.memory.params.stage, Unit::Params), cell(c.memory.state, Unit::Memory),
                          cell(c.memory.activations.saved, Unit::Memory), cell(c.memory.logits, Unit::Memory),
                          cell(c.memory.allocated, Unit::Memory), cell(c.memory.device, Unit::Memory)});
  }
  return table;
}

inline Table phase_table(const Trial& t) {
  Table table{"phases",
              "The peak is a maximum over time (fullest GPU)",
              {{"phase", "phase"}, {"id", "id"}, {"allocated", "allocated"}},
              {}};
  for (std::size_t i = 0; i < kPhases; ++i)
    table.rows.push_back({std::string(kPhaseTitles[i]), "memory.phase." + std::string(kPhaseIds[i]),
                          cell(t.cost.memory.phases[i], Unit::Memory)});
  return table;
}

/// How a class of weights is cut between GPUs.
inline std::string cut_text(WeightClass c, const Plan& p) {
  switch (c) {
    case WeightClass::Attention:
    case WeightClass::Mlp:
    case WeightClass::Shared:
    case WeightClass::Tables: return "TP " + std::to_string(p.tp);
    case WeightClass::Experts: return "ETP " + std::to_string(p.etp) + " x EP " + std::to_string(p.ep);
    case WeightClass::Latent:
    case WeightClass::Router:
    case WeightClass::Norms:
    case WeightClass::Further: break;
  }
  return p.tp == 1 ? "TP 1" : c == WeightClass::Further ? "as its parts" : "whole on every TP rank";
}

/// State by class, each with the group that shares it.
inline Table class_table(const Trial& t, const Ledger& ledger) {
  const Plan& p = t.plan;
  Table table{"classes",
              "State by what the weights are for (fullest GPU)",
              {{"class", "weights"},
               {"parameters", "parameters"},
               {"cut", "cut by"},
               {"ranks", "data parallel ranks"},
               {"per_param", "bytes per parameter"},
               {"state", "state"}},
              {}};
  for (std::size_t i = 0; i < kWeightClasses; ++i) {
    const LineItem* state = ledger.find("memory.state_of." + std::string(kWeightClassIds[i]));
    if (state == nullptr) continue;
    const auto c = static_cast<WeightClass>(i);
    const bool experts = c == WeightClass::Experts;
    const double held = t.cost.memory.params.classes[i].num();
    table.rows.push_back({std::string(kWeightClassTitles[i]), Value{held, Unit::Params}, cut_text(c, p),
                          count_cell(experts ? expert_dp(p) : std::int64_t{p.dp} * p.cp),
                          Value{state->value / held, Unit::BytesPerParam},
                          Value{state->value, Unit::Memory}});
  }
  return table;
}

}  // namespace detail

inline Section memory_section(const Trial& t, const Ledger& ledger) {
  const auto& accelerator = t.problem.cluster().accelerator;
  Section s{"memory", "Memory of the fullest GPU: stage " + std::to_string(t.cost.stage), {}};
  s.blocks.push_back(lines_of(ledger, "ledger", "memory.device", Unit::MemoryBoth, 5));
  Facts facts{"capacity", {device_range_fact(t)}};
  facts.facts.push_back({"usable", "memory that the driver shows",
                         Value{t.cost.capacity.num(), Unit::MemoryBoth},
                         accelerator.name + (accelerator.usable_memory.assumed ? " (assumed)" : ""), ""});
  facts.facts.push_back(
      fact(ledger, "memory.reserved", "reserved", Unit::MemoryBoth, "allocated, and slack or idle blocks"));
  add_fact(facts, ledger, "memory.idle", "idle", Unit::MemoryBoth,
           "given back when memory runs short; not counted against the gate");
  facts.facts.push_back(
      fact(ledger, "memory.gate", "gate", Unit::MemoryBoth, "compared with the device total"));
  facts.facts.push_back(
      fact(ledger, "memory.limit", "planning_limit", Unit::MemoryBoth, "gate less the margin"));
  facts.facts.push_back(fact(ledger, "memory.state_average", "state_average", Unit::MemoryBoth));
  facts.facts.push_back(fact(ledger, "memory.state_per_param", "state", Unit::BytesPerParam,
                             t.problem.profile().id + ", " + std::string(name_of(t.plan.sharding))));
  add_fact(facts, ledger, "memory.state_per_expert_param", "state_experts", Unit::BytesPerParam);
  s.blocks.push_back(std::move(facts));
  s.blocks.push_back(detail::class_table(t, ledger));
  s.blocks.push_back(detail::stage_table(t));
  s.blocks.push_back(detail::phase_table(t));
  return s;
}

/// What a node holds for its GPUs, and what the copies and the update there take.
inline Section host_section(const Trial& t, const Ledger& ledger) {
  const ClusterSpec& c = t.problem.cluster();
  Section s{"host", "Memory of the host", {}};
  const bool layers = t.problem.recipe.offload.layers > 0, state = t.cost.host.state.num() > 0;
  const char* whole = layers && state ? "host.per_gpu" : state ? "host.state" : "host.activations";
  s.blocks.push_back(lines_of(ledger, "ledger", whole, Unit::MemoryBoth, 3));
  Facts f{"host", {}};
  f.facts.push_back(fact(ledger, "host.node", "node", Unit::MemoryBoth,
                         c.host_memory.known ? t.host_is_full() ? "does not fit" : "fits"
                                             : "host/memory of the cluster is not known"));
  if (c.host_memory.known)
    f.facts.push_back({"memory", "memory of a node", Value{c.host_memory.value, Unit::MemoryBoth},
                       c.host_memory.source + (c.host_memory.assumed ? " (assumed)" : ""), ""});
  add_fact(f, ledger, "host.rate", "rate", Unit::ByteRate, "one direction");
  add_fact(f, ledger, "host.memory_rate", "memory_rate", Unit::ByteRate, "of a node");
  for (const auto& [key, id] :
       {std::pair{"forward", "step.host_forward"}, std::pair{"backward", "step.host_backward"},
        std::pair{"copies", "step.host_copies"}, std::pair{"update", "step.host_update"}})
    add_fact(f, ledger, id, key, Unit::Time);
  add_fact(f, ledger, "step.exposed_host", "exposed", Unit::Time, "in the step");
  s.blocks.push_back(std::move(f));
  return s;
}

inline Section activation_section(const Ledger& ledger) {
  Section s{"activations", "Activations of one layer and micro-batch, tensor by tensor (one GPU)", {}};
  s.blocks.push_back(lines_of(ledger, "layer", "activations.layer", Unit::Memory, 1));
  for (const auto& [key, id] :
       {std::pair{"dense_layer", "activations.dense_layer"},
        std::pair{"sparse_layer", "activations.sparse_layer"}, std::pair{"rebuilt", "activations.rebuilt"}})
    if (ledger.find(id) != nullptr) s.blocks.push_back(lines_of(ledger, key, id, Unit::Memory, 1));
  return s;
}

inline Section parameter_section(const Ledger& ledger) {
  Section s{"parameters", "Parameters", {}};
  s.blocks.push_back(lines_of(ledger, "ledger", "params.total", Unit::Params, 1));
  Facts facts{"counts", {}};
  add_fact(facts, ledger, "params.layer", "layer", Unit::Params);
  add_fact(facts, ledger, "params.sparse_layer", "sparse_layer", Unit::Params);
  add_fact(facts, ledger, "params.expert", "expert", Unit::Params);
  add_fact(facts, ledger, "params.active", "active", Unit::Params, "of a token, both tables counted");
  add_fact(facts, ledger, "params.mtp_block", "mtp_block", Unit::Params, "beside the total");
  add_fact(facts, ledger, "params.stage_experts", "stage_experts", Unit::Params);
  add_fact(facts, ledger, "params.gemm", "gemm", Unit::Params, "N of 6N: without the input embedding");
  add_fact(facts, ledger, "params.stage", "stage", Unit::Params,
           "with the padded vocabulary; norms are whole on every tp rank");
  add_fact(facts, ledger, "params.padded_vocabulary", "padded_vocabulary", Unit::Count);
  s.blocks.push_back(std::move(facts));
  return s;
}

inline Section compute_section(const Trial& t, const Ledger& ledger) {
  Section s{"compute", "Compute", {}};
  Facts f{"flops", {}};
  f.facts.push_back(fact(ledger, "compute.flops_per_token_causal", "per_token_causal", Unit::FlopsPerToken,
                         "6 N in products, and attention, causal"));
  f.facts.push_back(fact(ledger, "compute.flops_per_token_full", "per_token_full", Unit::FlopsPerToken,
                         "6 N in products, and attention, full"));
  f.facts.push_back(fact(ledger, "compute.tokens_per_step", "tokens_per_step", Unit::Tokens));
  f.facts.push_back(
      fact(ledger, "compute.ideal_causal", "ideal_causal", Unit::Time, "at the dense bf16 peak"));
  f.facts.push_back(fact(ledger, "compute.ideal_full", "ideal_full", Unit::Time));
  if (t.plan.recompute != Recompute::None)
    f.facts.push_back(fact(ledger, "compute.recomputed_flops", "recomputed_per_token", Unit::FlopsPerToken));
  const FrameworkProfile& framework = t.problem.profile();
  f.facts.push_back({"framework_log", "attention in the log of " + framework.id,
                     std::string(framework.causal_flops ? "causal" : "full"), "", ""});
  for (const auto& [id, key] :
       {std::pair{"step.mfu", "mfu_causal"}, std::pair{"step.mfu_full", "mfu_full"}}) {
    f.facts.push_back(fact(ledger, id, key, Unit::Share));
    f.facts.back().cell = rate_estimate(t.problem, t.cost, {ledger.find(id)->value, Unit::Share});
  }
  f.facts.push_back(fact(ledger, "step.hfu", "hfu_causal", Unit::Share));
  f.facts.push_back(fact(ledger, "step.hfu_full", "hfu_full", Unit::Share));
  s.blocks.push_back(std::move(f));
  return s;
}

namespace detail {

/// What an axis does on the wire; hidden: what its overlap is called.
struct TrafficRow {
  std::string id, time_id, hidden;
  Axis axis;
};

inline void add_traffic(Table& table, const Trial& t, const Ledger& ledger, const TrafficRow& row) {
  const LineItem* item = ledger.find(row.id);
  if (item == nullptr) return;
  const ClusterSpec& c = t.problem.cluster();
  table.rows.push_back({item->title, row.id, std::string(name_of(c, link_of(c, group_of(t.plan, row.axis)))),
                        Value{item->value, Unit::Traffic}, Value{ledger.find(row.time_id)->value, Unit::Time},
                        row.hidden});
}

inline Table traffic_table(const Trial& t, const Ledger& ledger) {
  const Recipe& r = t.problem.recipe;
  Table table{"traffic",
              "",
              {{"what", "what"},
               {"id", "id"},
               {"link", "link"},
               {"sent", "sent"},
               {"time", "at link rate"},
               {"overlap", "overlap"}},
              {}};
  const bool hidden = r.tp_overlap && t.plan.sequence_parallel;
  const std::string tensor = hidden ? "part, see step.exposed_tp" : "exposed";
  add_traffic(table, t, ledger, {"comm.tp", "comm.tp_time", tensor, Axis::Tp});
  add_traffic(table, t, ledger, {"comm.tp_regather", "comm.tp_regather_time", tensor, Axis::Tp});
  add_traffic(table, t, ledger,
              {"comm.cp", "comm.cp_time", r.cp_mode == CpMode::Ring ? "compute" : "exposed", Axis::Cp});
  for (const CommRow& row : t.problem.profile().rows(t.plan.sharding)->traffic) {
    if (!applies(row.when, r, t.plan)) continue;
    static constexpr std::string_view behind[] = {"exposed", "last backward", "next forward", "compute"};
    const std::string hides(r.dp_overlap ? behind[static_cast<int>(row.hides)] : "exposed");
    for (const ParamClass kind : {ParamClass::Dense, ParamClass::Experts}) {
      const std::string id = "comm.dp." + row.id + (kind == ParamClass::Experts ? ".experts" : "");
      add_traffic(table, t, ledger, {id, id + "_time", hides, axis_of(t.plan, row.group, kind)});
    }
  }
  const std::string expert = r.ep_overlap ? "part, see step.exposed_ep" : "exposed";
  add_traffic(table, t, ledger, {"comm.ep", "comm.ep_time", expert, Axis::Ep});
  add_traffic(table, t, ledger, {"comm.etp", "comm.etp_time", expert, Axis::Etp});
  add_traffic(table, t, ledger, {"comm.tied", "comm.tied_time", "exposed", Axis::Pp});
  const bool interleaved = has_chunks(t.plan.schedule);
  add_traffic(table, t, ledger,
              {"comm.pp", "comm.pp_time", interleaved ? "other chunks" : "exposed", Axis::Pp});
  return table;
}

inline Table group_table(const Trial& t) {
  const ClusterSpec& c = t.problem.cluster();
  Table table{"groups",
              "Groups in rank order " + t.problem.profile().rank_order +
                  "; the link follows from the nodes that a group spans",
              {{"axis", "group"},
               {"size", "size"},
               {"members", "members with GPU 0"},
               {"nodes", "nodes"},
               {"link", "link"},
               {"bandwidth", "of a GPU, one way"}},
              {}};
  const auto add = [&](std::string name, Axis axis) {
    const GroupShape g = group_of(t.plan, axis);
    if (g.size == 1) return;
    const Link link = link_of(c, g);
    table.rows.push_back({std::move(name), count_cell(g.size), members_text(g),
                          count_cell(nodes_spanned(g, c.gpus_per_node)), std::string(name_of(c, link)),
                          Value{bandwidth_of(c, link).value, Unit::ByteRate}});
  };
  add("tp", Axis::Tp);
  add("cp", Axis::Cp);
  add(t.plan.cp > 1 ? "cp x dp" : "dp", Axis::DpCp);
  if (t.plan.sharding == Sharding::Hsdp) add("shard", Axis::Shard);
  if (t.plan.sharding == Sharding::Hsdp) add("replicate", Axis::Replicate);
  add("pp", Axis::Pp);
  if (!t.problem.model().is_sparse()) return table;
  add("etp", Axis::Etp);
  add("ep", Axis::Ep);
  add("expert dp", Axis::ExpertDp);
  if (t.plan.sharding == Sharding::Hsdp) add("expert shard", Axis::ExpertShard);
  return table;
}

}  // namespace detail

inline Section comm_section(const Trial& t, const Ledger& ledger) {
  Section s{"communication",
            "Communication: bytes that one GPU of stage " + std::to_string(t.cost.stage) + " sends in a step",
            {}};
  s.blocks.push_back(detail::traffic_table(t, ledger));
  Facts f{"totals", {}};
  add_fact(f, ledger, "comm.dp", "data_parallel", Unit::Traffic,
           "reduction in " + std::string(name_of(t.problem.recipe.reduce)));
  if (t.plan.pp > 2) {
    const auto interior = evaluate_stage(t.problem, t.plan, 1);
    f.facts.push_back({"pipeline_interior", "pipeline parallel, interior stage",
                       Value{interior.comm.pipeline.bytes.num(), Unit::Traffic},
                       "sends both ways on every chunk", ""});
  }
  if (!f.facts.empty()) s.blocks.push_back(std::move(f));
  s.blocks.push_back(detail::group_table(t));
  return s;
}

/// overlap: why tensor-parallel traffic is overlapped or not.
inline Section step_section(const Trial& t, const Ledger& ledger, const std::string& overlap) {
  Section s{"step", "Step time: the ideal plus seven losses", {}};
  s.blocks.push_back(lines_of(ledger, "ledger", "step.time", Unit::Time, 2));
  s.blocks.push_back(step_range_facts(t, ledger, overlap));
  s.blocks.push_back(class_facts(time_class_text(t.problem, t.plan)));
  Facts f{"bubble", {}};
  f.facts.push_back(fact(ledger, "schedule.bubble_of_ideal", "of_ideal", Unit::Share));
  f.facts.push_back(fact(ledger, "schedule.bubble_of_total", "of_total", Unit::Share));
  f.facts.push_back({"schedule", "schedule", std::string(name_of(t.plan.schedule)), "", ""});
  f.facts.push_back(
      fact(ledger, "step.tokens_per_second", "tokens_per_second", Unit::TokenRate, "whole cluster"));
  s.blocks.push_back(std::move(f));
  return s;
}

namespace detail {

inline std::string missing_for_goodput(const ClusterSpec& c) {
  std::string missing;
  const auto need = [&](const Figure& f, const char* key) {
    if (!f.known) missing += (missing.empty() ? "" : ", ") + std::string(key);
  };
  need(c.gpu_mtbf, "reliability/gpu_mtbf");
  need(c.detect, "reliability/detect");
  need(c.restart, "reliability/restart");
  need(c.load, "reliability/load");
  need(c.storage_write, "storage/write");
  return missing;
}

}  // namespace detail

inline Section checkpoint_section(const Trial& t, const Ledger& ledger) {
  Section s{"checkpoint", "Checkpoint and goodput", {}};
  Facts f{"save", {}};
  f.facts.push_back(fact(ledger, "checkpoint.bytes", "bytes", Unit::Traffic,
                         std::to_string(static_cast<int>(t.problem.profile().checkpoint_bytes_per_param)) +
                             " B/param, whatever the plan"));
  f.facts.push_back(fact(ledger, "checkpoint.per_gpu", "per_gpu", Unit::Traffic));
  f.facts.push_back(
      fact(ledger, "checkpoint.staging", "staging", Unit::Traffic, "asynchronous saving, two copies"));
  const ClusterSpec& c = t.problem.cluster();
  add_fact(f, ledger, "checkpoint.write", "write", Unit::Time,
           c.storage_write.assumed ? "storage bandwidth assumed" : "");
  if (!finishes(t.cost)) {
    s.blocks.push_back(std::move(f));
    s.blocks.push_back(
        Notes{"goodput_note",
              {{"never finishes: it fails every ", Value{t.cost.goodput.mtbf.num(), Unit::Time},
                " on average, faster than it saves and recovers"}}});
    return s;
  }
  if (goodput_is_known(c)) {
    f.facts.push_back(fact(ledger, "goodput.mtbf", "mtbf", Unit::Time));
    f.facts.push_back(fact(ledger, "checkpoint.interval", "interval", Unit::Time, "Young, first order"));
    f.facts.push_back(fact(ledger, "checkpoint.waste", "waste", Unit::Share, "saving and rollback"));
    f.facts.push_back(fact(ledger, "goodput", "goodput", Unit::Share));
    for (const char* id :
         {"goodput.saving", "goodput.detect", "goodput.restart", "goodput.load", "goodput.rollback"})
      f.facts.push_back(fact(ledger, id, std::string(id).substr(8), Unit::Share));
  }
  s.blocks.push_back(std::move(f));
  if (!goodput_is_known(c))
    s.blocks.push_back(Notes{
        "goodput_note",
        {{"no interval and no goodput: the cluster file does not give " + detail::missing_for_goodput(c)}}});
  return s;
}

inline Section cost_section(const Trial& t, const Ledger& ledger) {
  Section s{"cost", "Time and money", {}};
  const Figure& price = t.problem.cluster().price;
  Facts f{"money", {}};
  f.facts.push_back(fact(ledger, "cost.day_gpu_time", "day_gpu_time", Unit::GpuTime));
  add_fact(f, ledger, "cost.run_time", "run_time", Unit::Time, "token budget / goodput");
  add_fact(f, ledger, "cost.run_gpu_time", "run_gpu_time", Unit::GpuTime,
           t.problem.recipe.tokens ? "" : "30 days (no --tokens given)");
  add_fact(f, ledger, "cost.mfu_point_time", "mfu_point_time", Unit::Time, "first order");
  if (price.known)
    f.facts.push_back({"price", "price of a GPU", Value{price.value, Unit::UsdPerHour},
                       price.assumed ? "assumed" : price.source, ""});
  add_fact(f, ledger, "cost.day", "day", Unit::Usd);
  add_fact(f, ledger, "cost.run", "run", Unit::Usd);
  add_fact(f, ledger, "cost.mfu_point", "mfu_point", Unit::Usd);
  s.blocks.push_back(std::move(f));
  if (!price.known)
    s.blocks.push_back(Notes{"cost_note", {{"no dollars: the cluster file does not give price"}}});
  return s;
}

}  // namespace trainplan
