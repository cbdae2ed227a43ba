#include "sweep.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/search/answer.hpp"
#include "trainplan/spec/resize.hpp"

namespace trainplan {
namespace {

bool has_field(const RunOptions& options, const std::string& key) {
  return std::ranges::any_of(options.fields, [&](const auto& f) { return f.first == key; });
}

/// MODEL CLUSTER, one of them beside an option for the other, or one RUN: the words become fields, in front.
bool name_words(RunOptions& options, Issues& issues) {
  std::vector<std::string>& words = options.words;
  const bool model = has_field(options, "model"), cluster = has_field(options, "cluster");
  std::vector<std::string> keys;
  if (words.size() == 2) keys = {"model", "cluster"};
  if (words.size() == 1 && model != cluster) keys = {model ? "cluster" : "model"};
  const bool all_options = words.empty() && model && cluster;
  if (keys.empty() && !all_options && !words_name_a_run("sweep", words, issues)) return false;
  for (std::size_t i = 0; i < keys.size(); ++i)
    options.fields.insert(options.fields.begin() + static_cast<std::ptrdiff_t>(i), {keys[i], words[i]});
  if (!keys.empty()) words.clear();
  return true;
}

/// The specs of several names, each loaded once.
template <class Map>
void load_each(const std::vector<std::string>& names, const std::string& what, Map& out, Issues& issues,
               auto load) {
  for (const std::string& name : names) {
    if (out.contains(name)) continue;
    auto loaded = named(what, issues, [&] { return load(name); });
    if (loaded) out.emplace(name, std::move(*loaded));
  }
}

}  // namespace

const SweepAxis* Sweep::axis(std::string_view key) const {
  const auto found = std::ranges::find(axes_, key, &SweepAxis::key);
  return found == axes_.end() ? nullptr : &*found;
}

void Sweep::add_axis(const std::string& key, const std::string& text, Issues& issues) {
  auto added = sweep_axis(key, text, issues);
  if (!added) return;
  if (axis(added->key) != nullptr) {
    issues.add({.rule = "twice",
                .pointer = option_of(added->key),
                .got = text,
                .must = "be given once",
                .hint = "join its values by commas"});
    return;
  }
  axes_.push_back(std::move(*added));
}

/// Pins are axes of one value.
void Sweep::add_pins(const std::string& pins, Issues& issues) {
  RunSpec scratch;
  if (!set_pins(scratch, pins, issues)) return;
  for (const std::string_view pin : comma_parts(pins)) {
    const std::size_t equals = pin.find('=');
    if (equals == std::string_view::npos) continue;  // after a last comma
    const std::string key(pin.substr(0, equals));
    if (const RunField* field = find_run_field(key.substr(key.find_first_not_of(" \t"))))
      add_axis(std::string(field->key), std::string(pin.substr(equals + 1)), issues);
  }
}

/// False when there is no run to speak of; other mistakes leave the rest to be looked at.
bool Sweep::read(RunOptions options, Issues& issues) {
  if (!name_words(options, issues)) return false;
  if (!options.words.empty()) {
    auto run = named("RUN", issues, [&] { return load_run(options.words[0], issues); });
    if (!run) return false;
    base_ = std::move(*run);
    require_names(base_, issues);
  }
  for (const auto& [key, text] : options.fields) add_axis(key, text, issues);
  for (const std::string& pins : options.pins) add_pins(pins, issues);
  options_ = std::move(options);
  std::size_t all = 1;
  for (const SweepAxis& a : axes_) {
    all = std::min(all * a.values.size(), kMostCombinations + 1);
    if (all <= kMostCombinations) continue;
    issues.add({.rule = "sweep-size",
                .pointer = option_of(a.key),
                .got = std::to_string(a.values.size()) + " values",
                .must = "leave at most " + std::to_string(kMostCombinations) + " combinations of all values",
                .hint = "give fewer values, or several sweeps"});
    break;
  }
  return true;
}

std::vector<std::string> Sweep::named_by(std::string_view key, const std::string& otherwise) const {
  const SweepAxis* a = axis(key);
  if (a != nullptr) return a->values;
  return otherwise.empty() ? std::vector<std::string>{} : std::vector{otherwise};
}

void Sweep::load_all(Issues& issues) {
  load_each(named_by("model", base_.model), "model", models_, issues,
            [&](const std::string& name) { return load_model(name, issues); });
  load_each(named_by("cluster", base_.cluster), "cluster", clusters_, issues,
            [&](const std::string& name) { return load_cluster(name, issues); });
  std::vector<std::string> frameworks =
      named_by("framework", base_.framework.value_or(std::string(kUsualFramework)));
  frameworks.emplace_back(kShardedFramework);
  load_each(frameworks, "framework", frameworks_, issues,
            [&](const std::string& name) { return load_framework(name, issues); });
  std::vector<std::string> calibrations = named_by("calibration", base_.calibration.value_or(""));
  if (calibrations.empty()) calibrations.emplace_back();  // the shipped constants
  load_each(calibrations, "calibration", calibrations_, issues,
            [&](const std::string& name) { return load_calibration(issues, name); });
}

/// A number of GPUs that no cluster of the sweep can have is a mistake; one that some cannot have is a row.
void Sweep::check_gpus(Issues& issues) const {
  const SweepAxis* gpus = axis(kGpuAxis);
  if (gpus == nullptr || clusters_.empty()) return;
  for (const Cell& cell : gpus->cells) {
    Issues refused;
    const auto n = static_cast<std::int64_t>(std::get<Value>(cell).number);
    const bool possible = std::ranges::any_of(
        clusters_, [&](const auto& c) { return with_gpus(*c.second, n, refused).has_value(); });
    if (!possible) issues.add(refused.all().front());
  }
}

std::optional<Sweep> Sweep::load(RunOptions options, bool exhaustive, Issues& issues) {
  Sweep sweep;
  sweep.exhaustive_ = exhaustive;
  if (!sweep.read(std::move(options), issues)) return std::nullopt;
  sweep.load_all(issues);
  sweep.check_gpus(issues);
  if (issues.has_errors()) return std::nullopt;
  return sweep;
}

std::size_t Sweep::size() const {
  std::size_t all = 1;
  for (const SweepAxis& a : axes_) all *= a.values.size();
  return all;
}

SweepTable Sweep::table() const {
  std::vector<RowColumn> asked;
  for (const SweepAxis& a : axes_) {
    const RunField* field = find_run_field(a.key);
    std::string label = a.key == kGpuAxis ? "GPUs" : field != nullptr ? std::string(field->key) : a.key;
    std::ranges::replace(label, '_', ' ');
    asked.push_back({{a.key, std::move(label)}, a.unit});
  }
  return {std::move(asked), base_.tokens.has_value() || axis("tokens") != nullptr};
}

/// The place of a row on each axis.
std::vector<std::size_t> Sweep::places_of(std::size_t row) const {
  std::vector<std::size_t> places(axes_.size());
  for (std::size_t a = axes_.size(); a-- > 0; row /= axes_[a].values.size())
    places[a] = row % axes_[a].values.size();
  return places;
}

std::optional<Trial> Sweep::plan(const Question& question, Issues& issues) const {
  auto derivation = question.answer(issues, Nearby::NotNamed);
  if (!derivation) return std::nullopt;
  if (!exhaustive_) return std::move(derivation->chosen);
  auto found = search_answer(question.planner(), derivation->chosen.problem.recipe.global_batch, {},
                             one_after_the_other);
  return std::move(found.value().preferred.trial);  // the derived plan is legal, so there is one
}

SweepAnswer Sweep::answer(std::size_t row, const SweepTable& table) const {
  const std::vector<std::size_t> places = places_of(row);
  std::vector<Cell> asked;
  Issues issues;
  RunSpec run = base_;
  std::optional<std::int64_t> gpus;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const SweepAxis& axis = axes_[a];
    asked.push_back(axis.cells[places[a]]);
    if (axis.key == kGpuAxis)
      gpus = static_cast<std::int64_t>(std::get<Value>(asked.back()).number);
    else
      set_field(run, axis.key, axis.values[places[a]], issues);
  }
  std::optional<Checked<ClusterSpec>> cluster = clusters_.at(run.cluster);
  if (gpus) cluster = with_gpus(**cluster, *gpus, issues);
  if (!cluster) return {table.illegal(std::move(asked), issues)};
  const LoadedSpecs specs{
      models_.at(run.model), *cluster, frameworks_.at(run.framework.value_or(std::string(kUsualFramework))),
      frameworks_.at(std::string(kShardedFramework)), calibrations_.at(run.calibration.value_or(""))};
  const auto question = Question::of(std::move(run), specs, options_, issues);
  const auto trial = question ? plan(*question, issues) : std::nullopt;
  if (!trial) return {table.illegal(std::move(asked), issues)};
  const std::vector<Gate> gates = gates_of(*trial, question->run.limits);
  const Verdict verdict = SweepTable::verdict(*trial, gates);
  return {table.planned(std::move(asked), *trial, gates, issues),
          verdict == Verdict::Fits || verdict == Verdict::Tight};
}

}  // namespace trainplan
