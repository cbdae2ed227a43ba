/// Pictures of the schedules of an answer: --timeline, --svg, --trace.
#pragma once

#include <optional>
#include <string>

#include "output.hpp"
#include "trainplan/render/pictures.hpp"
#include "trainplan/report/schedule_answer.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace trainplan {

struct PictureOptions {
  bool timeline = false, ascii = false, messages = false;
  std::optional<int> width;
  std::string svg, trace;  ///< files; empty for none
  Theme theme = Theme::Auto;
};

/// --theme; `theme` must live until the command has run.
CLI::Option* add_theme_option(CLI::App& command, Theme& theme);

/// `options` must live until the command has run.
void add_picture_options(CLI::App& command, PictureOptions& options);

/// What was asked for together and cannot be.
void judge_pictures(const PictureOptions& options, const OutputOptions& output, Issues& issues);

/// Files hold one schedule, and not more slots than a viewer can take.
void judge_pictures(const PictureOptions& options, const ScheduleAnswer& answer, Issues& issues);

/// Writes the files. False when one cannot be written.
bool write_pictures(const PictureOptions& options, const ScheduleAnswer& answer, const std::string& subject);

/// The timelines of all schedules that ran, one below the other.
std::string timelines(const PictureOptions& options, const OutputOptions& output,
                      const ScheduleAnswer& answer, const std::string& subject);

}  // namespace trainplan
