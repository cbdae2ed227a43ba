/// What a forecast starts from: figures of the plan, and those of saving and failing, each with its place.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "trainplan/cost/step.hpp"
#include "trainplan/spec/cluster.hpp"
#include "trainplan/spec/forecast.hpp"

namespace trainplan {

/// Of a plan's ledger, in base units. params: those that a token visits. data_behind and used as in CommCost;
/// host_link may be unknown.
struct PlannedRun {
  double params = 0, ideal = 0, step = 0, straggler = 0, exposed = 0, mfu = 0;
  std::string ideal_id;
  double tokens_per_step = 0, checkpoint = 0, per_gpu = 0, layers = 0, micro_batches = 0;
  std::array<double, 4> data_behind{};
  std::array<bool, 4> used{};
  DataOverlap overlap{};
  double nodes = 0, gpus_per_node = 0;
  Figure tdp, host_link;
  std::optional<double> tokens;

  double gpus() const { return nodes * gpus_per_node; }
  /// The same run at the same MFU on so many nodes; what is no compute stays.
  PlannedRun on_nodes(double n) const {
    PlannedRun out = *this;
    const double ratio = nodes / n;
    out.nodes = n;
    out.ideal *= ratio;
    out.step = (step - exposed - straggler) * ratio + exposed + straggler;
    out.per_gpu *= ratio;
    return out;
  }
};

/// One figure for each question. One that is not known stays so.
struct RunFigures {
  Saving saving = Saving::Sync;
  Figure save_time, save_bandwidth, copy_time;
  Figure gpu_mtbf, detect, restart, load;
  bool one_recovery = false;  // restart is the whole recovery
  Figure interval, efficiency, input_wait, straggler_wait;
  Figure repair, spares, spike_every, spike_back, spike_noticed;
  Figure planned_stop, price, pue;

  bool can_save() const { return save_time.known || save_bandwidth.known; }
  bool can_recover() const { return detect.known && restart.known && load.known; }
  /// Everything that a goodput needs.
  bool known() const { return gpu_mtbf.known && can_recover() && can_save(); }
};

namespace detail {

inline Figure said_or(const ForecastSpec::Said& said, const Figure& other) { return said ? *said : other; }
inline Figure first_or(const std::vector<Figure>& said, const Figure& other) {
  return said.empty() ? other : said.front();
}
inline Figure by_default(double value) {
  return {.value = value, .origin = "default", .source = "default", .known = true};
}

}  // namespace detail

/// The command line and the run file come first, then the scenario, then the cluster.
inline RunFigures run_figures(const ForecastSpec& f, const Scenario* scenario, const ClusterSpec& c) {
  using detail::said_or;
  static const Scenario kNone;
  const Scenario& s = scenario != nullptr ? *scenario : kNone;
  RunFigures out;
  out.saving = f.saving.value_or(Saving::Sync);
  out.save_time =
      f.save_bandwidth ? said_or(f.save_time, {}) : said_or(f.save_time, said_or(s.save_time, {}));
  out.save_bandwidth = said_or(f.save_bandwidth, c.storage_write);
  out.copy_time = said_or(f.copy_time, {});
  out.gpu_mtbf = said_or(f.gpu_mtbf, c.gpu_mtbf);
  out.one_recovery = f.recovery.has_value();
  const Figure part{.value = 0, .origin = f.recovery ? f.recovery->origin : "", .known = true};
  out.detect = out.one_recovery ? part : detail::first_or(f.detect, said_or(s.detect, c.detect));
  out.restart = out.one_recovery ? *f.recovery : said_or(f.restart, said_or(s.restart, c.restart));
  out.load = out.one_recovery ? part : said_or(f.load, said_or(s.load, c.load));
  out.interval = detail::first_or(f.interval, {});
  out.efficiency = said_or(f.efficiency, {});
  out.input_wait = said_or(f.input_wait, detail::by_default(0));
  out.straggler_wait = said_or(f.straggler_wait, {});
  out.repair = said_or(f.repair, {});
  out.spares = said_or(f.spares, detail::by_default(0));
  out.spike_every = said_or(f.spike_every, {});
  constexpr double kUsualRollback = 100;  // steps, palm-2022
  out.spike_back = said_or(f.spike_back, detail::by_default(kUsualRollback));
  out.spike_noticed = said_or(f.spike_noticed, detail::by_default(0));
  out.planned_stop = said_or(f.planned_stop, detail::by_default(0));
  out.price = said_or(f.price, c.price);
  out.pue = said_or(f.pue, {});
  return out;
}

}  // namespace trainplan
