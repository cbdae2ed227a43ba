/// Which schedule to propose when: rules of the papers and frameworks, judged on the simulated numbers.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/report/schedule_answer.hpp"

namespace trainplan {

namespace detail {

/// Idle time up to which 1F1B is left alone, and how far times may differ that count as near equal.
inline constexpr double kFewPercent = 0.03, kNearEqual = 0.05, kMuchLess = 0.1;

/// One case: what is at hand, what to take, and why.
struct Advice {
  std::string when;
  const sim::Attempt* take = nullptr;
  Sentence why{};
};

class Adviser {
  const ScheduleAnswer& a_;

  using Ids = std::initializer_list<std::string_view>;

  static Value time(double seconds) { return {seconds, Unit::Time}; }
  ScheduleFigures of(const sim::Attempt& t) const { return figures_of(a_, t); }
  const sim::Attempt* fitting(std::string_view id) const {
    const sim::Attempt* t = a_.find(id);
    return t != nullptr && a_.fits(*t) ? t : nullptr;
  }
  /// The shortest of those that fit and pass a test; of equals the one with less memory.
  template <class Test>
  const sim::Attempt* shortest(Ids ids, Test test) const {
    const sim::Attempt* best = nullptr;
    const auto key = [](const sim::Attempt& t) { return std::pair(t.timeline.makespan, t.peak()); };
    for (const std::string_view id : ids)
      if (const sim::Attempt* t = fitting(id); t != nullptr && test(*t))
        if (best == nullptr || key(*t) < key(*best)) best = t;
    return best;
  }
  const sim::Attempt* shortest(Ids ids) const {
    return shortest(ids, [](const sim::Attempt&) { return true; });
  }

  /// "3 sets", "1 set".
  static void add_sets(Sentence& s, double sets) {
    s.emplace_back(Value{sets, Unit::Count});
    s.emplace_back(sets == 1 ? " set" : " sets");
  }

  /// ": 49.3 ms less than 1F1B and 408 MiB more on the fullest stage".
  void compare(Sentence& s, const sim::Attempt& t, const sim::Attempt* base) const {
    if (base == nullptr || &t == base) return;
    const ScheduleFigures mine = of(t), other = of(*base);
    const auto difference = [&](double d, Value v, const char* what) {
      s.emplace_back(v);
      s.emplace_back(std::string(d < 0 ? " less" : " more") + what);
    };
    const double step = mine.step - other.step, bytes = mine.peak - other.peak;
    s.emplace_back("; beside " + std::string(base->schedule->id) + " ");
    if (step == 0)
      s.emplace_back("the same step");
    else
      difference(step, time(std::abs(step)), "");
    s.emplace_back(" and ");
    if (!a_.pipeline.sized && mine.stage_sets == other.stage_sets)
      s.emplace_back("as many sets");
    else if (!a_.pipeline.sized) {
      add_sets(s, mine.stage_sets);
      s.insert(s.end(), {" in place of ", Value{other.stage_sets, Unit::Count}});
    } else if (bytes == 0)
      s.emplace_back("the same memory");
    else
      difference(bytes, Value{std::abs(bytes), Unit::Request}, " on the fullest stage");
  }

  Advice none(std::string when, std::string why) const {
    return {std::move(when), nullptr, {std::move(why)}};
  }

  /// 1F1B, or chunks where it idles much.
  Advice whole_backward() const {
    std::string when = "Megatron-LM";
    const sim::Attempt *plain = fitting("one_f1b"), *loops = fitting("interleaved"),
                       *base = a_.find("one_f1b");
    if (plain == nullptr && loops == nullptr)
      return none(std::move(when), "neither one_f1b nor interleaved fits or may run");
    if (plain == nullptr) return {std::move(when), loops, {"one_f1b does not fit"}};
    const ScheduleFigures f = of(*plain);
    const bool few = f.idle_share <= kFewPercent;
    const bool chunks = loops != nullptr && !few && loops->timeline.makespan < plain->timeline.makespan;
    Sentence why{chunks ? "one_f1b idles " : "it idles ", Value{f.idle_share, Unit::Share}, " of its step"};
    if (!chunks) {
      why.emplace_back(few                ? ", which more chunks hardly better"
                       : loops == nullptr ? "; interleaved does not fit or may not run"
                                          : "; interleaved is no shorter with these transfers");
      return {std::move(when), plain, std::move(why)};
    }
    why.emplace_back(", above a few percent");
    compare(why, *loops, base);
    return {std::move(when), loops, std::move(why)};
  }

  Advice only_1f1b() const {
    const sim::Attempt* t = fitting("one_f1b");
    if (t == nullptr) return none("DeepSpeed", "it has one_f1b alone, which does not fit");
    return {"DeepSpeed", t, {"it has no other schedule"}};
  }

  Advice of_torch() const {
    std::string when = "torch.distributed.pipelining";
    const sim::Attempt* t =
        shortest({"gpipe", "one_f1b", "interleaved", "looped_bfs", "interleaved_zb", "zbv", "dualpipev"});
    if (t == nullptr) return none(std::move(when), "none of its schedules fits");
    Sentence why{"the shortest of its seven that fits"};
    if (t->schedule->split)
      why.emplace_back("; its backward pass is in halves, which torch.compile is not for");
    compare(why, *t, a_.find("one_f1b"));
    return {std::move(when), t, std::move(why)};
  }

  /// As many sets as 1F1B holds; bytes may differ, since the ends of the model are no layers.
  Advice halves() const {
    std::string when = "backward in halves, sets of 1F1B";
    const double sets = a_.pipeline.cut(sim::Placement::Linear).shape.stages;
    const sim::Attempt* t =
        shortest({"zb_h1", "zb_auto", "interleaved_zb", "zbv", "v_zb", "v_half", "v_search"},
                 [&](const sim::Attempt& x) { return of(x).stage_sets <= sets; });
    if (t == nullptr) return none(std::move(when), "no order with halves fits in so many sets");
    Sentence why{"the shortest with at most "};
    add_sets(why, sets);
    compare(why, *t, a_.find("one_f1b"));
    return {std::move(when), t, std::move(why)};
  }

  Advice memory_to_spare() const {
    std::string when = "backward in halves, memory to spare";
    const sim::Attempt* t = shortest({"zb_h1", "zb_h2", "zb_auto", "interleaved_zb", "zbv", "v_zb", "v_half",
                                      "v_search", "dualpipe", "dualpipev"});
    if (t == nullptr) return none(std::move(when), "no order with halves fits");
    Sentence why{"the shortest", a_.limited() ? " that fits" : "", ", with "};
    add_sets(why, of(*t).stage_sets);
    compare(why, *t, a_.find("one_f1b"));
    return {std::move(when), t, std::move(why)};
  }

  /// Bytes where layers have a size, else sets.
  std::pair<double, double> kept(const sim::Attempt& t) const {
    return {static_cast<double>(t.peak()), of(t).stage_sets};
  }
  /// It fits, and keeps less than 1F1B, which may be refused: then only the fit counts.
  bool saves(const sim::Attempt* t) const {
    const sim::Attempt* base = a_.find("one_f1b");
    return t != nullptr && (base == nullptr || kept(*t) < kept(*base));
  }
  /// What a V keeps, as 1F1B does; the smallest of all where it is another one.
  Advice sparing(std::string when, const sim::Attempt& t, Sentence why) const {
    const sim::Attempt *base = a_.find("one_f1b"),
                       *least = a_.least([&](const sim::Attempt&x) { return kept(x); });
    compare(why, t, base);
    if (kept(*least) < kept(t)) {
      why.emplace_back("; the smallest is " + std::string(least->schedule->id) + " with ");
      if (a_.pipeline.sized)
        why.emplace_back(Value{of(*least).peak, Unit::Request});
      else
        add_sets(why, of(*least).stage_sets);
    }
    return {std::move(when), &t, std::move(why)};
  }

  /// V-Half does not grow with the micro-batches under a condition, V-Min only for near equal times.
  Advice memory_short() const {
    std::string when = "activation memory short";
    const MeanPasses& p = a_.passes;
    const double f = p.forward.num(), x = p.input_gradient.num(), w = p.weight_gradient.num();
    const bool half = w + 2 * x >= 2 * f && w + 2 * f >= 2 * x;
    const double low = std::min({f, x, w}), high = std::max({f, x, w});
    const double sent = a_.seconds(a_.pipeline.cut(sim::Placement::Linear).shape.durations.transfer);
    const bool third = high <= (1 + kNearEqual) * low && sent <= kMuchLess * f / 2;
    const sim::Attempt *v_half = fitting("v_half"), *v_min = fitting("v_min");
    Sentence why;
    if (half && saves(v_half)) {
      add_sets(why, of(*v_half).stage_sets);
      why.emplace_back(
          ", and its idle time does not grow with the micro-batches: T_W + 2 T_X >= 2 T_F and T_W + 2 T_F >= "
          "2 "
          "T_X");
      return sparing(std::move(when), *v_half, std::move(why));
    }
    if (saves(v_min)) {
      add_sets(why, of(*v_min).stage_sets);
      why.emplace_back(third  ? "; the three times are near equal and transfers short"
                       : half ? "; v_half does not fit or saves nothing"
                              : "; v_half would idle more with every micro-batch at these times");
      if (!third)
        why.emplace_back("; it grows with the micro-batches, as times differ or transfers are long");
      return sparing(std::move(when), *v_min, std::move(why));
    }
    const sim::Attempt* least =
        a_.least([&](const sim::Attempt& t) { return std::pair(kept(t), t.timeline.gradient_ready); });
    if (least == nullptr) return none(std::move(when), "nothing fits: recompute, or use more stages");
    return {std::move(when),
            least,
            {"neither v_half nor v_min fits and keeps less than 1F1B; this is the smallest, of equals the "
             "shortest"}};
  }

  Advice experts() const {
    std::string when = "expert exchange as long as compute";
    const sim::Attempt *one = fitting("dualpipev"), *two = fitting("dualpipe"), *zbv = a_.find("zbv");
    const sim::Attempt* t = one != nullptr ? one : two;
    if (t == nullptr)
      return none(std::move(when), "neither dualpipev nor dualpipe may run within the limits");
    Sentence why{one != nullptr ? "one copy of the parameters" : "two copies of the parameters",
                 "; only a pair that hides the exchange pays, so give its measured time as --pair"};
    compare(why, *t, zbv);
    return {std::move(when), t, std::move(why)};
  }

 public:
  explicit Adviser(const ScheduleAnswer& a) : a_(a) {}

  std::vector<Advice> all() const {
    std::vector<Advice> out{whole_backward(),  only_1f1b(),    of_torch(), halves(),
                            memory_to_spare(), memory_short(), experts()};
    return out;
  }
};

}  // namespace detail

/// A row for each case with the schedule to take, then why.
inline Section advice_section(const ScheduleAnswer& a) {
  Section s{"advice", "Which one when", {}};
  Table table{"advice",
              "",
              {{"when", "with"},
               {"schedule", "take"},
               {"step", "step"},
               {"idle_share", "idle"},
               {"peak", "fullest stage"},
               {"stage_sets", "sets"}},
              {}};
  Notes why{"why", {}};
  const sim::Shape& shape = a.pipeline.cut(sim::Placement::Linear).shape;
  if (shape.micro_batches < shape.stages)
    why.sentences.push_back({"fewer micro-batches than stages: whatever the schedule, stages wait; raise " +
                             std::to_string(shape.micro_batches) + " to " + std::to_string(shape.stages) +
                             " or more first"});
  for (const detail::Advice& advice : detail::Adviser(a).all()) {
    std::vector<Cell> row{advice.when};
    std::string name = "none";
    if (advice.take != nullptr) {
      const ScheduleFigures f = figures_of(a, *advice.take);
      name = advice.take->schedule->id;
      row.insert(row.end(), {Code{name}, Value{f.step, Unit::Time}, Value{f.idle_share, Unit::Share},
                             a.pipeline.sized ? Cell(Value{f.peak, Unit::Request}) : Cell{},
                             Value{f.stage_sets, Unit::Count}});
    } else {
      row.resize(table.columns.size());
    }
    table.rows.push_back(std::move(row));
    Sentence sentence{advice.when + ": " + name + ", "};
    sentence.insert(sentence.end(), advice.why.begin(), advice.why.end());
    why.sentences.push_back(std::move(sentence));
  }
  s.blocks.push_back(std::move(table));
  s.blocks.push_back(std::move(why));
  return s;
}

}  // namespace trainplan
