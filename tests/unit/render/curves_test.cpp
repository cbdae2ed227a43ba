#include "trainplan/render/curves.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

/// A valley with its lowest point, 20 %, at 600 s.
WasteCurve valley() {
  WasteCurve c{.title = "a <valley>", .points = {}, .retried = {}, .marks = {}, .top = 0.6};
  for (int i = -100; i <= 100; ++i) {
    const double x = i / 100.0, tau = 600 * std::pow(10, x);
    c.points.push_back({tau, 0.2 + 0.6 * x * x});
    c.retried.push_back({tau, 0.18 + 0.5 * x * x});
  }
  c.marks = {{'E', "exact optimum", {600, 0.2}}, {'Y', "Young", {601, 0.2}}};
  return c;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("the lowest stars of the plot are about the mark of the optimum") {
  const auto drawn = lines(render_curve(valley(), {.colour = false, .ascii = true, .columns = 80}));
  const auto row = std::find_if(drawn.begin(), drawn.end(), [](const std::string& l) {
    return l.find('E') != std::string::npos && l.find('*') != std::string::npos;
  });
  REQUIRE(row != drawn.end());
  CHECK(row->find("*") < row->find('E'));
  CHECK(row->rfind('*') > row->find('E'));
  for (auto below = row + 1; below != drawn.end() && below->find('+') == std::string::npos; ++below)
    CHECK(below->find('*') == std::string::npos);
  CHECK(row->find('Y') == std::string::npos);  // the same column: the first mark stands
}

TEST_CASE("a plot keeps to its columns, and to ASCII where that is asked for") {
  for (const int columns : {40, 80, 120})
    for (const std::string& line :
         lines(render_curve(valley(), {.colour = false, .ascii = true, .columns = columns}))) {
      CAPTURE(columns, line);
      CHECK(line.size() <= static_cast<std::size_t>(columns));
      CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
}

TEST_CASE("the axis has round times and shares") {
  const std::string text = render_curve(valley(), {.colour = false, .ascii = true, .columns = 100});
  for (const char* label : {"1 min", "10 min", "1 h", "20 %", "40 %"}) {
    CAPTURE(label);
    CHECK(text.find(label) != std::string::npos);
  }
  CHECK(text.find("E exact optimum: 10 min, 20 %") != std::string::npos);
}

TEST_CASE("the drawing holds both curves, every mark and no raw text") {
  const std::string svg = render_curve_svg(valley(), Theme::Light);
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a &lt;valley&gt;") != std::string::npos);
  CHECK(svg.find("stroke-dasharray:5 4") != std::string::npos);
  const std::string circle = "<circle ";
  std::size_t circles = 0;
  for (std::size_t at = svg.find(circle); at != std::string::npos; at = svg.find(circle, at + 1)) ++circles;
  CHECK(circles == 2);
  CHECK(svg.find("nan") == std::string::npos);
}
