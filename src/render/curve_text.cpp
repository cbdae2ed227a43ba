#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "curve_axes.hpp"
#include "layout.hpp"
#include "trainplan/render/curves.hpp"
#include "units.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kRows = 16, kLabel = 8;

/// Rows of characters, the highest waste first.
class Canvas {
  const WasteCurve& curve_;
  std::size_t columns_;
  std::vector<std::string> rows_;

 public:
  Canvas(const WasteCurve& curve, std::size_t columns)
      : curve_(curve), columns_(columns), rows_(kRows, std::string(columns, ' ')) {}

  std::size_t column(double interval) const {
    const double at = place_of(curve_, interval) * static_cast<double>(columns_ - 1);
    return static_cast<std::size_t>(std::clamp(std::lround(at), 0L, static_cast<long>(columns_) - 1));
  }
  std::size_t row(double waste) const {
    const auto up = static_cast<std::size_t>(
        std::lround(std::clamp(waste / curve_.top, 0.0, 1.0) * static_cast<double>(kRows - 1)));
    return kRows - 1 - up;
  }
  /// What lies above the axis is not drawn.
  void put(const WastePoint& p, char what) {
    if (p.waste <= curve_.top) rows_[row(p.waste)][column(p.interval)] = what;
  }
  const std::string& text(std::size_t i) const { return rows_[i]; }
};

std::string padded(std::string text, std::size_t width) {
  text.insert(0, width > display_width(text) ? width - display_width(text) : 0, ' ');
  return text;
}

/// Labels under the axis, as many as have room.
std::string interval_labels(const WasteCurve& curve, const Canvas& canvas, std::size_t columns) {
  std::string out;
  for (const AxisMark& m : interval_axis(curve)) {
    const std::size_t at = canvas.column(m.value);
    if ((!out.empty() && at < out.size() + 2) || at + m.label.size() > columns) continue;
    out.append(at - out.size(), ' ').append(m.label);
  }
  return out;
}

}  // namespace

std::string render_curve(const WasteCurve& curve, const TimelineStyle& style) {
  const auto all = static_cast<std::size_t>(style.columns);
  const std::size_t columns = all - kLabel - 2;
  Canvas canvas(curve, columns);
  for (const WastePoint& p : curve.retried) canvas.put(p, style.ascii ? ':' : '.');
  for (const WastePoint& p : curve.points) canvas.put(p, '*');
  for (auto m = curve.marks.rbegin(); m != curve.marks.rend(); ++m) canvas.put(m->at, m->letter);
  std::vector<std::string> labels(kRows);
  for (const AxisMark& m : waste_axis(curve, 5)) labels[canvas.row(m.value)] = m.label;
  std::string out = inked(printable(curve.title), Ink::Bold, style.colour) + "\n\n";
  const std::string bar = style.ascii ? "|" : "│", tick = style.ascii ? "+" : "┤";
  for (std::size_t i = 0; i < kRows; ++i) {
    std::string line = padded(labels[i], kLabel) + " " + (labels[i].empty() ? bar : tick) + canvas.text(i);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  std::string rule;
  for (std::size_t i = 0; i < columns; ++i) rule += style.ascii ? "-" : "─";
  out += std::string(kLabel + 1, ' ') + (style.ascii ? "+" : "└") + rule + "\n";
  out += std::string(kLabel + 2, ' ') + interval_labels(curve, canvas, columns) + "\n\n";
  out += paragraph(
      "share of the time that does not train, against the interval between saves; * the goodput of this "
      "report, " +
          std::string(style.ascii ? ":" : ".") + " failures that strike saves and recoveries too",
      all, "  ");
  for (const WasteMark& m : curve.marks)
    out +=
        paragraph(std::string(1, m.letter) + " " + m.name + ": " + value_text({m.at.interval, Unit::Time}) +
                      ", " + value_text({m.at.waste, Unit::FineShare}),
                  all, "  ");
  return out;
}

}  // namespace trainplan
