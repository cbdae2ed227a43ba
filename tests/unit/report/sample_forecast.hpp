/// A run of 15T tokens in steps of 5 s, and scenarios to forecast it with.
#pragma once

#include <vector>

#include "asked.hpp"
#include "trainplan/report/forecast_report.hpp"
#include "trainplan/report/forecast_unknown.hpp"

namespace forecasts {

using namespace trainplan;

inline Figure known(double value) { return {.value = value, .origin = "option --x", .known = true}; }

/// So many GPUs in nodes of 8, a step of 5 s at 40 % MFU.
inline PlannedRun planned(double gpus) {
  PlannedRun p;
  p.ideal = 2;
  p.ideal_id = "compute.ideal_causal";
  p.step = 5;
  p.mfu = 0.4;
  p.tokens_per_step = 4194304;
  p.checkpoint = 1e12;
  p.per_gpu = 1e12 / gpus;
  p.layers = 32;
  p.micro_batches = 8;
  p.nodes = gpus / 8;
  p.gpus_per_node = 8;
  p.params = 0.38 * 5 * gpus * 989e12 / (6 * p.tokens_per_step);  // 38 % of 6 N D
  p.tokens = 15e12;
  return p;
}

inline Scenario scenario(const char* name, double save, double detect, double restart, double load) {
  Scenario s;
  s.name = name;
  s.save_time = known(save);
  s.detect = known(detect);
  s.restart = known(restart);
  s.load = known(load);
  return s;
}
inline const Scenario kA = scenario("A", 300, 600, 300, 120), kB = scenario("B", 10, 600, 300, 120),
                      kC = scenario("C", 10, 60, 30, 60);

inline ClusterSpec cluster() {
  ClusterSpec c;
  c.gpu_mtbf = known(50000.0 * 3600);
  c.price = known(2.5 / 3600);
  return c;
}

inline ForecastAnswer asked(double gpus, const std::vector<Scenario>& scenarios,
                            const ForecastSpec& spec = {}) {
  return answer_forecast(planned(gpus), spec, scenarios, scenarios.back(), cluster());
}

}  // namespace forecasts
