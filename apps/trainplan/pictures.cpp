#include "pictures.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/report/schedule_picture.hpp"

namespace trainplan {
namespace {

constexpr int kWidestTimeline = 1000;
constexpr std::int64_t kMostSlots = 200'000;

std::string_view file_option(const PictureOptions& options) {
  return options.svg.empty() ? "--trace" : "--svg";
}
bool wants_file(const PictureOptions& options) { return !options.svg.empty() || !options.trace.empty(); }

}  // namespace

CLI::Option* add_theme_option(CLI::App& command, Theme& theme) {
  const std::map<std::string, Theme> themes{
      {"auto", Theme::Auto}, {"light", Theme::Light}, {"dark", Theme::Dark}};
  return command
      .add_option_function<std::string>(
          "--theme", [themes, &theme](const std::string& name) { theme = themes.at(name); },
          "auto, light or dark (default auto: as the viewer prefers)")
      ->check(CLI::IsMember(std::vector<std::string>{"auto", "light", "dark"}))
      ->type_name("THEME");
}

void add_picture_options(CLI::App& command, PictureOptions& options) {
  const std::string group = "Pictures";
  CLI::Option* timeline = command
                              .add_flag("--timeline", options.timeline,
                                        "what every stage does when, drawn in place of the tables")
                              ->group(group);
  command
      .add_option("--width", options.width,
                  "columns of a timeline (default: those of the terminal, else 100)")
      ->check(CLI::Range(kNarrowestTimeline, kWidestTimeline))
      ->type_name("COLUMNS")
      ->needs(timeline)
      ->group(group);
  command.add_flag("--ascii", options.ascii, "draw with ASCII characters only")
      ->needs(timeline)
      ->group(group);
  CLI::Option* svg =
      command
          .add_option("--svg", options.svg,
                      "write a drawing of one schedule, with its memory over time, to this file")
          ->type_name("FILE")
          ->group(group);
  command.add_flag("--messages", options.messages, "draw a line for each message")->needs(svg)->group(group);
  add_theme_option(command, options.theme)->needs(svg)->group(group);
  command
      .add_option("--trace", options.trace,
                  "write trace events of one schedule to this file, for Perfetto or chrome://tracing")
      ->type_name("FILE")
      ->group(group);
}

void judge_pictures(const PictureOptions& options, const OutputOptions& output, Issues& issues) {
  if (options.timeline && (output.format != Format::Text || output.csv))
    issues.add({.rule = "usage",
                .pointer = "--timeline",
                .must = "stand without --format: a timeline is text",
                .hint = "leave one of them out, or try --trace FILE for numbers"});
  if (!options.svg.empty() && (options.svg == options.trace || options.svg == output.file))
    issues.add({.rule = "usage",
                .pointer = "--svg",
                .got = options.svg,
                .must = "be another file than that of --trace and of -o",
                .hint = "try --svg pipeline.svg"});
  if (!options.trace.empty() && options.trace == output.file)
    issues.add({.rule = "usage",
                .pointer = "--trace",
                .got = options.trace,
                .must = "be another file than that of -o",
                .hint = "try --trace pipeline.json"});
}

void judge_pictures(const PictureOptions& options, const ScheduleAnswer& answer, Issues& issues) {
  if (!wants_file(options)) return;
  const std::string option(file_option(options));
  if (!answer.single) {
    issues.add({.rule = "usage",
                .pointer = option,
                .must = "draw one schedule, and none was chosen",
                .hint = "try --schedule one_f1b; trainplan list schedules has their names"});
    return;
  }
  const sim::Attempt& t = answer.attempts.front();
  if (!t.ran() || slots_of(t) <= kMostSlots) return;
  issues.add({.rule = "slots",
              .pointer = option,
              .got = std::to_string(slots_of(t)) + " slots",
              .must = "draw at most " + std::to_string(kMostSlots),
              .hint = "draw fewer micro-batches: the middle of a step repeats itself"});
}

bool write_pictures(const PictureOptions& options, const ScheduleAnswer& answer, const std::string& subject) {
  if (!wants_file(options)) return true;
  const PipelinePicture picture = picture_of(answer, answer.attempts.front(), subject);
  if (!options.svg.empty() &&
      !write_output(render_svg(picture, {.messages = options.messages, .theme = options.theme}), options.svg))
    return false;
  return options.trace.empty() || write_output(render_trace(picture), options.trace);
}

std::string timelines(const PictureOptions& options, const OutputOptions& output,
                      const ScheduleAnswer& answer, const std::string& subject) {
  const Style terminal = terminal_style(output);
  const TimelineStyle style{
      .colour = terminal.colour,
      .ascii = options.ascii,
      .columns = options.width.value_or(std::clamp(terminal.columns, kNarrowestTimeline, kWidestTimeline))};
  std::string out, refused;
  for (const sim::Attempt& t : answer.attempts) {
    if (!t.ran()) {
      refused.append(refused.empty() ? "" : ", ").append(t.schedule->id);
      continue;
    }
    out += out.empty() ? "" : "\n";
    out += render_timeline(picture_of(answer, t, subject), style);
  }
  if (!refused.empty()) out += "\nnot for this pipeline: " + refused + "; the report says why\n";
  return out;
}

}  // namespace trainplan
