#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/suggest.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/report/allocation_report.hpp"
#include "trainplan/report/explain_report.hpp"
#include "trainplan/report/plan_sections.hpp"
#include "trainplan/report/ranges.hpp"

namespace trainplan {

namespace {

struct ExplainOptions {
  RunOptions run;
  OutputOptions output;
  int stage = -1;
  bool list = false;
  std::string allocation;
};

/// A stage whose ledger has the item, -1 without one. Stages differ at the ends only.
int stage_with(const Trial& t, const std::string& item) {
  for (const int stage : {0, t.plan.pp - 1, t.plan.pp / 2})
    if (explain(t.problem, t.plan, stage).find(item) != nullptr) return stage;
  return -1;
}

/// Why a plan has no such item although others do; empty when it is not a known one.
std::string why_absent(const Trial& t, const std::string& item) {
  const ClusterSpec& c = t.problem.cluster();
  const auto in = [&](std::initializer_list<std::string_view> ids) {
    return std::find(ids.begin(), ids.end(), item) != ids.end();
  };
  const bool goodput = in({"goodput", "goodput.mtbf", "goodput.saving", "goodput.detect", "goodput.restart",
                           "goodput.load", "goodput.rollback", "checkpoint.interval", "checkpoint.waste"});
  if (goodput && !goodput_is_known(c))
    return "the cluster file does not give " + detail::missing_for_goodput(c);
  if (item == "checkpoint.write" && !c.storage_write.known)
    return "the cluster file does not give storage/write";
  if (in({"cost.day", "cost.run", "cost.mfu_point"}) && !c.price.known)
    return "the cluster file does not give price";
  if (item == "cost.run_time" && !t.problem.recipe.tokens) return "no token budget, try --tokens 15T";
  return {};
}

Issue unknown_item(const Trial& t, const Ledger& ledger, int stage, const std::string& item) {
  std::vector<std::string_view> ids;
  for (const LineItem& line : ledger.items()) ids.push_back(line.id);
  const std::string_view near = nearest(item, ids);
  Issue issue{.rule = "unknown-item",
              .pointer = "ITEM",
              .got = item,
              .must = "be the id of a printed number",
              .hint = "see trainplan explain MODEL CLUSTER --list"};
  if (!near.empty()) issue.hint = "did you mean " + std::string(near) + "?";
  const int other = stage_with(t, item);
  const std::string why = other < 0 ? why_absent(t, item) : "";
  if (other < 0 && why.empty()) return issue;
  issue.rule = "absent-item";
  issue.must = "be the id of a number of this plan";
  issue.hint =
      other < 0 ? why : "not on stage " + std::to_string(stage) + ", try --stage " + std::to_string(other);
  return issue;
}

constexpr double kLeastAllocation = 1 << 20;  // below it no request is told by its size

/// The bytes of --allocation; 0 when it was not given or is wrong.
double allocation_bytes(const std::string& text, Issues& issues) {
  if (text.empty()) return 0;
  const Measure m = parse_quantity(text, kBytes);
  if (m && m.value >= kLeastAllocation) return m.value;
  issues.add({.rule = "quantity",
              .pointer = "--allocation",
              .got = text,
              .must = "be " + example_of(kBytes) + (m ? ", at least 1 MiB" : "; it " + m.error),
              .hint = "try 16.83GiB"});
  return 0;
}

/// How far a tensor may be from the size that was typed: half a unit of its last decimal, for "3.91GiB" may
/// be any size from 3.905 on. Whole numbers are taken as they stand.
double rounding_of(const std::string& text, double bytes) {
  const std::size_t end = text.find_first_not_of("0123456789."), dot = text.find('.');
  if (dot == std::string::npos || dot + 1 >= end || bytes <= 0) return kExactAllocation;
  const std::string number = text.substr(0, end);
  const double unit = bytes / std::stod(number);
  const auto decimals = static_cast<double>(number.size() - dot - 1);
  return std::max(kExactAllocation, 0.5 * unit * std::pow(10.0, -decimals) / bytes);
}

/// The words are a run and one item, or a run alone where the whole plan is asked for.
bool words_ask_one_item(const std::vector<std::string>& words, bool whole_plan, Issues& issues) {
  const std::size_t run = words.empty() ? 0 : kind_of_config(words.front()) == "runs" ? 1 : 2;
  const bool no_item = words.size() == 2 && run == 2 && kind_of_config(words[1]) == "clusters";
  const std::size_t least = whole_plan ? 1 : 2, most = whole_plan ? 2 : 3;
  const bool several = run == 1 && words.size() > least;
  if (words.size() >= least && words.size() <= most && !several && (whole_plan || !no_item)) return true;
  Issue issue{.rule = "usage",
              .pointer = "trainplan explain",
              .must = "name a model and a cluster (or a run file) and an item",
              .hint = "trainplan explain llama70b h100x1024 memory.state"};
  for (const std::string& word : words) issue.pointer += " " + word;
  if (several) {
    issue.must =
        whole_plan ? "name a run file alone with --list and --allocation" : "name one item of a run file";
    issue.hint = "trainplan explain " + words[0] + (whole_plan ? " --list" : " " + words[1]);
  } else if (no_item) {
    issue.must = "name an item as well: the id of a printed number";
    issue.hint = "trainplan explain " + words[0] + " " + words[1] + " memory.state, or --list";
  }
  issues.add(std::move(issue));
  return false;
}

int run_explain(const ExplainOptions& options) {
  Issues issues;
  std::vector<std::string> words = options.run.words;
  const bool whole_plan = options.list || !options.allocation.empty();
  const double asked = allocation_bytes(options.allocation, issues);
  if (!words_ask_one_item(words, whole_plan, issues)) return emit(issues, options.output);
  const std::string item = whole_plan ? "" : words.back();
  if (!item.empty()) words.pop_back();
  const auto question = Question::load(words, options.run, issues);
  const auto derivation = question ? question->answer(issues) : std::nullopt;
  if (!derivation) return emit(issues, options.output);
  const Trial& t = derivation->chosen;
  if (options.stage >= t.plan.pp)
    issues.add({.rule = "stage-range",
                .pointer = "--stage",
                .got = std::to_string(options.stage),
                .must = "be a stage of the plan, from 0 to " + std::to_string(t.plan.pp - 1),
                .hint = "try 0"});
  const int stage = options.stage >= 0 ? options.stage : t.cost.stage;
  if (stage < t.plan.pp && stage != t.cost.stage && belongs_to_plan(item))
    issues.add({.rule = "item-of-the-plan",
                .pointer = "--stage",
                .got = std::to_string(options.stage),
                .must = "not stand with " + item + ", which belongs to the whole plan",
                .hint = "leave --stage out"});
  if (issues.has_errors()) return emit(issues, options.output);
  if (asked > 0) {
    const auto stages = stage_allocations(t.problem, t.plan, options.stage);
    return emit(allocation_report(stages, asked, question->title(), rounding_of(options.allocation, asked)),
                options.output);
  }
  const Ledger ledger = explain(t.problem, t.plan, stage);
  const std::string title = question->title() + ", GPU of stage " + std::to_string(stage);
  if (options.list) return emit(item_list_report(ledger, title, stage == t.cost.stage), options.output);
  const LineItem* line = ledger.find(item);
  if (line == nullptr) {
    issues.add(unknown_item(t, ledger, stage, item));
    return emit(issues, options.output);
  }
  Report report = explain_report(ledger, *line, title);
  for (Block& block : item_ranges(t.problem, t.plan, evaluate_stage(t.problem, t.plan, stage), item))
    report.sections.back().blocks.push_back(std::move(block));
  return emit(report, options.output);
}

}  // namespace

void add_explain(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "take a printed number apart, down to the inputs");
  add_run_options(*command, options->run, "MODEL CLUSTER ITEM, or RUN ITEM");
  command->add_option("--stage", options->stage, "pipeline stage (default: the fullest)")
      ->check(CLI::Range(0, 65535));
  command->add_flag("--list", options->list, "list the items instead");
  command
      ->add_option("--allocation", options->allocation,
                   "name the tensor of a failed request, such as 16.83GiB")
      ->type_name("SIZE");
  add_output_options(*command, options->output);
  command->callback([options, &outcome] { outcome.status = run_explain(*options); });
}

}  // namespace trainplan
