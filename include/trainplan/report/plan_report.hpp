/// The answer of `plan`: verdict, plan, reasons, ledgers, alternatives.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/rules_of_thumb.hpp"
#include "trainplan/derive/derive.hpp"
#include "trainplan/report/gates.hpp"
#include "trainplan/report/launch_section.hpp"
#include "trainplan/report/plan_sections.hpp"
#include "trainplan/report/schedule_section.hpp"
#include "trainplan/report/warning_section.hpp"
#include "trainplan/report/whatif_sections.hpp"

namespace trainplan {

/// fits: 42.5 GiB (38.3 ... 53.2, 80 %) of the gate of 71.6 GiB; step 4.36 s (3.79 ... 4.97, 80 %), MFU ...
inline Sentence headline_of(const Trial& t) {
  const auto& c = t.cost;
  Sentence s{verdict_text(t.verdict()) + ": ",
             device_estimate(t.problem, c),
             " of the gate of ",
             Value{t.gate(), Unit::Memory},
             "; step ",
             step_estimate(t.problem, c),
             ", MFU ",
             Value{c.step.mfu.num(), Unit::Share},
             " causal (",
             Value{c.step.mfu_full.num(), Unit::Share},
             " full), ",
             Value{c.step.rate.num(), Unit::TokenRate}};
  if (!t.problem.recipe.offload.any()) return s;
  s.push_back("; host ");
  s.push_back(Value{c.host.node.num(), Unit::Memory});
  const Figure& memory = t.problem.cluster().host_memory;
  s.push_back(memory.known ? " of the " : " of a node");
  if (!memory.known) return s;
  s.push_back(Value{memory.value, Unit::Memory});
  s.push_back(" of a node");
  return s;
}

/// "512 sequences; ..." and where they come from.
inline std::string batch_origin(const Recipe& r) {
  const std::string sequences =
      std::to_string(r.global_batch) + (r.global_batch == 1 ? " sequence" : " sequences");
  if (r.batch_target == 0) return sequences + ", as given";
  if (r.global_batch == r.batch_target) return sequences + ", default: 4Mi tokens";
  return sequences + ", default: " + std::to_string(r.batch_target) +
         " (4Mi tokens) moved to a multiple of dp x micro-batch";
}

/// Which constants: the shipped ones, or a file laid over them.
inline Fact constants_fact(const Calibration& c) {
  if (c.overlay.empty())
    return {"constants", "constants", std::string("baseline"), "shipped:calibration/baseline.json", ""};
  return {"constants", "constants", "baseline, with " + c.overlay, c.overlay, ""};
}

/// What the run is about: which model on which GPUs.
inline Facts model_and_cluster(const Problem& problem) {
  const ClusterSpec& c = problem.cluster();
  return {"files",
          {{"model", "model", problem.model().name, problem.model().origin, ""},
           {"cluster", "cluster", c.name + ": " + std::to_string(c.gpus()) + " x " + c.accelerator.name,
            c.origin, ""}}};
}

inline Section input_section(const Problem& problem, const std::vector<Setting>& settings) {
  Section s{"inputs", "Inputs and defaults", {}};
  Facts f = model_and_cluster(problem);
  f.facts.push_back({"framework", "framework", problem.profile().id + " " + problem.profile().version,
                     problem.profile().origin, ""});
  f.facts.push_back(constants_fact(problem.calibration()));
  const double batch = static_cast<double>(problem.recipe.global_batch),
               tokens = batch * static_cast<double>(problem.recipe.sequence);
  f.facts.push_back({"global_batch", "global batch, tokens", Value{tokens, Unit::Tokens},
                     batch_origin(problem.recipe), ""});
  for (const Setting& setting : settings)
    f.facts.push_back({setting.key, setting.label, setting.value, setting.origin, ""});
  s.blocks.push_back(std::move(f));
  return s;
}

/// How the same GPUs are cut for dense weights and for routed experts.
inline Table grid_table(const Plan& p) {
  Table table{"grids",
              "The same GPUs cut twice",
              {{"weights", "weights"}, {"grid", "grid"}, {"product", "GPUs"}},
              {}};
  const auto row = [&](const char* name, const char* what, std::int64_t a, std::int64_t b, std::int64_t c) {
    table.rows.push_back({std::string(name),
                          std::string(what) + std::to_string(a) + " x " + std::to_string(b) + " x " +
                              std::to_string(c) + " x " + std::to_string(p.pp),
                          Value{static_cast<double>(a * b * c * p.pp), Unit::Count}});
  };
  row("dense", "TP x CP x DP x PP = ", p.tp, p.cp, p.dp);
  row("routed experts", "ETP x EP x EDP x PP = ", p.etp, p.ep, expert_dp(p));
  return table;
}

/// What makes stages uneven; empty when they are equal.
inline std::string layout_text(const ModelSpec& m, const Plan& p) {
  switch (p.layout) {
    case Layout::Equal: return "";
    case Layout::EmbeddingAndLoss: return "embedding and loss count as a layer each";
    case Layout::FirstAndLast: break;
  }
  const std::string ends = "first stage " + std::to_string(p.first_layers) + ", last stage " +
                           std::to_string(p.last_layers) + " layers";
  return p.pp == 2 ? ends : ends + ", others " + std::to_string(middle_layers(m.layers, p));
}

inline std::string experts_text(std::int64_t n) {
  return std::to_string(n) + (n == 1 ? " expert" : " experts") + " of a layer on each GPU";
}

/// Layers of a stage that run forward a second time.
inline std::int64_t layers_again(const Trial& t) {
  if (t.plan.recompute == Recompute::Full) return stage_layers(t.problem.model(), t.plan, t.plan.pp / 2);
  return t.plan.recompute == Recompute::Layers ? t.plan.recompute_layers : 0;
}

inline Section choice_section(const Trial& t) {
  const Plan& p = t.plan;
  Section s{"plan", "Plan", {}};
  Facts f{"degrees", {}};
  const auto add = [&](std::string key, std::string label, std::int64_t n, std::string note = {}) {
    f.facts.push_back(
        {std::move(key), std::move(label), Value{static_cast<double>(n), Unit::Count}, std::move(note), ""});
  };
  add("tp", "tensor parallel (TP)", p.tp, p.sequence_parallel ? "with sequence parallelism" : "");
  add("pp", "pipeline parallel (PP)", p.pp, layout_text(t.problem.model(), p));
  add("vpp", "virtual stages per rank (v)", p.vpp, std::string(name_of(p.schedule)));
  add("cp", "context parallel (CP)", p.cp);
  add("dp", "data parallel (DP)", p.dp);
  if (t.problem.model().is_sparse()) {
    add("ep", "expert parallel (EP)", p.ep, experts_text(t.problem.model().experts.count / p.ep));
    add("etp", "expert tensor parallel (ETP)", p.etp);
    add("expert_dp", "expert data parallel (EDP)", expert_dp(p),
        expert_dp(p) == 1 ? "optimizer state of the experts is not sharded" : "");
  }
  add("micro_batch", "micro-batch", p.micro_batch, "sequences");
  add("micro_batches", "micro-batches (m)", micro_batches(t.problem, p), "of a step and pipeline");
  f.facts.push_back(
      {"recompute", "recompute", std::string(name_of(p.recompute)),
       p.recompute == Recompute::Layers ? std::to_string(p.recompute_layers) + " layers of each stage" : "",
       ""});
  add("recompute_layers", "recomputed layers of a stage", layers_again(t));
  const ShardingRows& rows = *t.problem.profile().rows(p.sharding);
  f.facts.push_back({"sharding", "sharding", std::string(name_of(p.sharding)), rows.title, ""});
  if (p.sharding == Sharding::Hsdp || p.shard < std::int64_t{p.dp} * p.cp)
    add("shard_size", "shard group", p.shard);
  s.blocks.push_back(std::move(f));
  if (t.problem.model().is_sparse()) s.blocks.push_back(grid_table(p));
  return s;
}

inline std::string upper(std::string name) {
  for (char& c : name) c = static_cast<char>(c - 'a' + 'A');
  return name;
}

inline Section reason_section(const std::vector<Decision>& decisions) {
  Section s{"derivation", "Derivation:", {}};
  for (const Decision& d : decisions)
    if (d.axis != "recompute") s.title += (s.title.ends_with(':') ? " " : " -> ") + upper(d.axis);
  for (const Decision& d : decisions) {
    Notes notes{d.axis, {}};
    const std::string name = upper(d.axis);
    for (std::size_t i = 0; i < d.reasons.size(); ++i) {
      notes.sentences.push_back(prefixed(i == 0 ? name + " = " + d.value + ": " : name + ": ", d.reasons[i]));
    }
    s.blocks.push_back(std::move(notes));
  }
  return s;
}

namespace detail {

/// State per average GPU + 34 s b h / t x layers x in flight x 1.2 + 8 GB; only without full
/// sharding and without recompute.
inline Cell rule_of_thumb(const Trial& t) {
  const bool full = t.plan.sharding == Sharding::Zero3 || t.plan.sharding == Sharding::Hsdp;
  if (full || t.plan.recompute != Recompute::None) return {};
  const auto& c = t.cost.memory;
  const double h = static_cast<double>(t.problem.model().hidden),
               s = static_cast<double>(t.problem.recipe.sequence);
  const auto layer = flash_layer(Tokens<>{s / t.plan.cp}, Count<>{static_cast<double>(t.plan.micro_batch)},
                                 Count<>{h}, Count<>{static_cast<double>(t.plan.tp)});
  const Count<> layers{static_cast<double>(t.problem.model().layers) / t.plan.pp};
  return Value{rule_memory(c.state_average, layer, layers, Count<>{static_cast<double>(t.plan.pp)},
                           Count<>{1.2}, Bytes<>{8e9})
                   .num(),
               Unit::Traffic};
}

inline std::string degrees_text(const Plan& p) {
  std::string text = "TP " + std::to_string(p.tp) + " PP " + std::to_string(p.pp);
  if (p.vpp > 1) text += " v " + std::to_string(p.vpp);
  if (p.cp > 1) text += " CP " + std::to_string(p.cp);
  if (p.ep > 1) text += " EP " + std::to_string(p.ep);
  if (p.etp > 1) text += " ETP " + std::to_string(p.etp);
  return text + " DP " + std::to_string(p.dp);
}

inline std::vector<Cell> alternative_row(const std::string& name, const Trial& t) {
  return {name,
          degrees_text(t.plan),
          cell(t.cost.memory.state, Unit::Traffic),
          cell(t.cost.memory.activations.saved, Unit::Traffic),
          Value{t.device(), Unit::Traffic},
          rule_of_thumb(t),
          cell(t.cost.step.step, Unit::Time),
          cell(t.cost.schedule.bubble_of_ideal, Unit::Share),
          cell(t.cost.comm.data.bytes, Unit::Traffic),
          cell(t.cost.comm.data.seconds, Unit::Time)};
}

}  // namespace detail

inline Section alternative_section(const Derivation& d) {
  Section s{"alternatives", "Alternatives", {}};
  Table table{"table",
              "Decimal GB; rule: state + 34 s b h / t x layers x in flight x 1.2 + 8 GB (a rule of thumb, "
              "not the ledger)",
              {{"name", "plan"},
               {"degrees", "degrees"},
               {"state", "state"},
               {"activations", "activations"},
               {"device", "device total"},
               {"rule", "rule"},
               {"step", "step"},
               {"bubble", "bubble"},
               {"data_parallel", "DP traffic"},
               {"data_parallel_time", "at link rate"}},
              {}};
  table.rows.push_back(detail::alternative_row("derived", d.chosen));
  Notes notes{"verdicts", {}};
  for (const Alternative& a : d.alternatives) {
    table.rows.push_back(detail::alternative_row(a.name, a.trial));
    const std::string framework = a.trial.problem.profile().id == d.chosen.problem.profile().id
                                      ? ""
                                      : " (" + a.trial.problem.profile().id + ")";
    notes.sentences.push_back(prefixed(a.name + framework + ": ", a.why));
  }
  s.blocks.push_back(std::move(table));
  s.blocks.push_back(std::move(notes));
  return s;
}

namespace detail {

/// A plan that fits memory and breaks a limit has failed; the headline names the first limit broken.
inline void judge_limits(Report& r, const Trial& t, const std::vector<Gate>& gates) {
  if (r.verdict == Verdict::DoesNotFit) return;
  const auto broken = std::find_if(gates.begin(), gates.end(), [](const Gate& g) { return !g.holds(); });
  if (broken == gates.end()) return;
  Sentence headline = failure_of("failed: " + broken->name + ": ", *broken, t.cost.stage);
  headline.insert(headline.end(), {"; "});
  headline.insert(headline.end(), r.headline.begin(), r.headline.end());
  r.headline = std::move(headline);
  r.verdict = Verdict::Failed;
}

}  // namespace detail

/// Where a setting is from.
inline std::string origin_of(const std::vector<Setting>& settings, std::string_view key) {
  for (const Setting& s : settings)
    if (s.key == key) return s.origin;
  return {};
}

/// The whole report. The ledger belongs to the chosen plan's fullest stage. Limits, if any, are judged;
/// warnings among the issues are shown. detail: every variant of the plan and every input.
inline Report plan_report(const Derivation& d, const Ledger& ledger, const std::vector<Setting>& settings,
                          const Limits& limits = {}, const std::vector<Issue>& issues = {},
                          bool detail = false) {
  const Trial& t = d.chosen;
  Report r{
      "plan", t.problem.model().name + " on " + t.problem.cluster().name, t.verdict(), headline_of(t), {}};
  r.sections.push_back(input_section(t.problem, settings));
  r.sections.push_back(choice_section(t));
  Table warnings = warning_table(false);
  add_warnings(warnings, issues);
  add_warning_section(r, std::move(warnings));
  if (limits.min_mfu || limits.max_step_time || limits.max_memory || t.problem.recipe.confidence) {
    const std::vector<Gate> gates = gates_of(t, limits);
    detail::judge_limits(r, t, gates);
    r.sections.push_back(limit_section(gates, t.cost.stage));
  }
  r.sections.push_back(reason_section(d.decisions));
  r.sections.push_back(memory_section(t, ledger));
  if (t.problem.recipe.offload.any()) r.sections.push_back(host_section(t, ledger));
  r.sections.push_back(activation_section(ledger));
  r.sections.push_back(parameter_section(ledger));
  r.sections.push_back(compute_section(t, ledger));
  r.sections.push_back(comm_section(t, ledger));
  r.sections.push_back(step_section(t, ledger, origin_of(settings, "tp_overlap")));
  if (Section pipeline = schedule_section(d, detail); !pipeline.blocks.empty())
    r.sections.push_back(std::move(pipeline));
  r.sections.push_back(checkpoint_section(t, ledger));
  r.sections.push_back(cost_section(t, ledger));
  r.sections.push_back(alternative_section(d));
  r.sections.push_back(whatif_section(t, what_ifs(t), detail));
  r.sections.push_back(elasticity_section(elasticities(t), detail));
  r.sections.push_back(launch_section(t));
  return r;
}

}  // namespace trainplan
