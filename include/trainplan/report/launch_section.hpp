/// The plan in the words of the framework: each setting as it is typed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "trainplan/derive/trial.hpp"
#include "trainplan/report/build.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {

namespace detail {

/// A number of a plan or recipe; empty when the field is none or says nothing here.
inline std::string launch_number(const Trial& t, std::string_view field) {
  const Plan& p = t.plan;
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  if (field == "tp") return number(p.tp);
  if (field == "pp") return number(p.pp);
  if (field == "vpp" && p.vpp > 1) return number(p.vpp);
  if (field == "cp") return number(p.cp);
  if (field == "dp") return number(p.dp);
  if (field == "ep" && t.problem.model().is_sparse()) return number(p.ep);
  if (field == "etp" && t.problem.model().is_sparse()) return number(p.etp);
  if (field == "first_layers" && p.layout == Layout::FirstAndLast) return number(p.first_layers);
  if (field == "last_layers" && p.layout == Layout::FirstAndLast) return number(p.last_layers);
  if (field == "shard_size") return number(p.shard);
  if (field == "shard_degree" && p.shard % p.cp == 0) return number(p.shard / p.cp);
  if (field == "replicate_degree" && p.sharding == Sharding::Hsdp)
    return number(std::int64_t{p.dp} * p.cp / p.shard);
  if (field == "optimizer_instances" && p.sharding == Sharding::Zero1 && p.shard < std::int64_t{p.dp} * p.cp)
    return number(std::int64_t{p.dp} * p.cp / p.shard);
  if (field == "micro_batch" || (field == "pipeline_micro_batch" && p.pp > 1)) return number(p.micro_batch);
  const Recipe& r = t.problem.recipe;
  const std::int64_t m = micro_batches(t.problem, p),
                     local = p.micro_batch * (p.pp > 1 ? m : std::int64_t{1});
  if (field == "local_batch") return number(local);
  if (field == "local_batch_tokens") return number(local * r.sequence);
  if (field == "global_batch_tokens") return number(r.global_batch * r.sequence);
  if (field == "pipeline_micro_batches" && p.pp > 1) return number(m);
  if (field == "mtp_layers" && r.mtp_layers > 0) return number(r.mtp_layers);
  if (field == "capacity_factor" && r.capacity_factor > 0) return shown(r.capacity_factor);
  if (field == "global_batch") return number(t.problem.recipe.global_batch);
  if (field == "sequence") return number(t.problem.recipe.sequence);
  if (field == "offload_layers" && r.offload.layers > 0) return number(r.offload.layers);
  if (field == "recompute_layers" && p.recompute == Recompute::Layers)
    return number(p.recompute_layers / p.vpp);
  return {};
}

/// A mode or a switch ("true", "false"); empty when the field is none or says nothing here.
inline std::string launch_mode(const Trial& t, std::string_view field) {
  const Plan& p = t.plan;
  const Recipe& r = t.problem.recipe;
  const auto on = [](bool yes) { return std::string(yes ? "true" : "false"); };
  if (field == "precision") return std::string(name_of(r.precision));
  if (field == "gradient_dtype" && r.gradient != t.problem.profile().default_gradient)
    return std::string(name_of(r.gradient));
  if (field == "reduce_dtype") return std::string(name_of(r.reduce));
  if (field == "sequence_parallel" && p.tp > 1) return on(p.sequence_parallel);
  if (field == "tp_overlap" && p.tp > 1) return on(r.tp_overlap);
  if (field == "dp_overlap" && p.dp > 1) return on(r.dp_overlap);
  if (field == "gather_overlap" && p.dp > 1)
    return on(r.dp_overlap && r.gather_overlap && p.sharding != Sharding::None);
  if (field == "experts") return on(t.problem.model().is_sparse());
  if (field == "ep_overlap" && t.problem.model().is_sparse()) return on(r.ep_overlap);
  if (field == "compile") return on(r.compile);
  if (field == "cuda_graphs") return on(p.pp == 1 && p.ep == 1);
  if (field == "cp_mode" && p.cp > 1) return std::string(name_of(r.cp_mode));
  if (field == "attention") return std::string(name_of(r.attention));
  if (field == "schedule" && p.pp > 1) return std::string(name_of(p.schedule));
  if (field == "reshard_after_forward") return on(p.reshard);
  if (field == "fp8_param_gather") return on(r.low_weights);
  if (field == "offload_weights") return on(r.offload.weights);
  if (field == "uneven_stages") return on(p.layout == Layout::EmbeddingAndLoss);
  if (field == "recompute" && p.recompute != Recompute::None) return std::string(name_of(p.recompute));
  return {};
}

/// The modules that selective recompute rebuilds, one after another; empty when it does not.
inline std::string launch_modules(const Plan& p) {
  if (p.recompute != Recompute::Selective) return {};
  std::string text;
  for (std::size_t i = 0; i < std::size(kModuleNames); ++i)
    if ((p.modules & bit(static_cast<Module>(i))) != 0)
      text += (text.empty() ? "" : " ") + std::string(kModuleNames[i]);
  return text;
}

/// "--flag value", "key: value" or the setting of that value; empty when there is nothing to set.
inline std::string launch_setting(const Trial& t, const LaunchFlag& flag) {
  std::string value = launch_number(t, flag.field);
  if (value.empty()) value = launch_mode(t, flag.field);
  if (flag.field == "recompute_modules") value = launch_modules(t.plan);
  if (flag.field == "offload_optimizer" && t.problem.recipe.offload.optimizer > 0)
    value = shown(t.problem.recipe.offload.optimizer);
  if (value.empty()) return {};
  if (!flag.flag.empty()) return flag.flag + (flag.flag.starts_with('-') ? " " : ": ") + value;
  for (const auto& [name, setting] : flag.settings)
    if (name == value) return setting;
  return {};
}

}  // namespace detail

/// Where every setting is a flag, all of them follow once more as one line.
inline Section launch_section(const Trial& t) {
  const FrameworkProfile& f = t.problem.profile();
  Section s{"launch", "Launch settings of " + f.id + " " + f.version, {}};
  Table table{"settings", "", {{"field", "run field"}, {"setting", "setting"}}, {}};
  std::string line;
  bool flags = true;
  const auto add = [&](const std::string& field, const std::string& setting) {
    if (setting.empty()) return;
    table.rows.push_back({field, Code{setting}});
    flags = flags && setting.starts_with('-');
    line += (line.empty() ? "" : " ") + setting;
  };
  for (const LaunchFlag& flag : f.flags) add(flag.field, detail::launch_setting(t, flag));
  add("sharding", f.rows(t.plan.sharding)->flags);
  s.blocks.push_back(std::move(table));
  if (flags && !line.empty())
    s.blocks.push_back(Facts{"command_line", {{"arguments", "arguments", Code{line}, "", ""}}});
  return s;
}

}  // namespace trainplan
