/// The answers of `list`: what is shipped, a line each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/plan/rules.hpp"
#include "trainplan/plan/warnings.hpp"
#include "trainplan/report/build.hpp"
#include "trainplan/spec/anchor.hpp"
#include "trainplan/spec/calibration.hpp"
#include "trainplan/spec/cluster.hpp"
#include "trainplan/spec/failure_record.hpp"
#include "trainplan/spec/forecast.hpp"
#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/model.hpp"

namespace trainplan {

namespace detail {

inline Cell known(const Figure& f, Unit unit) { return f.known ? Cell(Value{f.value, unit}) : Cell{}; }
inline Cell whole(std::int64_t n) { return Value{static_cast<double>(n), Unit::Count}; }

inline std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out.append(out.empty() ? "" : ", ").append(w);
  return out;
}

using TableRows = std::vector<std::vector<Cell>>;

/// A report of one table; add_table appends to it.
inline Report table_report(std::string what, std::string title, std::vector<Column> columns, TableRows rows) {
  Report r{"list", std::move(title), Verdict::None, {}, {}};
  Section s{"list", "", {}};
  s.blocks.push_back(Table{std::move(what), "", std::move(columns), std::move(rows)});
  r.sections.push_back(std::move(s));
  return r;
}
inline void add_table(Report& r, std::string what, std::string title, std::vector<Column> columns,
                      TableRows rows) {
  r.sections.back().blocks.push_back(
      Table{std::move(what), std::move(title), std::move(columns), std::move(rows)});
}

/// "baseline.json /cuda_context" to "cuda_context".
inline std::string name_in_origin(const Figure& f) {
  const auto cut = f.origin.rfind('/');
  return cut == std::string::npos ? f.origin : f.origin.substr(cut + 1);
}

inline std::string source_of(const Figure& f) { return f.assumed ? "assumed: " + f.source : f.source; }

}  // namespace detail

struct ListedModel {
  std::string name;
  std::vector<std::string> aliases;
  ModelSpec spec;
  double params = 0;
};

inline Report model_list_report(const std::vector<ListedModel>& models) {
  using detail::whole;
  detail::TableRows rows, names;
  for (const auto& [name, aliases, m, params] : models) {
    rows.push_back({Code{name}, m.family, Value{params, Unit::Params}, whole(m.layers), whole(m.hidden),
                    whole(m.heads), whole(m.kv_heads), whole(m.ffn), whole(m.vocab), whole(m.max_positions)});
    names.push_back({Code{name}, detail::joined(aliases)});
  }
  Report r = detail::table_report("models", "Shipped models",
                                  {{"name", "name"},
                                   {"family", "family"},
                                   {"total", "parameters"},
                                   {"layers", "layers"},
                                   {"hidden", "hidden"},
                                   {"heads", "heads"},
                                   {"kv_heads", "KV heads"},
                                   {"ffn", "MLP"},
                                   {"vocabulary", "vocabulary"},
                                   {"positions", "positions"}},
                                  std::move(rows));
  detail::add_table(r, "aliases", "Other names that mean the same",
                    {{"name", "name"}, {"aliases", "aliases"}}, std::move(names));
  return r;
}

/// name: as it is asked for on the command line.
struct ListedCluster {
  std::string name;
  ClusterSpec spec;
};

inline Report cluster_list_report(const std::vector<ListedCluster>& clusters) {
  using detail::known;
  detail::TableRows rows;
  for (const auto& [name, c] : clusters)
    rows.push_back({Code{name}, c.accelerator.id, detail::whole(c.gpus()), detail::whole(c.nodes),
                    detail::whole(c.scale_up_domain), known(c.nic_per_gpu, Unit::ByteRate),
                    known(c.storage_write, Unit::ByteRate), known(c.gpu_mtbf, Unit::Time),
                    known(c.price, Unit::UsdPerHour)});
  return detail::table_report("clusters", "Shipped clusters",
                              {{"name", "name"},
                               {"accelerator", "accelerator"},
                               {"gpus", "GPUs"},
                               {"nodes", "nodes"},
                               {"scale_up_domain", "scale-up domain"},
                               {"nic", "NIC per GPU"},
                               {"storage_write", "storage write"},
                               {"gpu_mtbf", "MTBF of a GPU"},
                               {"price", "price per GPU"}},
                              std::move(rows));
}

inline Report accelerator_list_report(const std::vector<Accelerator>& accelerators) {
  using detail::known;
  detail::TableRows chips, links;
  for (const Accelerator& a : accelerators) {
    chips.push_back({Code{a.id}, a.name, known(a.bf16_dense, Unit::FlopRate),
                     known(a.fp8_dense, Unit::FlopRate), known(a.memory, Unit::Traffic),
                     known(a.usable_memory, Unit::Memory), known(a.memory_bandwidth, Unit::ByteRate)});
    links.push_back({Code{a.id}, a.link, known(a.scale_up_bandwidth, Unit::ByteRate),
                     detail::whole(a.scale_up_domain), known(a.nic, Unit::ByteRate)});
  }
  Report r = detail::table_report("accelerators", "Shipped accelerators",
                                  {{"id", "id"},
                                   {"name", "name"},
                                   {"bf16_dense", "bf16 dense"},
                                   {"fp8_dense", "fp8 dense"},
                                   {"memory", "memory"},
                                   {"usable_memory", "usable"},
                                   {"memory_bandwidth", "bandwidth"}},
                                  std::move(chips));
  detail::add_table(r, "links", "Links of one GPU, one direction",
                    {{"id", "id"},
                     {"link", "scale-up link"},
                     {"scale_up", "bandwidth"},
                     {"scale_up_domain", "GPUs in the domain"},
                     {"nic", "NIC"}},
                    std::move(links));
  return r;
}

inline Report framework_list_report(const std::vector<FrameworkProfile>& frameworks) {
  detail::TableRows rows;
  for (const FrameworkProfile& f : frameworks) {
    std::vector<std::string> modes;
    for (const ShardingRows& r : f.shardings) modes.emplace_back(name_of(r.mode));
    rows.push_back({Code{f.id}, f.name, f.version, std::string(name_of(f.default_sharding)),
                    detail::joined(modes), std::string(name_of(f.default_gradient)), f.interleaves(),
                    Value{f.checkpoint_bytes_per_param, Unit::BytesPerParam}});
  }
  return detail::table_report("frameworks", "Framework profiles",
                              {{"id", "id"},
                               {"name", "name"},
                               {"version", "version"},
                               {"default_sharding", "default sharding"},
                               {"shardings", "shardings"},
                               {"gradients", "gradients"},
                               {"interleaving", "interleaving"},
                               {"checkpoint", "checkpoint"}},
                              std::move(rows));
}

namespace detail {

inline std::vector<Column> rule_columns() {
  return {{"id", "id"}, {"field", "run field"}, {"rule", "rule"}, {"source", "source"}};
}

inline TableRows rows_of_rules(std::span<const Rule> rules, const FrameworkProfile& f) {
  TableRows rows;
  for (const Rule& r : rules)
    if (r.is_of(f))
      rows.push_back({Code{std::string(r.id)}, Code{std::string(r.field)},
                      "must " + std::string(r.sentence(f)), std::string(f.rules.source(r.id))});
  return rows;
}

/// Profiles of one release share a table when all their rules are the same.
inline bool same_rules(std::span<const Rule> rules, const FrameworkProfile& a, const FrameworkProfile& b) {
  return a.version == b.version && std::all_of(rules.begin(), rules.end(), [&](const Rule& r) {
           return r.is_of(a) == r.is_of(b) && r.sentence(a) == r.sentence(b) &&
                  a.rules.source(r.id) == b.rules.source(r.id);
         });
}

}  // namespace detail

/// A section for each framework; then the rules that only other profiles have, and the warnings.
inline Report rule_list_report(std::span<const Rule> rules, const std::vector<FrameworkProfile>& frameworks,
                               bool with_rest = true) {
  Report r{"list", "Rules that a legal plan keeps", Verdict::None, {}, {}};
  for (std::size_t i = 0; i < frameworks.size(); ++i) {
    const FrameworkProfile& f = frameworks[i];
    const auto same = [&](const FrameworkProfile& g) { return detail::same_rules(rules, f, g); };
    if (std::any_of(frameworks.begin(), frameworks.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
    std::string profiles = f.id;
    for (std::size_t k = i + 1; k < frameworks.size(); ++k)
      if (same(frameworks[k])) profiles += ", " + frameworks[k].id;
    Section s{f.id, f.name, {}};
    s.blocks.push_back(Facts{"release",
                             {{"framework", "framework", f.release(), "", ""},
                              {"version", "version", f.version, "", ""},
                              {"profiles", "profiles", profiles, "", ""}}});
    s.blocks.push_back(Table{"rules", "", detail::rule_columns(), detail::rows_of_rules(rules, f)});
    r.sections.push_back(std::move(s));
  }
  if (!with_rest) return r;
  detail::TableRows rest, doubts;
  for (const Rule& rule : rules)
    if (std::none_of(frameworks.begin(), frameworks.end(), [&](const auto& f) { return rule.is_of(f); }))
      rest.push_back(
          {Code{std::string(rule.id)}, Code{std::string(rule.field)}, "must " + std::string(rule.must)});
  for (const Warning& w : warnings())
    doubts.push_back({Code{std::string(w.id)}, Code{std::string(w.field)}, "must " + std::string(w.must)});
  const std::vector<Column> columns{{"id", "id"}, {"field", "run field"}, {"rule", "rule"}};
  if (!rest.empty())
    r.sections.push_back(
        {"other", "Rules of profiles that ask for them", {Table{"rules", "", columns, rest}}});
  r.sections.push_back(
      {"warnings", "Warnings, which change no exit status", {Table{"warnings", "", columns, doubts}}});
  return r;
}

namespace detail {

inline TableRows rows_of_constants(std::initializer_list<std::pair<const Figure*, Unit>> constants) {
  TableRows rows;
  for (const auto& [f, unit] : constants)
    rows.push_back({Code{name_in_origin(*f)}, known(*f, unit), source_of(*f)});
  return rows;
}

inline TableRows rows_of_time(const TimeConstants& t) {
  return rows_of_constants({{&t.memory_rate, Unit::Share},
                            {&t.gemm_half_depth, Unit::Count},
                            {&t.kernel_start, Unit::Time},
                            {&t.attention_half_length, Unit::Count},
                            {&t.scale_up_rate, Unit::Share},
                            {&t.nic_rate, Unit::Share},
                            {&t.host_link_rate, Unit::Share},
                            {&t.host_memory_rate, Unit::Share},
                            {&t.ring_step, Unit::Time},
                            {&t.tp_overlap_hidden, Unit::Share},
                            {&t.ep_overlap_hidden, Unit::Share},
                            {&t.overlap_slowdown, Unit::Share},
                            {&t.step_fixed, Unit::Time},
                            {&t.straggler_growth, Unit::Share}});
}

inline Table accelerator_constants(const Calibration& c) {
  TableRows rows;
  const auto add = [&](const std::string& id, const AcceleratorConstants& a) {
    rows.push_back({Code{id}, known(a.gemm, Unit::Share), known(a.low_gemm, Unit::Share),
                    known(a.attention, Unit::Share), source_of(a.gemm)});
  };
  for (const AcceleratorConstants& a : c.accelerators) add(a.id, a);
  add("other", c.other_accelerator);
  return Table{"accelerators",
               "",
               {{"id", "accelerator"},
                {"gemm", "matrix products, 16 bits"},
                {"low_gemm", "fp8, fp4"},
                {"attention", "attention"},
                {"source", "source"}},
               rows};
}

inline Table stack_constants(const Calibration& c) {
  TableRows rows;
  for (std::size_t i = 0; i < kStackCount; ++i) {
    const StackConstants& s = c.stacks[i];
    rows.push_back({Code{std::string(kStackNames[i])}, known(s.host_per_layer, Unit::Time),
                    known(s.slowdown, Unit::Count), known(s.expert_overhead, Unit::Time),
                    std::string(name_of(s.attention)), s.eager, source_of(s.slowdown)});
  }
  return Table{"stacks",
               "",
               {{"id", "stack"},
                {"host_per_layer", "host time of a layer"},
                {"slowdown", "step over the model"},
                {"expert_overhead", "overhead of an expert"},
                {"attention", "attention kernel"},
                {"eager", "eager"},
                {"source", "source"}},
               rows};
}

template <std::size_t K>
Table range_table(std::string key, std::string title, const std::string_view (&names)[K],
                  const std::string_view (&titles)[K], const std::array<ErrorClass, K>& classes) {
  TableRows rows;
  for (std::size_t i = 0; i < K; ++i)
    rows.push_back({Code{std::string(names[i])}, std::string(titles[i]), known(classes[i].low, Unit::Count),
                    known(classes[i].high, Unit::Count), source_of(classes[i].low)});
  return {std::move(key),
          std::move(title),
          {{"class", "class"}, {"title", "runs"}, {"low", "low"}, {"high", "high"}, {"source", "source"}},
          rows};
}

/// Classes of predictions with what was measured over what is predicted at the ends of their ranges.
inline std::vector<Block> range_tables(const ErrorRanges& r) {
  Table time = range_table("time", "Step times", kTimeClassNames, kTimeClassTitles, r.time);
  time.rows.push_back({Code{"accelerator"}, std::string("beside the class: an accelerator without constants"),
                       known(r.accelerator.low, Unit::Count), known(r.accelerator.high, Unit::Count),
                       source_of(r.accelerator.low)});
  return {Facts{"level",
                {{"confidence", "share of runs inside", known(r.confidence, Unit::Share), r.confidence.source,
                  ""}}},
          std::move(time), range_table("memory", "Memory", kMemoryClassNames, kMemoryClassTitles, r.memory)};
}

}  // namespace detail

/// The ranges alone.
inline Report range_list_report(const Calibration& c) {
  return {"list",
          "Ranges: measured over predicted",
          Verdict::None,
          {},
          {Section{"ranges", "", detail::range_tables(c.ranges)}}};
}

/// Constants of the model and the published figures that stand beside computed ones.
inline Report constant_list_report(const Calibration& c, const std::vector<Anchor>& anchors) {
  detail::TableRows published;
  for (const Anchor& a : anchors)
    published.push_back(
        {Code{a.id}, a.title, detail::known(a.value, unit_for(a.dim)), detail::source_of(a.value)});
  const std::vector<Column> columns{{"id", "id"}, {"value", "value"}, {"source", "source"}};
  Report r = detail::table_report("constants", "Constants and published figures", columns,
                                  detail::rows_of_constants({{&c.cuda_context, Unit::Memory},
                                                             {&c.communicators, Unit::Memory},
                                                             {&c.allocator_slack, Unit::Share},
                                                             {&c.capacity_gate, Unit::Share},
                                                             {&c.planning_margin, Unit::Share},
                                                             {&c.interleave_bubble_target, Unit::Share},
                                                             {&c.plan_difference, Unit::Share}}));
  r.sections.front().title = "Memory, gates";
  r.sections.push_back({"time", "Time", {Table{"time", "", columns, detail::rows_of_time(c.time)}}});
  r.sections.push_back(
      {"accelerators", "Time: accelerators, shares of the dense peak", {detail::accelerator_constants(c)}});
  r.sections.push_back({"stacks", "Time: software stacks", {detail::stack_constants(c)}});
  r.sections.push_back({"ranges", "Ranges: measured over predicted", detail::range_tables(c.ranges)});
  r.sections.push_back({"published", "Published figures", {}});
  detail::add_table(r, "figures", "",
                    {{"id", "id"}, {"title", "what"}, {"value", "value"}, {"source", "source"}},
                    std::move(published));
  return r;
}

/// A shipped run; about: what it shows.
struct ListedRun {
  std::string name, model, cluster, about;
};

inline Report run_list_report(const std::vector<ListedRun>& runs) {
  detail::TableRows rows;
  for (const ListedRun& r : runs) rows.push_back({Code{r.name}, Code{r.model}, Code{r.cluster}, r.about});
  return detail::table_report(
      "runs", "Shipped runs",
      {{"name", "name"}, {"model", "model"}, {"cluster", "cluster"}, {"about", "what it shows"}},
      std::move(rows));
}

/// Named save and recovery times; what one leaves out is the cluster's.
inline Report scenario_list_report(const std::vector<Scenario>& scenarios) {
  detail::TableRows rows;
  const auto time = [](const ForecastSpec::Said& said) {
    return said ? detail::known(*said, Unit::Time) : Cell{};
  };
  for (const Scenario& s : scenarios)
    rows.push_back({Code{s.name}, time(s.save_time), time(s.detect), time(s.restart), time(s.load), s.title});
  return detail::table_report("scenarios", "Shipped scenarios",
                              {{"name", "name"},
                               {"save_time", "save"},
                               {"detect", "notice"},
                               {"restart", "restart"},
                               {"load", "load"},
                               {"about", "what it is"}},
                              std::move(rows));
}

/// Published failures of long runs: counts and their time, or the mean time between them.
inline Report failure_list_report(const std::vector<FailureRecord>& records) {
  detail::TableRows rows;
  for (const FailureRecord& r : records) {
    const auto counted = [&](double n, Unit unit) { return r.counted() ? Cell(Value{n, unit}) : Cell{}; };
    rows.push_back({Code{r.id}, r.title, Value{static_cast<double>(r.gpus), Unit::Whole},
                    counted(static_cast<double>(r.failures), Unit::Whole), counted(r.time.value, Unit::Days),
                    r.counted() ? Cell{} : detail::known(r.mtbf, Unit::Time), r.source});
  }
  return detail::table_report("failures", "Published failures of long runs",
                              {{"id", "id"},
                               {"title", "what"},
                               {"gpus", "GPUs"},
                               {"failures", "failures"},
                               {"time", "in"},
                               {"mtbf", "or one every"},
                               {"source", "source"}},
                              std::move(rows));
}

/// A family of models: its model_type spellings and what that name decides.
struct ListedFamily {
  std::string types, attention, mlp, norms, biases, tables;
};

inline Report family_list_report(const std::vector<ListedFamily>& families) {
  detail::TableRows rows;
  for (const ListedFamily& f : families) {
    std::vector<Cell> row;
    for (const std::string* words : {&f.types, &f.attention, &f.mlp, &f.norms, &f.biases, &f.tables})
      row.emplace_back(*words);
    rows.push_back(std::move(row));
  }
  return detail::table_report("families", "Model families",
                              {{"model_type", "model_type"},
                               {"attention", "attention"},
                               {"mlp", "MLP"},
                               {"norms", "norms of a layer"},
                               {"biases", "biases"},
                               {"tables", "tables"}},
                              std::move(rows));
}

/// A field of a run or a pipeline, as a file and the command line spell it.
struct ListedField {
  std::string key, type, help, otherwise, example;
};

inline Report field_list_report(const std::vector<ListedField>& fields,
                                std::string title = "Fields of a run") {
  detail::TableRows rows;
  for (const ListedField& f : fields)
    rows.push_back({Code{f.key}, f.type, f.help, f.otherwise, Code{f.example}});
  return detail::table_report("fields", std::move(title),
                              {{"key", "key"},
                               {"type", "type"},
                               {"help", "what it is"},
                               {"otherwise", "when left out"},
                               {"example", "example"}},
                              std::move(rows));
}

}  // namespace trainplan
