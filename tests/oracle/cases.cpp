#include "cases.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "trainplan/io/load.hpp"

namespace figures {
namespace {

using nlohmann::json;
using namespace trainplan;

template <class T>
T loaded(std::optional<T> value, const Issues& issues, const std::string& what) {
  if (value) return std::move(*value);
  std::string text = "cannot load " + what;
  for (const Issue& i : issues.all())
    text += "\n  " + i.file + " " + i.pointer + " = " + i.got + ": " + i.must;
  throw std::runtime_error(text);
}

template <class F>
auto load(F loader, const json& name) {
  Issues issues;
  auto value = loader(name.get<std::string>(), issues);
  return loaded(std::move(value), issues, name.get<std::string>());
}

template <class E, std::size_t N>
E one_of(const std::string_view (&names)[N], const std::string& name) {
  const auto* it = std::ranges::find(names, std::string_view(name));
  if (it == std::end(names)) throw std::runtime_error("no such choice: " + name);
  return static_cast<E>(it - std::begin(names));
}

void only(const json& object, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(keys, std::string_view(key)) == keys.end())
      throw std::runtime_error("no such field: " + key);
}

/// Defaults as the program has them: gradients of the framework, reduced as they are stored.
Recipe recipe_of(const json& spec, const FrameworkProfile& framework) {
  only(spec, {"model", "cluster", "framework", "sequence", "batch", "plan", "recipe"});
  Recipe r;
  r.sequence = spec.at("sequence");
  r.global_batch = spec.at("batch");
  r.gradient = r.reduce = framework.default_gradient;
  const json given = spec.value("recipe", json::object());
  only(given, {"reduce"});
  if (given.contains("reduce")) r.reduce = given.at("reduce") == "bf16" ? DType::Bf16 : DType::Fp32;
  return r;
}

Plan plan_of(const json& p, const FrameworkProfile& framework) {
  only(p, {"tp", "pp", "vpp", "cp", "dp", "micro_batch", "sharding", "reshard", "sync_each_micro_batch"});
  Plan plan;
  const auto degree = [&](const char* key) { return static_cast<std::uint16_t>(p.value(key, 1)); };
  plan.tp = degree("tp");
  plan.pp = degree("pp");
  plan.vpp = degree("vpp");
  plan.cp = degree("cp");
  plan.micro_batch = degree("micro_batch");
  plan.dp = p.value("dp", 1U);
  plan.shard = plan.dp * plan.cp;
  plan.sharding = framework.default_sharding;
  if (p.contains("sharding")) plan.sharding = one_of<Sharding>(kShardingNames, p.at("sharding"));
  plan.schedule = plan.vpp > 1 ? Schedule::Interleaved : Schedule::OneFOneB;
  plan.sequence_parallel = plan.tp > 1;
  plan.reshard = p.value("reshard", true);
  plan.sync_each_micro_batch = p.value("sync_each_micro_batch", true);
  return plan;
}

}  // namespace

Case::Case(const json& spec)
    : model_(load(&load_model, spec.at("model"))),
      cluster_(load(&load_cluster, spec.at("cluster"))),
      framework_(load(&load_framework, spec.at("framework"))),
      calibration_(load([](std::string_view name, Issues& issues) { return load_calibration(issues, name); },
                        "baseline")),
      problem_(model_, cluster_, framework_, calibration_, recipe_of(spec, *framework_)),
      plan_(plan_of(spec.at("plan"), *framework_)) {
  if (framework_->rows(plan_.sharding) == nullptr)
    throw std::runtime_error("the framework has no such sharding");
}

const Ledger& Case::ledger(int stage) {
  const auto it = ledgers_.find(stage);
  return it != ledgers_.end() ? it->second
                              : ledgers_.emplace(stage, explain(problem_, plan_, stage)).first->second;
}

const LineItem& Cases::item(const std::string& name, int stage, const std::string& id) {
  if (!specs_->contains(name)) throw std::runtime_error("no such case: " + name);
  const LineItem* found = cases_.try_emplace(name, specs_->at(name)).first->second.ledger(stage).find(id);
  if (found == nullptr) throw std::runtime_error("the ledger has no item " + id);
  return *found;
}

}  // namespace figures
