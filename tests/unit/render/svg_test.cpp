// Boxes of labels are computed from the text of the drawing itself.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "sample_pipeline.hpp"
#include "trainplan/render/pictures.hpp"

using namespace trainplan;
using sample::pipeline;

namespace {

struct Element {
  std::string name, content;
  std::map<std::string, std::string> attributes;

  double number(const std::string& key) const { return std::stod(attributes.at(key)); }
  bool has(std::string_view word) const {
    const auto found = attributes.find("class");
    return found != attributes.end() &&
           (" " + found->second + " ").find(" " + std::string(word) + " ") != std::string::npos;
  }
};

/// All elements, in order; fails where a tag is closed that is not open, or an attribute stands there twice.
std::vector<Element> parsed(const std::string& text) {
  std::vector<Element> out;
  std::vector<std::size_t> open;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t tag = text.find('<', at);
    const std::string content = text.substr(at, tag == std::string::npos ? tag : tag - at);
    REQUIRE(content.find('>') == std::string::npos);
    if (!open.empty()) out[open.back()].content += content;
    if (tag == std::string::npos) break;
    const std::size_t end = text.find('>', tag);
    REQUIRE(end != std::string::npos);
    const std::string inside = text.substr(tag + 1, end - tag - 1);
    at = end + 1;
    if (inside.starts_with("/")) {
      REQUIRE(!open.empty());
      REQUIRE(out[open.back()].name == inside.substr(1));
      open.pop_back();
      continue;
    }
    Element e;
    e.name = inside.substr(0, inside.find_first_of(" /\n"));
    static const std::regex attribute(R"re(([a-zA-Z:-]+)="([^"<]*)")re");
    for (std::sregex_iterator i(inside.begin(), inside.end(), attribute), none; i != none; ++i)
      REQUIRE(e.attributes.emplace((*i)[1], (*i)[2]).second);
    out.push_back(e);
    if (!inside.ends_with("/")) open.push_back(out.size() - 1);
  }
  REQUIRE(open.empty());
  return out;
}

struct Box {
  double left, top, right, bottom;

  bool holds(const Box& b) const {
    return left <= b.left && top <= b.top && right >= b.right && bottom >= b.bottom;
  }
  bool meets(const Box& b) const {
    return left < b.right && b.left < right && top < b.bottom && b.top < bottom;
  }
};

/// Of characters as wide as those of the widest usual monospaced font; capitals rise 0.73 of the size.
Box box_of_text(const Element& e) {
  const double size = e.number("font-size"), wide = 0.605 * size * static_cast<double>(e.content.size());
  const double x = e.number("x"), y = e.number("y");
  const double left = e.has("mid") ? x - wide / 2 : e.has("end") ? x - wide : x;
  return {left, y - 0.73 * size, left + wide, y};
}

Box box_of_rect(const Element& e) {
  const double x = e.number("x"), y = e.number("y");
  return {x, y, x + e.number("width"), y + e.number("height")};
}

bool is_slot(const Element& e) {
  const auto found = e.attributes.find("class");
  return e.name == "rect" && found != e.attributes.end() &&
         std::string_view("FBXW").find(found->second[0]) != std::string_view::npos &&
         e.number("height") != 12;
}

std::size_t passes(const sim::Timeline& timeline) {
  std::size_t out = 0;
  for (const auto& of_stage : timeline.stages)
    for (const sim::Ran& ran : of_stage)
      if (ran.end > ran.start) out += ran.slot.second ? 2 : 1;
  return out;
}

template <class F>
void for_each_drawing(F check) {
  for (const sim::Schedule& schedule : sim::schedules())
    for (const int stages : {2, 4, 8, 16}) {
      if (schedule.id == "v_search" && stages > 4) continue;  // takes its time
      const bool one_chunk = schedule.placement == sim::Placement::Linear;
      const int chunks = one_chunk ? 1 : schedule.placement == sim::Placement::Loop && stages == 4 ? 4 : 2;
      const PipelinePicture p = pipeline(schedule.id, {.stages = stages,
                                                       .micro_batches = 2 * stages,
                                                       .chunks = chunks,
                                                       .forward = 12,
                                                       .input_gradient = 14,
                                                       .weight_gradient = 8,
                                                       .transfer = 1,
                                                       .update = 3});
      INFO(schedule.id << ", " << stages << " stages");
      check(p, parsed(render_svg(p, {.messages = stages < 8})));
    }
}

/// "#rrggbb" of the class, or of the pattern that it is filled with.
std::string fill_of(const std::string& svg, const std::string& name) {
  std::smatch found;
  if (std::regex_search(svg, found, std::regex("\\." + name + "\\{fill:(#[0-9a-f]{6})\\}"))) return found[1];
  REQUIRE(std::regex_search(svg, found, std::regex("id=\"" + name + "\"[^\n]*?fill=\"(#[0-9a-f]{6})\"")));
  return found[1];
}

double luminance(const std::string& hex) {
  const double weights[] = {0.2126, 0.7152, 0.0722};
  double out = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    out += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return out;
}
double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST_CASE("a drawing has a box for every pass") {
  for_each_drawing([](const PipelinePicture& p, const std::vector<Element>& drawing) {
    CHECK(static_cast<std::size_t>(std::ranges::count_if(drawing, is_slot)) == passes(p.timeline));
  });
}

TEST_CASE("labels lie inside of their slots") {
  for_each_drawing([](const PipelinePicture&, const std::vector<Element>& drawing) {
    std::size_t labels = 0;
    for (std::size_t i = 0; i < drawing.size(); ++i) {
      if (!drawing[i].has("on")) continue;
      ++labels;
      REQUIRE(is_slot(drawing[i - 1]));
      REQUIRE(box_of_rect(drawing[i - 1]).holds(box_of_text(drawing[i])));
      REQUIRE(drawing[i].number("font-size") >= 6);
    }
    CHECK(labels > 0);
  });
}

TEST_CASE("no two labels overlap, and none leaves the drawing") {
  for_each_drawing([](const PipelinePicture&, const std::vector<Element>& drawing) {
    const Box all{0, 0, drawing[0].number("width"), drawing[0].number("height")};
    std::vector<Box> boxes;
    for (const Element& e : drawing) {
      if (e.name == "text") boxes.push_back(box_of_text(e));
      if (e.name == "rect" && e.attributes.contains("x")) REQUIRE(all.holds(box_of_rect(e)));
    }
    std::ranges::sort(boxes, {}, &Box::left);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      REQUIRE(all.holds(boxes[i]));
      for (std::size_t j = i + 1; j < boxes.size() && boxes[j].left < boxes[i].right; ++j)
        REQUIRE(!boxes[i].meets(boxes[j]));
    }
  });
}

TEST_CASE("slots of a stage stand side by side in the order of their times") {
  for_each_drawing([](const PipelinePicture&, const std::vector<Element>& drawing) {
    std::map<double, double> free;  // by the top of the row
    for (const Element& e : drawing) {
      if (!is_slot(e)) continue;
      const Box box = box_of_rect(e);
      REQUIRE(box.left >= free[box.top] - 0.02);
      free[box.top] = box.right;
    }
  });
}

TEST_CASE("labels can be read on every colour of a slot") {
  for (const int chunks : {1, 2, 4}) {
    const std::string id = chunks == 1 ? "zb_h1" : "interleaved_zb";
    const std::string svg = render_svg(pipeline(id, {.chunks = chunks}), {});
    for (const char work : {'F', 'B', 'X', 'W'})
      for (int c = 0; c < chunks; ++c) {
        INFO(work << c);
        CHECK(contrast(fill_of(svg, work + std::to_string(c)), "#101418") >= 4.5);
      }
  }
}

TEST_CASE("kinds that share a pattern differ in lightness") {
  const std::string svg = render_svg(pipeline("one_f1b"), {});
  CHECK(contrast(fill_of(svg, "F0"), fill_of(svg, "B0")) > 1.3);
  CHECK(svg.find("id=\"F0\"") == std::string::npos);  // the only one without a pattern
  for (const char* kind : {"B0", "X0", "W0"})
    CHECK(svg.find(std::string("id=\"") + kind) != std::string::npos);
}

TEST_CASE("a drawing follows the viewer unless it is told its paper") {
  const PipelinePicture p = pipeline("gpipe");
  const std::string either = render_svg(p, {}), light = render_svg(p, {.theme = Theme::Light}),
                    dark = render_svg(p, {.theme = Theme::Dark});
  CHECK(either.find("@media (prefers-color-scheme:dark)") != std::string::npos);
  CHECK(light.find("@media") == std::string::npos);
  CHECK(dark.find("@media") == std::string::npos);
  const auto text_on_paper = [](const std::string& svg) {
    return contrast(fill_of(svg, "paper"), fill_of(svg, "faint"));
  };
  CHECK(text_on_paper(light) >= 4.5);
  CHECK(text_on_paper(dark) >= 4.5);
  CHECK(fill_of(light, "paper") != fill_of(dark, "paper"));
}

TEST_CASE("names of a user are escaped") {
  PipelinePicture p = pipeline("gpipe");
  p.subject = "a <b> & \"c\"\x1b[31m";
  const std::string svg = render_svg(p, {});
  parsed(svg);
  CHECK(svg.find("a &lt;b&gt; &amp; &quot;c&quot;") != std::string::npos);
  CHECK(svg.find('\x1b') == std::string::npos);
}

TEST_CASE("a drawing of many micro-batches leaves out labels and no slot") {
  const PipelinePicture p = pipeline("one_f1b", {.stages = 4, .micro_batches = 300});
  const auto drawing = parsed(render_svg(p, {}));
  CHECK(static_cast<std::size_t>(std::ranges::count_if(drawing, is_slot)) == passes(p.timeline));
  CHECK(std::ranges::none_of(drawing, [](const Element& e) { return e.has("on"); }));
}
