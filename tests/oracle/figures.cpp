#include "figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>

#include "trainplan/catalog/catalog.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/load_failures.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/sim/clock.hpp"
#include "trainplan/sim/saves.hpp"
#include "trainplan/study/chosen_experts.hpp"

namespace figures {
namespace {

using nlohmann::json;
using namespace trainplan;

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }

json read(const std::string& path) {
  std::ifstream in(path);
  if (!in) refuse("cannot read " + path);
  return json::parse(in);
}

Value quantity(const std::string& text) {
  const Measure m = parse_quantity(text);
  if (!m) refuse("\"" + text + "\" " + m.error);
  return {m.value, m.dim};
}

bool plain(Dim dim) { return dim == kCount || dim == kTokens || dim == kParams; }

/// A value as an argument: its dimension and its range are the formula's.
double argument(const Value& v, const Arg& arg, Dim dim) {
  if (v.dim != dim && !(v.bare && plain(dim)))
    refuse("argument " + std::string(arg.name) + " has the wrong unit");
  if (v.number < arg.lo || v.number > arg.hi)
    refuse("argument " + std::string(arg.name) + " is out of range");
  return v.number;
}

/// The result of a formula; plain and traced evaluation must agree in the last bit.
Value run(const CatalogEntry& entry, std::span<const double> values) {
  const double plain_result = entry.evaluate(values);
  Explain rec;
  entry.explain(rec, values);
  const LineItem* item = rec.ledger().find(entry.id);
  if (item == nullptr || item->value != plain_result || item->dim != entry.result)
    refuse("plain and traced " + std::string(entry.id) + " differ");
  return {plain_result, entry.result};
}

void collect(const json& value, std::set<std::string>& ids) {
  if (value.is_object() && value.contains("calc")) ids.insert(value.at("calc"));
  if (value.is_structured())
    for (const json& part : value) collect(part, ids);
}

std::string shown(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", number);
  return text;
}

Value combined(const std::string& op, const Value& a, const Value& b) {
  if (op == "times") return {a.number * b.number, a.dim + b.dim};
  if (op == "divide") return {a.number / b.number, a.dim - b.dim};
  if (a.dim != b.dim) refuse(op + " of different units");
  if (op == "plus") return {a.number + b.number, a.dim};
  if (op == "minus") return {a.number - b.number, a.dim};
  refuse("no such operation: " + op);
}

bool holds(const std::string& relation, double got, double expected, double slack) {
  if (relation == "ge") return got >= expected - slack;
  if (relation == "le") return got <= expected + slack;
  if (relation != "eq") refuse("no such relation: " + relation);
  return std::abs(got - expected) <= slack;
}

}  // namespace

File::File(const std::string& name)
    : doc_(read(std::string(TRAINPLAN_ROOT "/tests/oracle/") + name)),
      timelines_(doc_.value("timelines", json::object())),
      cases_(doc_.at("cases")),
      pipelines_(timelines_),
      anchors_(anchors()) {}

std::set<std::string> File::called() const {
  std::set<std::string> ids;
  collect(rows(), ids);
  return ids;
}

Value File::anchor(const std::string& id) const {
  const auto it = std::ranges::find(anchors_, id, &Anchor::id);
  if (it == anchors_.end()) refuse("no such constant: " + id);
  return {it->value.value, it->dim, it->dim == kCount};
}

namespace {

Value accelerator_figure(const Accelerator& a, const std::string& name) {
  if (name == "bf16_dense") return {a.bf16_dense.value, kFlops - kSeconds};
  if (name == "memory") return {a.memory.value, kBytes};
  if (name == "memory_bandwidth") return {a.memory_bandwidth.value, kBytes - kSeconds};
  if (name == "scale_up_bandwidth") return {a.scale_up_bandwidth.value, kBytes - kSeconds};
  if (name == "host_link") return {a.host_link.value, kBytes - kSeconds};
  refuse("no such figure: " + name);
}

Value accelerator_figure(const std::string& accelerator, const std::string& name) {
  Issues issues;
  const auto a = load_accelerator(accelerator, issues);
  if (!a) refuse("no such accelerator: " + accelerator);
  return accelerator_figure(*a, name);
}

/// A figure of a shipped cluster, the one that its ledgers start from.
Value cluster_figure(const std::string& cluster, const std::string& name) {
  Issues issues;
  const auto c = load_cluster(cluster, issues);
  if (!c) refuse("no such cluster: " + cluster);
  if (name == "nodes") return {static_cast<double>((*c)->nodes), kCount, true};
  if (name == "nic_per_gpu") return {(*c)->nic_per_gpu.value, kBytes - kSeconds};
  if (name == "pcie") return {(*c)->pcie.value, kBytes - kSeconds};
  if (name == "price") return {(*c)->price.value, kUsd - kSeconds};
  return accelerator_figure((*c)->accelerator, name);
}

/// The expert, counted from 1, that comes last among those that a router chooses.
Value last_chosen(const json& via) {
  const std::vector<double> scores = via.at("of");
  const auto chosen = study::chosen_experts(scores, via.at("chosen"));
  return {static_cast<double>(chosen.back() + 1), kCount, true};
}

Value published_mtbf(const std::string& id) {
  for (const FailureRecord& r : failure_records())
    if (r.id == id && r.mtbf.known) return {r.mtbf.value, kSeconds};
  refuse("no mean time between failures published: " + id);
}

}  // namespace

Value File::calc(const json& via) {
  const std::string id = via.at("calc");
  const CatalogEntry* entry = find_formula(id);
  if (entry == nullptr) refuse("no such formula: " + id);
  const json& args = via.at("args");
  if (args.size() != entry->args.size())
    refuse(id + " takes " + std::to_string(entry->args.size()) + " arguments");
  std::vector<double> values;
  for (std::size_t i = 0; i < entry->args.size(); ++i) {
    const std::string name(entry->args[i].name);
    if (!args.contains(name)) refuse(id + " has no argument for " + name);
    values.push_back(argument(evaluate(args.at(name)), entry->args[i], entry->dims[i]));
  }
  return run(*entry, values);
}

/// A budget is a quantity.
Value File::metric(const json& via) {
  json asked = via;
  if (via.contains("budget")) asked["budget"] = evaluate(via.at("budget")).number;
  const auto [number, dim] = pipeline(via.at("timeline")).metric(asked);
  return {number, dim, dim == kCount};
}

/// Asynchronous saving: when save `index` is committed, or what a failure leaves.
Value File::saved(const json& via) {
  const json& spec = via.at("saves");
  const auto ticks = [&](const json& time) { return sim::whole_picoseconds(evaluate(time).number); };
  const sim::SaveTimes times{
      .interval = ticks(spec.at("interval")),
      .copy = ticks(spec.at("copy")),
      .write = sim::whole_picoseconds(evaluate(spec.at("bytes")).number / evaluate(spec.at("rate")).number)};
  const auto saves = sim::asynchronous_saves(times, spec.at("count"));
  const std::string metric = via.at("metric");
  sim::Ticks out = 0;
  if (metric == "committed") {
    out = saves.at(via.at("index").get<std::size_t>() - 1).committed;
  } else if (metric == "paused") {
    for (const sim::Save& s : saves) out += s.pause();
  } else if (metric == "recovery_point" || metric == "redone") {
    const sim::Ticks failure = ticks(via.at("failure")), point = sim::recovery_point(saves, failure);
    out = metric == "redone" ? failure - point : point;
  } else {
    refuse("no such metric: " + metric);
  }
  return {sim::Clock{}.seconds(out), kSeconds};
}

Value File::operation(const json& via) {
  const json& of = via.at("of");
  Value out = evaluate(of.at(0));
  for (std::size_t i = 1; i < of.size(); ++i) out = combined(via.at("op"), out, evaluate(of.at(i)));
  return out;
}

Value File::evaluate(const json& via) {
  if (via.is_number()) return {via.get<double>(), kCount, true};
  if (via.is_string()) return quantity(via);
  if (via.contains("calc")) return calc(via);
  if (via.contains("op")) return operation(via);
  if (via.contains("saves")) return saved(via);
  if (via.contains("failures")) return published_mtbf(via.at("failures"));
  if (via.contains("anchor")) return anchor(via.at("anchor"));
  if (via.contains("timeline")) return metric(via);
  if (via.contains("chosen")) return last_chosen(via);
  if (via.contains("accelerator")) return accelerator_figure(via.at("accelerator"), via.at("figure"));
  if (via.contains("figure")) return cluster_figure(via.at("cluster"), via.at("figure"));
  const LineItem& item = cases_.item(via.at("case"), via.value("stage", 0), via.at("item"));
  return {item.value, item.dim};
}

std::string disagreement(File& file, const json& row, const json& defaults) {
  const auto field = [&](const char* key, const json& fallback) {
    return row.value(key, defaults.value(key, fallback));
  };
  const std::string unit = field("unit", "");
  const Value one = unit.empty() ? Value{1, kCount, true} : quantity("1 " + unit);
  const Value got = file.evaluate(row.at("via"));
  const std::string shown_got = "got " + shown(got.number / one.number) + " " + unit;
  if (got.dim != one.dim && !got.bare) return shown_got + " in another unit";

  const double tolerance = std::max(field("tolerance", 0.0).get<double>(), 1e-12);
  const json& expect = row.at("expect");
  const bool range = expect.is_array();
  const double low = (range ? expect.at(0) : expect).get<double>(),
               high = (range ? expect.at(1) : expect).get<double>();
  const double value = got.number / one.number, slack = tolerance * std::abs(low);
  const std::string relation = row.value("relation", "eq");
  const bool fits = range ? value >= low && value <= high : holds(relation, value, low, slack);
  if (fits) return "";
  return shown_got + ", expected " + relation + " " + expect.dump() + " within " + shown(tolerance);
}

}  // namespace figures
