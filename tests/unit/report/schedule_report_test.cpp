// The comparison of schedules on the worked example, and which schedule is proposed when.
#include "trainplan/report/schedule_report.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "catch.hpp"
#include "trainplan/io/load_pipeline.hpp"
#include "trainplan/report/stated_schedules.hpp"

using namespace trainplan;

namespace {

PipelineSpec example() {
  Issues issues;
  return *load_pipeline("qwen3-8b-book", issues);
}

double ms(double seconds) { return std::round(1e3 * seconds); }
double mib(double bytes) { return std::round(bytes / 1048576); }

struct Row {
  const char* schedule;
  double step, idle, step_of_16;
  std::vector<double> peaks;  // MiB
};
const Row kRows[] = {{"fill_drain", 337, 96, 577, {1840, 1840, 1840, 2448}},
                     {"one_f1b", 347, 106, 599, {921, 692, 463, 308}},
                     {"interleaved", 298, 57, 538, {1329, 1126, 896, 692}},
                     {"zb_h1", 283, 42, 523, {921, 921, 921, 1226}},
                     {"zb_h2", 274, 33, 514, {1610, 1612, 1612, 2145}},
                     {"dualpipe_book", 306, 65, 558, {1228, 1612, 1612, 1228}}};

const Notes& why_of(const Section& s) { return std::get<Notes>(s.blocks.back()); }

/// What a row of the advice proposes; empty when nothing.
std::string taken(const ScheduleAnswer& a, const std::string& when) {
  const Section s = advice_section(a);
  for (const auto& row : std::get<Table>(s.blocks.front()).rows)
    if (std::get<std::string>(row[0]) == when)
      return std::holds_alternative<Code>(row[1]) ? std::get<Code>(row[1]).text : "";
  return "no such row";
}

}  // namespace

TEST_CASE("six schedules of the worked example in time and in memory") {
  const ScheduleAnswer a = answer_stated(example());
  PipelineSpec more = example();
  more.micro_batches = 16;
  const ScheduleAnswer longer = answer_stated(more);
  for (const Row& row : kRows) {
    CAPTURE(row.schedule);
    const sim::Attempt* t = a.find(row.schedule);
    REQUIRE(t != nullptr);
    const ScheduleFigures f = figures_of(a, *t);
    CHECK(ms(f.step) == row.step);
    CHECK(ms(f.idle) == row.idle);
    for (std::size_t g = 0; g < row.peaks.size(); ++g)
      CHECK(mib(static_cast<double>(t->bytes[g].peak.total())) == row.peaks[g]);
    CHECK(ms(figures_of(longer, *longer.find(row.schedule)).step) == row.step_of_16);
  }
}

TEST_CASE("of those six only 1F1B keeps every stage within 1 GB; a V with less memory does too") {
  PipelineSpec s = example();
  s.memory_budget = 1e9;
  const ScheduleAnswer a = answer_stated(s);
  for (const Row& row : kRows) {
    CAPTURE(row.schedule);
    CHECK(a.fits(*a.find(row.schedule)) == (std::string(row.schedule) == "one_f1b"));
  }
  CHECK(a.fits(*a.find("v_half")));
  CHECK(a.fits(*a.find("v_min")));
  CHECK_FALSE(a.fits(*a.find("zbv")));
  CHECK(a.verdict() == Verdict::Fits);
  s.schedule = "zb_h1";
  CHECK(answer_stated(s).verdict() == Verdict::DoesNotFit);
  s.memory_budget = 1e8;
  s.schedule = "all";
  CHECK(answer_stated(s).verdict() == Verdict::DoesNotFit);
  s.memory_budget.reset();
  CHECK(answer_stated(s).verdict() == Verdict::None);
}

TEST_CASE("closed forms stand beside what they speak of") {
  PipelineSpec s = example();
  s.transfer = s.update = 0;
  const ScheduleAnswer a = answer_stated(s);
  for (const char* id : {"gpipe", "fill_drain", "one_f1b", "looped_bfs", "zb_h1", "zb_h2", "dualpipe"}) {
    CAPTURE(id);
    const sim::Attempt* t = a.find(id);
    const auto bound = bound_of(*t->schedule, a.pipeline, a.passes);
    REQUIRE(bound);
    const ScheduleFigures f = figures_of(a, *t);
    const double simulated = bound->of == BoundOf::Span ? f.bare_span_idle : f.bare_idle;
    if (id != std::string("looped_bfs")) CHECK(simulated == Approx(bound->seconds).margin(1e-12));
  }
  CHECK_FALSE(bound_of(*sim::find_schedule("v_search"), a.pipeline, a.passes));
}

TEST_CASE("what is proposed for the worked example, and for less memory") {
  PipelineSpec s = example();
  const ScheduleAnswer a = answer_stated(s);
  CHECK(taken(a, "Megatron-LM") == "interleaved");
  CHECK(taken(a, "DeepSpeed") == "one_f1b");
  CHECK(taken(a, "torch.distributed.pipelining") == "zbv");
  CHECK(taken(a, "activation memory short") == "v_half");
  CHECK(taken(a, "expert exchange as long as compute") == "dualpipev");
  s.memory_budget = 1e9;
  const ScheduleAnswer tight = answer_stated(s);
  CHECK(taken(tight, "Megatron-LM") == "one_f1b");
  CHECK(taken(tight, "torch.distributed.pipelining") == "one_f1b");
  s.memory_budget = 1e8;
  CHECK(taken(answer_stated(s), "activation memory short") == "");
  s = example();
  s.micro_batches = 2;
  const ScheduleAnswer few = answer_stated(s);
  CHECK(std::get<std::string>(why_of(advice_section(few)).sentences.front()[0])
            .starts_with("fewer micro-batches"));
}

TEST_CASE("for short memory nothing is proposed that keeps more than 1F1B") {
  PipelineSpec s = example();
  for (const int stages : {2, 3, 4, 6, 12}) {
    s.stages = stages;
    const ScheduleAnswer a = answer_stated(s);
    const std::string id = taken(a, "activation memory short");
    CAPTURE(stages, id);
    REQUIRE(a.find(id) != nullptr);
    CHECK(a.find(id)->peak() <= a.find("one_f1b")->peak());
  }
  s.stages = 2;
  const ScheduleAnswer two = answer_stated(s);
  CHECK(two.find("v_half")->peak() > two.find("one_f1b")->peak());
}

TEST_CASE("the rate is the idle time in the span over the span, of equal stages the rate of papers") {
  PipelineSpec s = example();
  const auto row = [&](const ScheduleAnswer& a, const char* id) { return figures_of(a, *a.find(id)); };
  const ScheduleAnswer equal = answer_stated(s);
  for (const char* id : {"one_f1b", "zb_h1", "interleaved"}) {
    CAPTURE(id);
    const sim::Attempt& t = *equal.find(id);
    const Seconds<> span{equal.seconds(t.timeline.longest_span())};
    const Seconds<> pass{equal.seconds(t.timeline.busy.front()) / 8};
    CHECK(row(equal, id).bubble_rate == Approx(bubble_rate(span, Count<>{8}, pass).num()));
  }
  s.forward = {0.010, 0.010, 0.010, 0.020};
  const ScheduleAnswer unequal = answer_stated(s);
  const sim::Attempt& t = *unequal.find("one_f1b");
  const double span = unequal.seconds(t.timeline.longest_span());
  CHECK(row(unequal, "one_f1b").bubble_rate == Approx(row(unequal, "one_f1b").span_idle / span));
}

TEST_CASE("every proposal gives a reason, and every row of every table has all its cells") {
  for (const int stages : {2, 3, 4, 6})
    for (const int micro_batches : {1, 3, 8, 12}) {
      PipelineSpec s = example();
      s.stages = stages;
      s.micro_batches = micro_batches;
      const ScheduleAnswer a = answer_stated(s);
      CAPTURE(stages, micro_batches);
      const Report r = schedule_report(a, true);
      for (const Section& section : r.sections)
        for (const Block& block : section.blocks)
          if (const auto* table = std::get_if<Table>(&block))
            for (const auto& row : table->rows) CHECK(row.size() == table->columns.size());
      for (const Sentence& sentence : why_of(advice_section(a)).sentences) CHECK(sentence.size() >= 1);
      const Table rows = schedule_rows(a);
      for (const auto& row : rows.rows) CHECK(row.size() == rows.columns.size());
      for (const sim::Attempt& t : a.attempts) CHECK_FALSE(t.fault);
    }
}
