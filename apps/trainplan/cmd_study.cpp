#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "question.hpp"
#include "trainplan/io/load_study.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/report/worth_section.hpp"
#include "trainplan/study/topics.hpp"

namespace trainplan {
namespace {

using study::Field;
using study::Given;
using study::Planned;
using study::Topic;

struct StudyOptions {
  const Topic* topic = nullptr;
  RunOptions run;
  std::vector<std::pair<const Field*, std::string>> fields;
  bool detail = false;
  OutputOptions output;
};

/// From a file of inputs, a plan, or neither.
struct Asked {
  Given given;
  std::unique_ptr<Question> question;
  std::optional<Derivation> derivation;
};

bool names_a_run(const StudyOptions& options) {
  const auto& words = options.run.words;
  return options.topic->takes_plan() && !words.empty() &&
         !(words.size() == 1 && names_a_study(words.front()));
}

/// Options that are also fields of a run stand for the topic without one.
RunOptions without_inputs(const StudyOptions& options) {
  RunOptions out = options.run;
  std::erase_if(out.fields,
                [&](const auto& field) { return find_field(*options.topic, field.first) != nullptr; });
  return out;
}

/// What words may stand for: "OLD NEW, or a file of inputs".
std::string words_of(const Topic& topic) {
  std::string out;
  for (const Field* field : topic.words) {
    for (const char c : field->arg.name)
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    out += ' ';
  }
  if (!out.empty()) out.replace(out.size() - 1, 1, ", or ");
  return out + "a file of inputs";
}

/// A file of inputs, or inputs without their options. Returns how many words were read.
std::size_t read_words(const StudyOptions& options, Given& given, Issues& issues) {
  const auto& words = options.run.words;
  const auto& fields = options.topic->words;
  if (words.empty()) return 0;
  if (fields.empty() || (words.size() == 1 && names_a_study(words.front()))) {
    load_study(words.front(), *options.topic, given, issues);
    return 1;
  }
  const std::size_t read = std::min(words.size(), fields.size());
  for (std::size_t i = 0; i < read; ++i)
    say_input(given, *fields[i], words[i], study::Giver::Option, issues,
              {.pointer = option_of(fields[i]->arg.name)});
  return read;
}

/// A single word names a file of inputs or a run; what is not found is neither.
void add_told(const Issues& from, const StudyOptions& options, Issues& to) {
  for (Issue issue : from.all()) {
    if (issue.rule == "not-found" && issue.pointer == "RUN") {
      const std::string topic(options.topic->id);
      issue.pointer = "FILE";
      issue.must =
          "be a file of inputs of study " + topic + ", a run file, or a shipped config of configs/runs";
      issue.hint = "see trainplan study " + topic + " --help, or trainplan list runs";
    }
    to.add(std::move(issue));
  }
}

void read_inputs(const StudyOptions& options, Asked& asked, Issues& issues) {
  const auto& words = options.run.words;
  std::span<const Field* const> said{};  // by words, without their options
  if (names_a_run(options)) {
    Issues told;
    asked.question = Question::load(words, options.run, told);
    add_told(told, options, issues);
    if (asked.question && !issues.has_errors()) asked.derivation = asked.question->answer(issues);
  } else {
    refuse_run_fields(without_inputs(options), issues,
                      [](const std::string&, const std::string&) { return std::string("leave it out"); });
    const std::size_t read = read_words(options, asked.given, issues);
    if (asked.given.file.empty())
      said = options.topic->words.first(std::min(read, options.topic->words.size()));
    for (std::size_t i = read; i < words.size(); ++i)
      issues.add({.rule = "usage",
                  .pointer = words[i],
                  .must = "be left out: study " + std::string(options.topic->id) + " takes " +
                          words_of(*options.topic),
                  .hint = "see trainplan study " + std::string(options.topic->id) + " --help"});
  }
  for (const auto& [field, text] : options.fields) {
    const auto word = std::ranges::find(said, field);
    if (word != said.end())
      issues.add({.rule = "twice",
                  .pointer = option_of(field->arg.name),
                  .got = text,
                  .must = "be left out: the word " + words[static_cast<std::size_t>(word - said.begin())] +
                          " gives it",
                  .hint = "leave out one of the two"});
    say_input(asked.given, *field, text, study::Giver::Option, issues,
              {.pointer = option_of(field->arg.name)});
  }
}

int run_study(const StudyOptions& options) {
  const Topic& topic = *options.topic;
  Issues issues;
  std::optional<study::Shelf> shelf;
  if (topic.uses_shelf) shelf = load_shelf(issues);
  Asked asked;
  asked.given.shelf = shelf ? &*shelf : nullptr;
  read_inputs(options, asked, issues);
  if (names_a_run(options) && !asked.derivation) return emit(issues, options.output);
  std::optional<Ledger> ledger;
  std::optional<Planned> plan;
  if (asked.derivation) {
    const Trial& t = asked.derivation->chosen;
    plan.emplace(Planned{*asked.derivation, ledger.emplace(explain(t.problem, t.plan, t.cost.stage))});
  }
  complete_and_judge(topic, asked.given, plan ? &*plan : nullptr, issues);
  place_in_study_file(asked.given, issues);
  if (emit(issues, options.output) != ExitCode::Fits) return ExitCode::BadInput;
  Explain rec;
  Report report = topic.answer(rec, asked.given, plan ? &*plan : nullptr);
  report.command = "study." + std::string(topic.id);
  if (asked.question) report.title += " of " + asked.question->title();
  if (!asked.given.title.empty()) report.title += ": " + asked.given.title;
  report.sections.push_back(input_section(topic, asked.given));
  if (options.detail || options.output.format == Format::Json)
    report.sections.push_back(formula_section(rec.ledger(), {""}));
  return emit(report, options.output);
}

/// What every topic is for.
Report topic_list() {
  Table table{"topics", "", {{"id", "topic"}, {"title", "what it answers"}}, {}};
  for (const Topic* topic : study::kTopics)
    table.rows.push_back({Code{std::string(topic->id)}, std::string(topic->title)});
  return {"studies", "Topics of trainplan study", Verdict::None, {}, {{"topics", "", {std::move(table)}}}};
}

void add_inputs(CLI::App& command, StudyOptions& options) {
  const Topic& topic = *options.topic;
  std::vector<std::string_view> keys;
  for (const Field* field : topic.fields) keys.push_back(field->arg.name);
  if (topic.takes_plan())
    add_run_options_without(command, options.run, "a file of inputs, MODEL CLUSTER, or one RUN file", keys);
  else
    command.add_option("words", options.run.words, words_of(topic));
  for (const Field* field : topic.fields)
    command
        .add_option_function<std::string>(
            option_of(field->arg.name),
            [&options, field](const std::string& text) {
              options.fields.emplace_back(field, text);
              if (find_run_field(field->arg.name) != nullptr)
                options.run.fields.emplace_back(field->arg.name, text);
            },
            std::string(field->arg.meaning) + ", such as " + std::string(field->says.example))
        ->group("Inputs (each is also a key of a file of inputs)")
        ->type_name("");
  command.add_flag("--detail", options.detail, "every figure with its formula and inputs");
  add_output_options(command, options.output);
}

}  // namespace

void add_study(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("study", "one question about a long run, answered by its formulas");
  auto output = std::make_shared<OutputOptions>();
  add_output_options(*command, *output);
  command->require_subcommand(0, 1);
  for (const Topic* topic : study::kTopics) {
    auto options = std::make_shared<StudyOptions>();
    options->topic = topic;
    CLI::App* sub = command->add_subcommand(std::string(topic->id), std::string(topic->title));
    sub->footer(std::string(topic->help));
    // Options of a topic are many; they are made when it is asked for.
    sub->preparse_callback([sub, options](std::size_t) { add_inputs(*sub, *options); });
    sub->callback([options, &outcome] { outcome.status = run_study(*options); });
  }
  command->callback([command, output, &outcome] {
    if (command->get_subcommands().empty()) outcome.status = emit(topic_list(), *output);
  });
}

}  // namespace trainplan
