#include "timeline_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "time_axis.hpp"

namespace trainplan {
namespace {

using sim::Ran;
using sim::Ticks;

template <class F>
void for_each_slot(const PipelinePicture& p, F visit) {
  for (const auto& of_stage : p.timeline.stages)
    for (const Ran& ran : of_stage)
      if (ran.end > ran.start) visit(ran);
}

}  // namespace

Scale scale_for(const PipelinePicture& p, int room) {
  const Ticks whole = std::max<Ticks>(p.timeline.makespan, 1);
  Ticks shortest = whole, common = std::gcd(p.timeline.makespan, p.timeline.gradient_ready);
  for_each_slot(p, [&](const Ran& ran) {
    shortest = std::min(shortest, ran.end - ran.start);
    common = std::gcd(common, std::gcd(ran.start, ran.end));
  });
  if (common > 0 && whole / common <= room) {
    const auto units = static_cast<int>(whole / common), each = room / units;
    return {Drawn::Exact, static_cast<double>(common) / each, units * each};
  }
  constexpr std::array leading{1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0};
  const double ticks = round_step(p.seconds(whole) / room, leading) / p.seconds_per_tick;
  const auto columns = static_cast<int>(std::ceil(static_cast<double>(whole) / ticks * (1 - 1e-9)));
  return {static_cast<double>(shortest) >= ticks ? Drawn::Rounded : Drawn::Shares, ticks, columns};
}

}  // namespace trainplan
