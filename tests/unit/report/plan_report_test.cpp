#include "trainplan/report/plan_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

/// A report with all that it refers to.
struct Reported {
  Asked asked;
  Derivation derivation;
  Ledger ledger;
  Report report;

  Reported(const char* model, const char* cluster, problems::Fields fields = {})
      : asked(model, cluster, fields),
        derivation(*asked.derived()),
        ledger(explain(derivation.chosen.problem, derivation.chosen.plan, derivation.chosen.cost.stage)),
        report(plan_report(derivation, ledger, asked.resolved().settings)) {}
};

const Section* section(const Report& r, std::string_view key) {
  const auto it =
      std::find_if(r.sections.begin(), r.sections.end(), [&](const Section& s) { return s.key == key; });
  return it == r.sections.end() ? nullptr : &*it;
}

/// The block of that kind and key, in any section.
template <class T>
const T* block(const Report& r, std::string_view key) {
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks)
      if (const T* found = std::get_if<T>(&b); found != nullptr && found->key == key) return found;
  return nullptr;
}

const Fact* fact_of(const Report& r, std::string_view facts, std::string_view key) {
  const Facts* found = block<Facts>(r, facts);
  if (found == nullptr) return nullptr;
  for (const Fact& f : found->facts)
    if (f.key == key) return &f;
  return nullptr;
}
double number(const Cell& cell) {
  const Estimate* e = std::get_if<Estimate>(&cell);
  return e != nullptr ? e->value.number : std::get<Value>(cell).number;
}

std::size_t column(const Table& t, std::string_view key) {
  for (std::size_t i = 0; i < t.columns.size(); ++i)
    if (t.columns[i].key == key) return i;
  throw std::runtime_error("no such column");
}

/// Every id that the report shows, with the number beside it.
std::vector<std::pair<std::string, double>> ids_of(const Report& r) {
  std::vector<std::pair<std::string, double>> ids;
  for (const Section& s : r.sections)
    for (const Block& b : s.blocks) {
      if (const Facts* f = std::get_if<Facts>(&b))
        for (const Fact& x : f->facts)
          if (!x.id.empty()) ids.emplace_back(x.id, number(x.cell));
      if (const Lines* l = std::get_if<Lines>(&b))
        for (const Line& x : l->lines) ids.emplace_back(x.id, x.value.number);
      const Table* t = std::get_if<Table>(&b);
      if (t == nullptr ||
          std::none_of(t->columns.begin(), t->columns.end(), [](const Column& c) { return c.key == "id"; }))
        continue;
      const std::size_t value = column(*t, t->key == "phases" ? "allocated" : "sent");
      for (const auto& row : t->rows) {
        const Cell& id = row[column(*t, "id")];
        ids.emplace_back(
            std::holds_alternative<Code>(id) ? std::get<Code>(id).text : std::get<std::string>(id),
            number(row[value]));
      }
    }
  return ids;
}

}  // namespace

TEST_CASE("every id of the report is an item of the ledger, with the number that stands beside it") {
  for (const char* cluster : {"h100x1024", "gb200x576", "a100x384"}) {
    const Reported r("llama70b", cluster);
    const auto ids = ids_of(r.report);
    CAPTURE(cluster);
    CHECK(ids.size() > 50);
    for (const auto& [id, value] : ids) {
      const LineItem* item = r.ledger.find(id);
      CAPTURE(id);
      REQUIRE(item != nullptr);
      CHECK(item->value == value);
    }
  }
}

TEST_CASE("the report has its sections, each key once") {
  const Reported r("llama70b", "h100x1024");
  std::set<std::string> keys;
  for (const Section& s : r.report.sections) CHECK(keys.insert(s.key).second);
  for (const char* key : {"inputs", "plan", "derivation", "memory", "activations", "parameters", "compute",
                          "communication", "step", "checkpoint", "cost", "alternatives", "launch"}) {
    CAPTURE(key);
    CHECK(keys.count(key) == 1);
  }
  CHECK(r.report.command == "plan");
  CHECK(r.report.title == "llama70b on h100x1024");
  CHECK(r.report.verdict == Verdict::Fits);
}

TEST_CASE("the headline: verdict, memory, gate, step, MFU, rate") {
  const Reported r("llama70b", "h100x1024");
  const auto& c = r.derivation.chosen.cost;
  CHECK(std::get<std::string>(r.report.headline.front()).rfind("fits", 0) == 0);
  std::vector<double> numbers;
  for (const auto& part : r.report.headline) {
    if (const Value* v = std::get_if<Value>(&part)) numbers.push_back(v->number);
    if (const Estimate* e = std::get_if<Estimate>(&part)) numbers.push_back(e->value.number);
  }
  CHECK(numbers == std::vector<double>{c.memory.device.num(), c.gate.num(), c.step.step.num(),
                                       c.step.mfu.num(), c.step.mfu_full.num(), c.step.rate.num()});
  CHECK(verdict_text(Verdict::Fits) == "fits");
  CHECK(verdict_text(Verdict::Tight) == "tight");
  CHECK(verdict_text(Verdict::DoesNotFit) == "does not fit");
  CHECK(verdict_text(Verdict::Passed) == "passed");
  CHECK(verdict_text(Verdict::Failed) == "failed");
}

TEST_CASE("the plan, number by number") {
  const Reported r("llama70b", "h100x1024");
  struct Row {
    const char* key;
    double want;
  };
  for (const Row& row : {Row{"tp", 8},
                         {"pp", 4},
                         {"vpp", 4},
                         {"cp", 1},
                         {"dp", 32},
                         {"micro_batch", 1},
                         {"micro_batches", 16},
                         {"recompute_layers", 0}}) {
    const Fact* f = fact_of(r.report, "degrees", row.key);
    CAPTURE(row.key);
    REQUIRE(f != nullptr);
    CHECK(number(f->cell) == row.want);
  }
  CHECK(std::get<std::string>(fact_of(r.report, "degrees", "recompute")->cell) == "none");
  CHECK(std::get<std::string>(fact_of(r.report, "degrees", "sharding")->cell) == "zero1");
}

TEST_CASE("the axes are told in the order TP, PP, DP, CP, then recompute") {
  const Reported r("llama70b", "h100x1024");
  const Section* s = section(r.report, "derivation");
  REQUIRE(s != nullptr);
  std::vector<std::string> axes;
  for (const Block& b : s->blocks) axes.push_back(std::get<Notes>(b).key);
  CHECK(axes == std::vector<std::string>{"tp", "pp", "dp", "cp", "recompute"});
  CHECK(std::get<std::string>(std::get<Notes>(s->blocks[0]).sentences.front().front()) == "TP = 8: ");
}

TEST_CASE("the rule of thumb stands beside the ledger: 49.4, 62.7 and 89.1 GB") {
  const Reported r("llama70b", "h100x1024");
  const Table* t = block<Table>(r.report, "table");
  REQUIRE(t != nullptr);
  const auto rule = [&](std::string_view name) {
    for (const auto& row : t->rows)
      if (std::get<std::string>(row[column(*t, "name")]) == name)
        return number(row[column(*t, "rule")]) / 1e9;
    return 0.0;
  };
  CHECK(rule("derived") == Approx(49.4).margin(0.05).epsilon(0));
  CHECK(rule("pp 2") == Approx(62.7).margin(0.05).epsilon(0));
  CHECK(rule("pp 1") == Approx(89.1).margin(0.05).epsilon(0));
  CHECK(t->title.find("rule of thumb") != std::string::npos);
}

TEST_CASE("one row of the table for each alternative, one sentence for its verdict") {
  const Reported r("llama70b", "h100x1024");
  const Table* t = block<Table>(r.report, "table");
  REQUIRE(t != nullptr);
  CHECK(t->rows.size() == r.derivation.alternatives.size() + 1);
  CHECK(block<Notes>(r.report, "verdicts")->sentences.size() == r.derivation.alternatives.size());
  for (const auto& row : t->rows) CHECK(row.size() == t->columns.size());
}

TEST_CASE("a row for each stage and for each phase") {
  const Reported r("llama70b", "h100x1024");
  const Table *stages = block<Table>(r.report, "stages"), *phases = block<Table>(r.report, "phases");
  REQUIRE(stages != nullptr);
  REQUIRE(phases != nullptr);
  REQUIRE(stages->rows.size() == 4);
  CHECK(phases->rows.size() == kPhases);
  const auto device = [&](std::size_t stage) {
    return number(stages->rows[stage][column(*stages, "device")]);
  };
  CHECK(device(0) == r.derivation.chosen.device());
  CHECK(device(0) > device(3));
}

TEST_CASE("inputs come with their origin, given or default") {
  const Reported r("llama70b", "h100x1024", {{"reduce_dtype", "bf16"}});
  CHECK(std::get<std::string>(fact_of(r.report, "files", "model")->cell) == "llama70b");
  CHECK(fact_of(r.report, "files", "model")->note == "shipped:models/llama70b.json");
  CHECK(fact_of(r.report, "files", "reduce_dtype")->note == "option");
  CHECK(fact_of(r.report, "files", "gradient_dtype")->note == "default of megatron-lm");
  CHECK(number(fact_of(r.report, "files", "global_batch")->cell) == 4'194'304);
}

TEST_CASE("an unknown failure rate is said, and no goodput is shown") {
  const Reported known("llama70b", "h100x1024"), unknown("llama70b", "gb200x576");
  CHECK(fact_of(known.report, "save", "goodput") != nullptr);
  CHECK(block<Notes>(known.report, "goodput_note") == nullptr);
  CHECK(fact_of(unknown.report, "save", "goodput") == nullptr);
  CHECK(block<Notes>(unknown.report, "goodput_note") != nullptr);
}

TEST_CASE("groups show their members, nodes and link") {
  const Reported r("llama70b", "h100x1024");
  const Table* t = block<Table>(r.report, "groups");
  REQUIRE(t != nullptr);
  REQUIRE(t->rows.size() == 3);  // cp has one member
  const auto cell = [&](std::size_t row, std::string_view key) { return t->rows[row][column(*t, key)]; };
  CHECK(std::get<std::string>(cell(0, "members")) == "0,1,2,...,7 (8)");
  CHECK(std::get<std::string>(cell(0, "link")) == "NVLink 4");
  CHECK(std::get<std::string>(cell(1, "members")) == "0,8,16,...,248 (32)");
  CHECK(number(cell(1, "nodes")) == 32);
  CHECK(std::get<std::string>(cell(2, "link")) == "NIC");
  CHECK(t->title.find("tp-cp-ep-dp-pp") != std::string::npos);
}

/// The settings of a report, by field.
std::map<std::string, std::string> settings_of(const Report& r) {
  std::map<std::string, std::string> settings;
  for (const auto& row : block<Table>(r, "settings")->rows)
    settings[std::get<std::string>(row[0])] = std::get<Code>(row[1]).text;
  return settings;
}

TEST_CASE("launch settings carry the plan as it is typed") {
  const Reported r("llama70b", "h100x1024");
  auto set = settings_of(r.report);
  CHECK(set["precision"] == "--bf16");
  CHECK(set["tp"] == "--tensor-model-parallel-size 8");
  CHECK(set["sequence_parallel"] == "--sequence-parallel");
  CHECK(set["pp"] == "--pipeline-model-parallel-size 4");
  CHECK(set["vpp"] == "--num-virtual-stages-per-pipeline-rank 4");
  CHECK(set["global_batch"] == "--global-batch-size 512");
  CHECK(set["sequence"] == "--seq-length 8192");
  CHECK(set["attention"] == "--attention-backend flash");
  CHECK(set["sharding"] == "--use-distributed-optimizer");
  for (const char* silent : {"recompute", "recompute_layers", "gradient_dtype", "cp_mode", "uneven_stages"})
    CHECK(set.count(silent) == 0);

  std::string all;
  for (const auto& row : block<Table>(r.report, "settings")->rows)
    all += (all.empty() ? "" : " ") + std::get<Code>(row[1]).text;
  CHECK(std::get<Code>(fact_of(r.report, "command_line", "arguments")->cell).text == all);
}

TEST_CASE("a value has its own setting, and the framework its own spelling") {
  auto full = settings_of(Reported("llama70b", "h100x1024", {{"recompute", "full"}}).report);
  CHECK(full["recompute"] ==
        "--recompute-granularity full --recompute-method uniform --recompute-num-layers 1");
  auto half = settings_of(Reported("llama70b", "h100x1024", {{"gradient_dtype", "bf16"}}).report);
  CHECK(half["gradient_dtype"] == "--grad-reduce-in-bf16");
  const Reported keys("llama70b", "h100x1024", {{"framework", "deepspeed"}, {"pp", "1"}});
  CHECK(settings_of(keys.report)["tp"].rfind("tensor_parallel.autotp_size: ", 0) == 0);
  CHECK(block<Facts>(keys.report, "command_line") == nullptr);
}

TEST_CASE("a plan that fits and breaks a limit has failed, and names the limit") {
  const Reported r("llama70b", "h100x1024");
  const auto with = [&](const Limits& limits) {
    return plan_report(r.derivation, r.ledger, r.asked.resolved().settings, limits);
  };
  CHECK(section(r.report, "limits") == nullptr);

  Limits kept;
  kept.max_step_time = 5.0;
  CHECK(with(kept).verdict == Verdict::Fits);
  REQUIRE(section(with(kept), "limits") != nullptr);

  Limits broken = kept;
  broken.min_mfu = 0.6;
  const Report failed = with(broken);
  CHECK(failed.verdict == Verdict::Failed);
  CHECK(std::get<std::string>(failed.headline[0]) == "failed: min_mfu: step.mfu = ");
  CHECK(block<Table>(failed, "gates")->rows.size() == 3);
  CHECK(block<Notes>(failed, "failures")->sentences.size() == 1);
}
