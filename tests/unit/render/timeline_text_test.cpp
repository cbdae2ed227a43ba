#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "sample_pipeline.hpp"
#include "trainplan/render/pictures.hpp"

using namespace trainplan;
using sample::pipeline;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::size_t width(const std::string& line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string ascii(const PipelinePicture& p, int columns = 100) {
  return render_timeline(p, {.ascii = true, .columns = columns});
}

/// What is drawn of each stage, without its number and figures.
std::vector<std::string> rows_of(const std::string& text) {
  std::vector<std::string> out;
  static const std::regex row(R"(^ +\d+  (\S+)  .*$)");
  std::smatch found;
  for (const std::string& line : lines_of(text))
    if (std::regex_match(line, found, row)) out.push_back(found[1]);
  return out;
}

}  // namespace

TEST_CASE("a small timeline reads as it runs") {
  PipelinePicture p = pipeline("one_f1b", {.stages = 2, .micro_batches = 3, .update = 10});
  p.subject = "a model";
  CHECK(render_timeline(p, {.columns = 80}) == R"(one_f1b: one forward, one backward
a model; 2 stages, 3 micro-batches: 130 ms

stage  0 ms                50                  100           idle      peak
       ┬───────────────────┬───────────────────┬───────────
    0  F0░░F1░░········B0▓▓▓▓▓▓F2░░B1▓▓▓▓▓▓····B2▓▓▓▓▓▓U███  25 %  1.25 GiB
    1  ····F0░░B0▓▓▓▓▓▓F1░░B1▓▓▓▓▓▓F2░░B2▓▓▓▓▓▓········U███  25 %  0.69 GiB

  F forward, B backward, U update, · idle; a number is a micro-batch, where it
  fits
  one column is 2.5 ms, and every slot begins and ends with one
  idle: share of the 120 ms until all gradients are there; peak: saved
  activations and messages
)");
}

TEST_CASE("without a character beyond ASCII") {
  const std::string text = ascii(pipeline("zb_h1", {.stages = 2, .micro_batches = 3}), 80);
  CHECK(std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; }));
  CHECK(rows_of(text) == std::vector<std::string>{"F0---F1---.....X0~~~W0___F2---X1~~~W1___X2~~~W2___",
                                                  ".....F0---X0~~~F1---X1~~~W0___F2---X2~~~W1___W2___"});
}

TEST_CASE("small letters are the second direction, a pair is one slot") {
  const auto rows = rows_of(ascii(pipeline("dualpipe", {.stages = 2, .micro_batches = 4, .chunks = 2})));
  CHECK(rows ==
        std::vector<std::string>{"F0----f0----F1----b0==========f1&B0&&&&&&&&&&&&&b1==========X1~~~~W1____",
                                 "f0----F0----f1----B0==========F1&b0&&&&&&&&&&&&&B1==========x1~~~~w1____"});
}

TEST_CASE("a chunk beyond the second is a number after the point") {
  const auto rows = rows_of(ascii(pipeline("interleaved", {.stages = 2,
                                                           .micro_batches = 2,
                                                           .chunks = 3,
                                                           .forward = 30,
                                                           .input_gradient = 30,
                                                           .weight_gradient = 0}),
                                  120));
  CHECK(rows == std::vector<std::string>{
                    "F0.0--F1.0--f0.1--f1.1--f0.2--f1.2--......b0.2==......b1.2==b0.1==b1.1==B0.0==B1.0==",
                    "......F0.0--F1.0--f0.1--f1.1--f0.2--b0.2==f1.2--b1.2==b0.1==b1.1==B0.0==B1.0==......"});
}

TEST_CASE("an exact timeline has as many busy columns as the stage has work") {
  for (const sim::Schedule& schedule : sim::schedules()) {
    const bool one_chunk = schedule.placement == sim::Placement::Linear;
    const PipelinePicture p = pipeline(schedule.id, {.micro_batches = 8, .chunks = one_chunk ? 1 : 2});
    INFO(schedule.id);
    const std::string text = ascii(p, 400);
    REQUIRE(text.find("every slot begins and ends with one") != std::string::npos);
    const auto rows = rows_of(text);
    REQUIRE(rows.size() == 4);
    const double ticks = static_cast<double>(p.timeline.makespan) / static_cast<double>(rows[0].size());
    for (std::size_t g = 0; g < rows.size(); ++g) {
      // Idle columns are points outside of labels; two chunks have no points in their labels.
      const auto idle = std::ranges::count(rows[g], '.');
      CHECK(ticks * static_cast<double>(idle) == Approx(static_cast<double>(p.timeline.idle(g))));
    }
  }
}

TEST_CASE("no line is wider than the terminal") {
  for (const sim::Schedule& schedule : sim::schedules())
    for (const int stages : {4, 8, 32})
      for (const int columns : {60, 100, 237}) {
        if (schedule.id == "v_search" && stages > 4) continue;  // takes its time
        const bool one_chunk = schedule.placement == sim::Placement::Linear;
        const PipelinePicture p = pipeline(schedule.id, {.stages = stages,
                                                         .micro_batches = 2 * stages,
                                                         .chunks = one_chunk ? 1 : 2,
                                                         .forward = 8,
                                                         .weight_gradient = 6,
                                                         .transfer = 1,
                                                         .update = 3});
        INFO(schedule.id << ", " << stages << " stages, " << columns << " columns");
        for (const bool only_ascii : {false, true})
          for (const std::string& line :
               lines_of(render_timeline(p, {.ascii = only_ascii, .columns = columns})))
            REQUIRE(width(line) <= static_cast<std::size_t>(columns));
      }
}

TEST_CASE("colour adds nothing but colour") {
  const PipelinePicture p = pipeline("zb_h2", {.update = 5});
  const std::string colour = render_timeline(p, {.colour = true});
  CHECK(colour.find("\x1b[") != std::string::npos);
  CHECK(std::regex_replace(colour, std::regex("\x1b\\[[0-9;]*m"), "") == render_timeline(p, {}));
  CHECK(render_timeline(p, {}).find('\x1b') == std::string::npos);
}

TEST_CASE("slots narrower than a column become what prevails, and the text says so") {
  const PipelinePicture p = pipeline("one_f1b", {.stages = 4, .micro_batches = 200});
  const std::string text = ascii(p);
  CHECK(text.find("longer than the shortest slot") != std::string::npos);
  CHECK(text.find("where it fits") == std::string::npos);
  for (const std::string& row : rows_of(text))
    CHECK(std::ranges::none_of(row, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); }));
}

TEST_CASE("without memory there is no column for it") {
  PipelinePicture p = pipeline("gpipe");
  CHECK(render_timeline(p, {}).find("peak") != std::string::npos);
  p.memory.clear();
  CHECK(render_timeline(p, {}).find("peak") == std::string::npos);
}
