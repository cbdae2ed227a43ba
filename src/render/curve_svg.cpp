#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "curve_axes.hpp"
#include "svg_palette.hpp"
#include "svg_parts.hpp"
#include "trainplan/render/curves.hpp"
#include "units.hpp"

namespace trainplan {
namespace {

constexpr double kWidth = 760, kHeight = 420, kText = 11, kTitle = 15;
constexpr Box kPlot{64, 48, kWidth - 64 - 24, kHeight - 48 - 92};

class CurveSvg {
  const WasteCurve& curve_;
  std::string body_;

  double x(double interval) const { return kPlot.x + place_of(curve_, interval) * kPlot.width; }
  double y(double waste) const { return kPlot.y + kPlot.height * (1 - waste / curve_.top); }

  void text(double px, double py, double size, std::string_view classes, std::string_view words) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" class=\"{}\">{}</text>\n", num(px),
                         num(py), num(size), classes, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2) {
    body_ += fmt::format("<path d=\"M{},{}L{},{}\" class=\"grid\"/>\n", num(x1), num(y1), num(x2), num(y2));
  }

  void axes() {
    for (const AxisMark& m : waste_axis(curve_, 6)) {
      line(kPlot.x, y(m.value), kPlot.x + kPlot.width, y(m.value));
      text(kPlot.x - 8, y(m.value) + 0.36 * kText, kText, "faint end", m.label);
    }
    double free = 0;
    for (const AxisMark& m : interval_axis(curve_)) {
      const double at = x(m.value), half = width_of(m.label, kText) / 2;
      line(at, kPlot.y, at, kPlot.y + kPlot.height);
      if (at - half < free) continue;
      text(at, kPlot.y + kPlot.height + 16, kText, "faint mid", m.label);
      free = at + half + 8;
    }
  }

  /// The part below the top of the axis.
  void curve(const std::vector<WastePoint>& points, std::string_view style) {
    std::string path;
    bool on = false;
    for (const WastePoint& p : points) {
      const bool inside = p.waste <= curve_.top;
      if (inside) path += fmt::format("{}{},{}", on ? "L" : "M", num(x(p.interval)), num(y(p.waste)));
      on = inside;
    }
    if (!path.empty()) body_ += fmt::format("<path d=\"{}\" class=\"msg\" style=\"{}\"/>\n", path, style);
  }

  void marks() {
    double row = kPlot.y + kPlot.height + 38;
    for (const WasteMark& m : curve_.marks) {
      const std::string words =
          fmt::format("{} {}: {}, {}", m.letter, m.name, value_text({m.at.interval, Unit::Time}),
                      value_text({m.at.waste, Unit::FineShare}));
      body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" class=\"ink\"><title>{}</title></circle>\n",
                           num(x(m.at.interval)), num(y(m.at.waste)), escaped(words));
      text(x(m.at.interval), y(m.at.waste) - 9, kText, "ink mid bold", std::string(1, m.letter));
      text(kPlot.x, row, kText, "ink", words);
      row += 16;
    }
    text(kPlot.x + kPlot.width, kPlot.y + kPlot.height + 38, kText, "faint end",
         "dashed: failures strike saves and recoveries too");
  }

 public:
  explicit CurveSvg(const WasteCurve& curve) : curve_(curve) {}

  std::string operator()(Theme theme) {
    text(18, 26, kTitle, "ink bold", curve_.title);
    axes();
    curve(curve_.retried, "stroke-width:1.2;stroke-dasharray:5 4");
    curve(curve_.points, "stroke-width:2;stroke-opacity:1");
    marks();
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
               "height=\"{1}\" "
               "role=\"img\">\n<title>{2}</title>\n",
               num(kWidth), num(kHeight), escaped(curve_.title)) +
           svg_style(theme, 0) + "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + body_ +
           "</svg>\n";
  }
};

}  // namespace

std::string render_curve_svg(const WasteCurve& curve, Theme theme) { return CurveSvg(curve)(theme); }

}  // namespace trainplan
