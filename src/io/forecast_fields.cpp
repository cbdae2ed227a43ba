#include "trainplan/io/forecast_fields.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr double kLongest = 1e12, kMost = 1e15;  // seconds; of any other unit

struct Range {
  double lo, hi;
};

/// A figure of that dimension inside the range; `what` completes "be from ...".
std::optional<Figure> figure_of(std::string_view text, Dim dim, Range range, std::string_view example,
                                const std::string& origin, Issue& out) {
  const Measure m = parse_quantity(text, dim);
  const std::string hint = "try " + value_to_try(text, dim, example);
  if (!m || m.word == UnitWord::Sequences || m.word == UnitWord::Watts) {
    refuse(out, "quantity", "be " + noun_of(dim) + (m ? "" : "; this " + m.error), hint);
    return std::nullopt;
  }
  if (m.value >= range.lo && m.value <= range.hi)
    return Figure{.value = m.value, .origin = origin, .source = "as given", .known = true};
  const bool low = m.value < range.lo;
  const std::string unit = dim == kCount ? "" : " " + base_unit_of(dim);
  refuse(out, "range",
         dim == kCount && range.hi == 1
             ? "be above 0 % and at most 100 %"
             : (low ? "be at least " : "be at most ") + shown(low ? range.lo : range.hi) + unit,
         hint);
  return std::nullopt;
}

/// What may be said of one figure.
struct Kind {
  Dim dim;
  Range range;
  std::string_view example;
  bool unknown = false;  // may be said to be unknown
};

template <auto Member, const Kind& K>
bool set_one(ForecastSpec& to, std::string_view text, const std::string& origin, Issue& out) {
  if (K.unknown && lower(text) == "unknown") {
    to.*Member = Figure{.origin = origin};
    return true;
  }
  auto figure = figure_of(text, K.dim, K.range, K.example, origin, out);
  if (figure) to.*Member = std::move(*figure);
  return figure.has_value();
}

/// Several figures joined by commas.
template <auto Member, const Kind& K>
bool set_several(ForecastSpec& to, std::string_view text, const std::string& origin, Issue& out) {
  std::vector<Figure> all;
  for (const std::string_view part : comma_parts(text)) {
    auto figure = figure_of(part, K.dim, K.range, K.example, origin, out);
    if (!figure) return false;
    all.push_back(std::move(*figure));
  }
  to.*Member = std::move(all);
  return true;
}

constexpr Named<Saving> kSavings[] = {{"sync", Saving::Sync}, {"async", Saving::Async}};

bool set_saving(ForecastSpec& to, std::string_view text, const std::string&, Issue& out) {
  for (const auto& c : kSavings)
    if (c.name == lower(text)) {
      to.saving = c.value;
      return true;
    }
  return refuse(out, "choice", "be sync or async", hint_for(text, names_of(kSavings)));
}

bool set_scenarios(ForecastSpec& to, std::string_view text, const std::string& origin, Issue& out) {
  std::vector<std::string> names;
  for (const std::string_view part : comma_parts(text)) {
    if (part.empty())
      return refuse(out, "name", "be names joined by commas", "try A,B,C; see trainplan list scenarios");
    names.emplace_back(part);
  }
  to.scenarios = std::move(names);
  to.scenarios_origin = origin;
  return true;
}

constexpr Kind kSpan{kSeconds, {1e-3, kLongest}, "30d"}, kStop{kSeconds, {0, kLongest}, "5d"},
    kMoney{kUsd, {0.01, kMost}, "5M-usd"}, kEfficiency{kCount, {1e-6, 1}, "40%"},
    kWait{kSeconds, {0, kLongest}, "0.5s"}, kSave{kSeconds, {0, kLongest}, "45s"},
    kRate{kBytes - kSeconds, {1, kMost}, "7GB/s"}, kInterval{kSeconds, {1e-3, kLongest}, "1800s"},
    kDelay{kSeconds, {0, kLongest}, "120s"}, kMtbf{kSeconds, {1e-3, 1e15}, "50000h", true},
    kNodes{kCount, {0, 1e4}, "2"}, kSteps{kCount, {0, 1e9}, "100"},
    kPrice{kUsd - kSeconds, {0, kMost}, "2.5USD/h"}, kPue{kCount, {1, 10}, "1.2"};

using F = ForecastSpec;
constexpr ForecastField kFields[] = {
    {"deadline", "time", "calendar time that the run may take", "30d", "none", set_one<&F::deadline, kSpan>},
    {"budget", "money", "what the run may cost", "5M-usd", "none", set_one<&F::budget, kMoney>},
    {"planned_stop", "time", "time of the calendar in which the run stands still as planned", "5d", "0 s",
     set_one<&F::planned_stop, kStop>},
    {"efficiency", "share",
     "MFU of the micro-batches that is assumed in place of the plan's; recompute, kernels, launches, bubble "
     "and "
     "messages within a replica are part of it",
     "40%", "the step that the plan predicts", set_one<&F::efficiency, kEfficiency>},
    {"input_wait", "time", "wait of every step for its input", "0.5s", "0 s", set_one<&F::input_wait, kWait>},
    {"straggler_wait", "time", "wait of every step for the slowest GPU", "1.2s",
     "that of the plan; with efficiency 0 s", set_one<&F::straggler_wait, kWait>},
    {"save_time", "time", "time that a synchronous save stops training", "45s", "checkpoint / save_bandwidth",
     set_one<&F::save_time, kSave>},
    {"save_bandwidth", "data rate", "rate at which the whole cluster writes a checkpoint", "7GB/s",
     "storage/write of the cluster", set_one<&F::save_bandwidth, kRate>},
    {"copy_time", "time", "time that an asynchronous save stops training, with saving async", "2s",
     "share of a GPU / link to its host", set_one<&F::copy_time, kSave>},
    {"saving", "sync or async", "which kind of saving the run uses", "async", "sync", set_saving},
    {"interval", "times", "interval between saves; further ones are compared with the first", "24min,16min",
     "Young's", set_several<&F::interval, kInterval>},
    {"detect", "times", "time to notice a failure; further ones are priced against the first", "600s,100s",
     "reliability/detect of the cluster", set_several<&F::detect, kDelay>},
    {"restart", "time", "time to restart all processes", "300s", "reliability/restart of the cluster",
     set_one<&F::restart, kDelay>},
    {"load", "time", "time to load a checkpoint", "120s", "reliability/load of the cluster",
     set_one<&F::load, kDelay>},
    {"recovery", "time", "noticing, restarting and loading together", "120s", "detect + restart + load",
     set_one<&F::recovery, kDelay>},
    {"gpu_mtbf", "time or unknown", "mean time between failures of one GPU", "50000h",
     "reliability/gpu_mtbf of the cluster", set_one<&F::gpu_mtbf, kMtbf>},
    {"repair", "time", "time until a failed node is back or replaced", "24h",
     "not counted: a node is always at hand", set_one<&F::repair, kDelay>},
    {"spares", "integer", "nodes that are held ready; they cost what others do", "2", "0",
     set_one<&F::spares, kNodes>},
    {"spike_every", "time", "mean time between loss spikes that are rolled back", "7d", "none",
     set_one<&F::spike_every, kSpan>},
    {"spike_back", "steps", "least age of the checkpoint that a spike is rolled back to", "100", "100",
     set_one<&F::spike_back, kSteps>},
    {"spike_noticed", "steps", "steps until a spike is noticed", "50", "0",
     set_one<&F::spike_noticed, kSteps>},
    {"price", "price", "price of one GPU", "2.5USD/h", "price of the cluster", set_one<&F::price, kPrice>},
    {"pue", "number", "power of the site over that of its GPUs", "1.2", "none: energy of the GPUs alone",
     set_one<&F::pue, kPue>},
    {"scenario", "names", "named save and recovery times, side by side; the first is priced in full", "A,B,C",
     "none", set_scenarios},
};

}  // namespace

std::span<const ForecastField> forecast_fields() { return kFields; }

bool set_forecast_field(ForecastSpec& to, const ForecastField& field, std::string_view text,
                        const std::string& origin, Issues& issues, Issue where) {
  where.got = clipped(text);
  if (field.set(to, text, origin, where)) return true;
  issues.add(std::move(where));
  return false;
}

}  // namespace trainplan
