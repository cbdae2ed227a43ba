#include "svg_palette.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "slot_words.hpp"

namespace trainplan {
namespace {

constexpr std::array kWorks{sim::Work::Forward, sim::Work::Backward, sim::Work::InputGradient,
                            sim::Work::WeightGradient};

/// Blue, red, orange, yellow: apart for every kind of colour vision. All but the forwards are hatched too.
Rgb base_colour(sim::Work work) {
  switch (work) {
    case sim::Work::Forward: return {112, 180, 232};
    case sim::Work::Backward: return {230, 118, 62};
    case sim::Work::InputGradient: return {232, 152, 38};
    case sim::Work::WeightGradient: return {238, 218, 92};
  }
  return {};
}

Rgb mixed(Rgb a, Rgb b, double share) {
  const auto part = [share](int x, int y) { return static_cast<int>(std::lround(x + share * (y - x))); };
  return {part(a.red, b.red), part(a.green, b.green), part(a.blue, b.blue)};
}

/// Later chunks are paler.
Rgb slot_colour(sim::Work work, int chunk, int chunks) {
  constexpr double kPalest = 0.55;
  const double share = chunks > 1 ? kPalest * chunk / (chunks - 1) : 0;
  return mixed(base_colour(work), {255, 255, 255}, share);
}

struct Paper {
  Rgb paper, ink, faint, lane, line;
  std::array<Rgb, sim::kKeptClasses> kept;
};
constexpr Paper kLight{{255, 255, 255}, {28, 34, 42},
                       {88, 98, 110},   {233, 237, 241},
                       {205, 211, 218}, {{{126, 138, 153}, {214, 186, 60}, {142, 68, 130}, {214, 140, 190}}}};
constexpr Paper kDark{{18, 22, 28},    {226, 231, 237},
                      {160, 170, 182}, {36, 43, 52},
                      {62, 71, 83},    {{{120, 132, 148}, {222, 198, 84}, {166, 92, 154}, {228, 166, 208}}}};

std::string rules(const Paper& p) {
  std::string out = fmt::format(
      ".paper{{fill:{0}}}.sep{{stroke:{0}}}.ink{{fill:{1}}}.faint{{fill:{2}}}.lane{{fill:{3}}}"
      ".grid{{stroke:{4}}}.msg{{stroke:{1}}}.update{{fill:{2}}}",
      hex(p.paper), hex(p.ink), hex(p.faint), hex(p.lane), hex(p.line));
  for (std::size_t i = 0; i < p.kept.size(); ++i) out += fmt::format(".k{}{{fill:{}}}", i, hex(p.kept[i]));
  return out;
}

/// Lines across a backward, slanted for its first half, dots for the second one.
std::string_view hatch(sim::Work work) {
  switch (work) {
    case sim::Work::Forward: return {};
    case sim::Work::Backward:
      return R"(<path d="M0,1H6M0,4H6" stroke="#000" stroke-opacity=".16" stroke-width=".8"/>)";
    case sim::Work::InputGradient:
      return R"(<path d="M-1,1l2,-2M0,6l6,-6M5,7l2,-2" stroke="#000" stroke-opacity=".2" stroke-width="1"/>)";
    case sim::Work::WeightGradient:
      return R"(<circle cx="1.5" cy="1.5" r=".8" fill="#000" fill-opacity=".22"/>)"
             R"(<circle cx="4.5" cy="4.5" r=".8" fill="#000" fill-opacity=".22"/>)";
  }
  return {};
}

}  // namespace

std::string hex(Rgb c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

std::string slot_class(sim::Work work, int chunk) { return letter_of(work) + std::to_string(chunk); }

std::string svg_style(Theme theme, int chunks) {
  std::string out =
      "<style>\n"
      "text{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace}\n"
      ".mid{text-anchor:middle}.end{text-anchor:end}.bold{font-weight:bold}.on{fill:#101418}\n"
      ".sep{fill:none}.grid{stroke-width:1}.msg{fill:none;stroke-width:.7;stroke-opacity:.65}"
      ".back{stroke-dasharray:2.5 1.8}\n";
  std::string patterns;
  for (const sim::Work work : kWorks)
    for (int c = 0; c < chunks; ++c) {
      const std::string name = slot_class(work, c), colour = hex(slot_colour(work, c, chunks));
      if (hatch(work).empty()) {
        out += fmt::format(".{}{{fill:{}}}", name, colour);
      } else {
        out += fmt::format(".{0}{{fill:url(#{0})}}", name);
        patterns += fmt::format(
            "<pattern id=\"{}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
            "<rect width=\"6\" height=\"6\" fill=\"{}\"/>{}</pattern>\n",
            name, colour, hatch(work));
      }
    }
  out += "\n" + rules(theme == Theme::Dark ? kDark : kLight) + "\n";
  if (theme == Theme::Auto) out += "@media (prefers-color-scheme:dark){" + rules(kDark) + "}\n";
  return out + "</style>\n<defs>\n" + patterns + "</defs>\n";
}

}  // namespace trainplan
