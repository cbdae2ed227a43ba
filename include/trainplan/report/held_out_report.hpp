/// `validate --held-out` and `--recalibrated`: errors of rows that the constants were not fitted to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/report/held_out.hpp"
#include "trainplan/report/recalibrated.hpp"
#include "trainplan/report/report.hpp"

namespace trainplan {

namespace detail {

inline Value held_share(double x) { return {x, Unit::Share}; }
inline Cell goal(double x) { return x > 0 ? Cell{held_share(x)} : Cell{}; }

inline Table class_table(const HeldOut& h) {
  Table t{"classes",
          "Means over " + std::to_string(h.splits) + (h.splits == 1 ? " split" : " splits") +
              ": constants fitted to one half, errors of the other",
          {{"class", "rows"},
           {"rows", "of a half"},
           {"median", "median error"},
           {"median_target", "target"},
           {"mean", "mean"},
           {"mean_target", "target"},
           {"p90", "9 of 10 below"},
           {"p90_target", "target"},
           {"holds", "holds"}},
          {}};
  for (const auto& [c, e] : h.classes) {
    if (e.splits == 0) continue;
    const auto within = [](double x, double target) { return target == 0 || x <= target; };
    const bool holds = within(e.median, c->median) && within(e.mean, c->mean) && within(e.p90, c->p90);
    t.rows.push_back({std::string(c->name), Value{e.rows, Unit::Count}, held_share(e.median), goal(c->median),
                      held_share(e.mean), goal(c->mean), held_share(e.p90), goal(c->p90), holds});
  }
  return t;
}

inline Table coverage_table(const HeldOut& h) {
  Table t{
      "coverage",
      "Held-out rows inside their 80 % ranges, groups of at least " + std::to_string(kCoverageRows) + " rows",
      {{"by", "by"},
       {"group", "group"},
       {"rows", "rows"},
       {"inside", "inside the range"},
       {"holds", "72 to 90 %"}},
      {}};
  for (const GroupCoverage& g : h.coverage)
    t.rows.push_back({g.by, g.group, Value{static_cast<double>(g.rows)}, held_share(g.share()), g.holds()});
  return t;
}

inline Table held_out_sources(const HeldOut& h) {
  Table t{"sources",
          "By source: held out in the splits, in sample (constants fitted to all rows), and left out (to all "
          "other sources)",
          {{"source", "source"},
           {"kind", "kind"},
           {"rows", "rows"},
           {"held_out_median", "held out: median"},
           {"held_out_mean", "mean"},
           {"in_sample_median", "in sample: median"},
           {"in_sample_mean", "mean"},
           {"left_out_median", "left out: median"},
           {"left_out_mean", "mean"}},
          {}};
  for (const HeldOutSource& s : h.sources) {
    const auto held = [&](double x) { return s.held_out.splits > 0 ? Cell{held_share(x)} : Cell{}; };
    t.rows.push_back({s.source, s.kind, Value{static_cast<double>(s.in_sample.rows)}, held(s.held_out.median),
                      held(s.held_out.mean), held_share(s.in_sample.median), held_share(s.in_sample.mean),
                      held_share(s.left_out.median), held_share(s.left_out.mean)});
  }
  return t;
}

inline Table recalibrated_table(const std::vector<RecalibratedGroup>& groups) {
  Table t{"groups",
          "Median errors of the rows that were not given",
          {{"source", "source"},
           {"accelerator", "accelerator"},
           {"stack", "stack"},
           {"rows", "rows"},
           {"before", "before"},
           {"after", "after"},
           {"holds", "at most 1 point worse"},
           {"outcome", "moved"}},
          {}};
  for (const RecalibratedGroup& g : groups)
    t.rows.push_back({g.source, g.accelerator, g.stack, Value{static_cast<double>(g.rows)},
                      held_share(g.before), held_share(g.after), g.after <= g.before + kWorseAllowed,
                      g.outcome});
  return t;
}

inline Table drawn_table(const std::vector<RecalibratedGroup>& groups, std::size_t count) {
  Table t{"drawn",
          "The same of " + std::to_string(count) + " rows drawn at random, means of " +
              std::to_string(kRowDraws) + " draws",
          {{"source", "source"},
           {"accelerator", "accelerator"},
           {"stack", "stack"},
           {"rows", "rows"},
           {"before", "before"},
           {"after", "after"}},
          {}};
  for (const RecalibratedGroup& g : groups)
    t.rows.push_back({g.source, g.accelerator, g.stack, Value{static_cast<double>(g.rows)},
                      held_share(g.drawn_before), held_share(g.drawn)});
  return t;
}

}  // namespace detail

/// scored: standard rows with a step time that are predicted; of: all that have one.
inline Section held_out_section(const HeldOut& h, std::size_t scored, std::size_t of) {
  Section s{"held_out", "Held-out errors of step times", {}};
  s.blocks.push_back(
      Facts{"rows",
            {{"scored", "standard rows that are predicted", Value{static_cast<double>(scored)},
              "of " + std::to_string(of) + " that have a step time; the others stand in validate", ""}}});
  s.blocks.push_back(detail::class_table(h));
  if (!h.coverage.empty()) s.blocks.push_back(detail::coverage_table(h));
  s.blocks.push_back(detail::held_out_sources(h));
  return s;
}

inline Section recalibrated_section(const std::vector<RecalibratedGroup>& groups, std::size_t count) {
  Section s{"recalibrated",
            std::to_string(count) + " rows of a source, accelerator and stack given to calibrate",
            {}};
  double before = 0, after = 0, drawn = 0;
  for (const RecalibratedGroup& g : groups) {
    before += g.before / static_cast<double>(groups.size());
    after += g.after / static_cast<double>(groups.size());
    drawn += g.drawn / static_cast<double>(groups.size());
  }
  s.blocks.push_back(
      Facts{"means",
            {{"before", "mean of the medians before", detail::held_share(before),
              "constants fitted to all rows but those of the group", ""},
             {"after", "after", detail::held_share(after),
              after <= kRecalibratedTarget ? "target 7 %: holds" : "target 7 %: does not hold", ""},
             {"drawn", "after, rows at random", detail::held_share(drawn),
              "mean of " + std::to_string(kRowDraws) + " draws of " + std::to_string(count) + " rows", ""}}});
  s.blocks.push_back(detail::recalibrated_table(groups));
  s.blocks.push_back(detail::drawn_table(groups, count));
  return s;
}

}  // namespace trainplan
