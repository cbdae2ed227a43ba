/// What a forecast of a whole run is asked with: the object "forecast" of a run file and the options beside
/// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainplan/spec/figure.hpp"

namespace trainplan {

/// Whether training stops until a checkpoint is written, or only until it is copied.
enum class Saving : std::uint8_t { Sync, Async };
inline constexpr std::string_view kSavingNames[] = {"sync", "async"};
constexpr std::string_view name_of(Saving s) { return kSavingNames[static_cast<int>(s)]; }

/// Figures keep where they were said (an option, or a place of the run file). What is left out comes from the
/// cluster, the plan or a scenario; a figure that is there and not known was said to be unknown. Of detect
/// and interval the first value is in force, the others are compared with it.
struct ForecastSpec {
  using Said = std::optional<Figure>;
  Said deadline, budget, planned_stop;
  Said efficiency, input_wait, straggler_wait;
  Said save_time, save_bandwidth, copy_time;
  std::optional<Saving> saving;
  std::vector<Figure> interval, detect;
  Said restart, load, recovery, gpu_mtbf;
  Said repair, spares;
  Said spike_every, spike_back, spike_noticed;
  Said price, pue;
  std::vector<std::string> scenarios;
  std::string scenarios_origin;
};

/// Named answers to how fast a run saves and recovers; a figure that is left out is the cluster's.
struct Scenario {
  std::string name, title, origin;
  ForecastSpec::Said save_time, detect, restart, load;
};

}  // namespace trainplan
