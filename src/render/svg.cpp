#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "slot_words.hpp"
#include "svg_palette.hpp"
#include "svg_parts.hpp"
#include "time_axis.hpp"
#include "trainplan/render/pictures.hpp"
#include "units.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

using sim::Ran;
using sim::Ticks;
using sim::Work;

constexpr double kMargin = 18, kTitle = 15, kText = 11, kLarge = 11, kSmall = 6;
constexpr double kLane = 22, kGap = 3, kMemory = 18, kBetween = 9;

class Svg {
  const PipelinePicture& p_;
  const SvgStyle& style_;
  std::string body_;
  double left_ = 0, plot_ = 0, width_ = 0, top_ = 0;
  double idle_right_ = 0, peak_right_ = 0;
  double separator_ = 0.6;

  std::size_t stages() const { return p_.timeline.stages.size(); }
  bool with_memory() const { return p_.memory.size() == stages() && p_.highest_peak() > 0; }
  double row_height() const { return kLane + (with_memory() ? kGap + kMemory : 0) + kBetween; }
  double lane(std::size_t stage) const { return top_ + static_cast<double>(stage) * row_height(); }
  double bottom() const { return top_ + static_cast<double>(stages()) * row_height() - kBetween; }
  double x(Ticks at) const {
    return left_ +
           plot_ * static_cast<double>(at) / static_cast<double>(std::max<Ticks>(p_.timeline.makespan, 1));
  }
  std::string time(Ticks at) const { return value_text({p_.seconds(at), Unit::Time}); }

  void text(double px, double py, double size, std::string_view classes, std::string_view words) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" class=\"{}\">{}</text>\n", num(px),
                         num(py), num(size), classes, escaped(words));
  }
  void rect(const Box& b, std::string_view classes, std::string_view tip = {}) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"", num(b.x),
                         num(b.y), num(b.width), num(b.height), classes);
    body_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tip));
  }

  /// The size in which so many characters fit into the box, or 0 where no legible one does.
  static double fitting(const Box& b, std::size_t characters) {
    const double wide = (b.width - 2.5) / (kAdvance * static_cast<double>(characters));
    const double size = std::min({kLarge, wide, (b.height - 1) / 1.1});
    return size < kSmall ? 0 : std::floor(size * 2) / 2;
  }

  /// In the middle of the box, in the size that the longest label of such a box has; smaller ones where only
  /// they fit.
  void label(const Box& b, const sim::Pass& pass) {
    const std::size_t digits = std::to_string(p_.map.micro_batches() - 1).size();
    std::string words = fmt::format("{}.{}", pass.micro_batch, pass.chunk);
    double size = p_.map.chunks() > 2 ? fitting(b, digits + 2) : 0;
    if (size == 0) {
      words = std::to_string(pass.micro_batch);
      size = fitting(b, digits);
    }
    if (size == 0) size = fitting(b, words.size());
    if (size > 0) text(b.x + b.width / 2, b.y + b.height / 2 + 0.36 * size, size, "mid on", words);
  }

  /// Where the parts lie: as wide as the shortest usual slot needs for a number in it.
  void measure() {
    std::vector<Ticks> lengths;
    for (const auto& of_stage : p_.timeline.stages)
      for (const Ran& ran : of_stage)
        if (ran.end > ran.start) lengths.push_back(ran.end - ran.start);
    std::ranges::sort(lengths);
    const double usual = lengths.empty() ? 1 : static_cast<double>(lengths[lengths.size() / 10]);
    constexpr double kSlot = 17, kNarrowest = 620, kWidest = 2600;
    const auto whole = static_cast<double>(std::max<Ticks>(p_.timeline.makespan, 1));
    plot_ = std::clamp(std::round(kSlot * whole / usual), kNarrowest, kWidest);
    separator_ = std::min(0.6, 0.12 * usual / whole * plot_);

    left_ = kMargin + std::max(width_of("stage", kText), width_of(std::to_string(stages()), kText)) + 8;
    double idle = width_of("idle", kText), peak = width_of("peak", kText);
    for (std::size_t g = 0; g < stages(); ++g) {
      idle = std::max(idle, width_of(value_text({p_.idle_share(g), Unit::Share}), kText));
      peak = std::max(peak, width_of(value_text({p_.peak(g), p_.memory_unit}), kText));
    }
    idle_right_ = left_ + plot_ + 12 + idle;
    peak_right_ = with_memory() ? idle_right_ + 14 + peak : idle_right_;
    width_ = peak_right_ + kMargin;
  }

  /// Lines of words from `y` on; returns the base line of the next one.
  double words(double y, double size, std::string_view classes, const std::string& all) {
    const auto columns = static_cast<std::size_t>((width_ - 2 * kMargin) / (kAdvance * size));
    for (const std::string& line : wrap(all, columns)) {
      text(kMargin, y, size, classes, line);
      y += size * 1.45;
    }
    return y;
  }

  std::string shape() const {
    const std::string out = size_words(p_) + "; " + time(p_.timeline.makespan) +
                            " in all, gradients ready at " + time(p_.timeline.gradient_ready);
    return p_.subject.empty() ? out : p_.subject + "; " + out;
  }

  bool ran(Work work) const {
    return std::ranges::any_of(p_.timeline.stages, [&](const auto& of_stage) {
      return std::ranges::any_of(of_stage, [&](const Ran& r) {
        return r.slot.first.work == work || (r.slot.second && r.slot.second->work == work);
      });
    });
  }
  bool kept(std::size_t kind) const {
    return std::ranges::any_of(p_.memory, [&](const sim::Residency& r) {
      return std::ranges::any_of(r.steps, [&](const sim::Step& s) { return s.alive[kind] > 0; });
    });
  }

  /// A swatch, the class that fills it, and what it stands for.
  std::vector<std::pair<std::string, std::string>> legend_entries() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const Work work : {Work::Forward, Work::Backward, Work::InputGradient, Work::WeightGradient})
      if (ran(work))
        out.emplace_back(slot_class(work, 0), fmt::format("{} {}", letter_of(work), words_of(work)));
    const int chunks = p_.map.chunks();
    for (int c = 0; chunks > 1 && c < chunks; ++c)
      out.emplace_back(slot_class(Work::Forward, c),
                       fmt::format("{} {}", p_.map.flows() == 2 ? "direction" : "chunk", c));
    if (p_.update() > 0) out.emplace_back("update", "update");
    out.emplace_back("lane", "idle");
    constexpr std::array<std::string_view, sim::kKeptClasses> names{"memory saved for the backward pass",
                                                                    "left for gradients of weights",
                                                                    "messages to send", "messages received"};
    for (std::size_t i = 0; with_memory() && i < names.size(); ++i)
      if (kept(i)) out.emplace_back("k" + std::to_string(i), names[i]);
    return out;
  }

  double legend(double y) {
    constexpr double kSwatch = 12, kSpace = 18;
    const auto entries = legend_entries();
    const auto memory = std::ranges::find_if(entries, [](const auto& e) { return e.first.starts_with('k'); });
    const std::string first_kept = memory == entries.end() ? "" : memory->first;  // on a line of its own
    double at = kMargin;
    for (const auto& [classes, meaning] : entries) {
      const double wide = kSwatch + 5 + width_of(meaning, kText);
      if (at > kMargin && (at + wide > width_ - kMargin || classes == first_kept))
        at = kMargin, y += kText * 1.6;
      rect({at, y - kSwatch + 2, kSwatch, kSwatch}, classes);
      text(at + kSwatch + 5, y, kText, "ink", meaning);
      at += wide + kSpace;
    }
    return y + kText * 1.6;
  }

  std::string scale_words() const {
    std::string out = "A number is a micro-batch.";
    if (with_memory())
      out += " Memory beneath each stage on one scale: the full height is " +
             value_text({p_.highest_peak(), p_.memory_unit}) +
             (p_.sized() ? "." : " activation sets of a whole stage.");
    if (style_.messages && !p_.timeline.messages.empty())
      out += " Lines are messages: activations, and dashed gradients.";
    return out;
  }

  void head() {
    double y = kMargin + kTitle;
    y = words(y, kTitle, "ink bold", p_.schedule + ": " + p_.title);
    y = words(y, kText, "faint", shape()) + 6;
    y = legend(y);
    y = words(y, kText, "faint", scale_words());
    top_ = y + 26;
  }

  void axis() {
    const double whole = p_.seconds(p_.timeline.makespan), y = top_ - 8;
    if (whole <= 0) return;
    const TimeUnit unit = unit_for(whole);
    const double pixel = whole / plot_, step = axis_step(64 * pixel);
    for (int i = 0;; ++i) {
      const double px = left_ + i * step / pixel;
      std::string words = in_unit(i * step, unit);
      if (i == 0) words += fmt::format(" {}", unit.name);
      const double half = width_of(words, kText) / 2;
      if (px + half > left_ + plot_ + 2) break;
      body_ += fmt::format("<path d=\"M{0},{1}V{2}\" class=\"grid\"/>\n", num(px), num(top_ - 4),
                           num(bottom() + 4));
      const bool first = i == 0;
      text(px, y, kText, first ? "faint" : "faint mid", words);
      text(px, bottom() + 6 + kText, kText, first ? "faint" : "faint mid", words);
    }
    text(left_ - 8, y, kText, "faint end", "stage");
    text(idle_right_, y, kText, "faint end", "idle");
    if (with_memory()) text(peak_right_, y, kText, "faint end", "peak");
  }

  void pass(const Box& b, const sim::Pass& one) {
    rect(b, slot_class(one.work, one.chunk));
    label(b, one);
  }

  /// Two passes at the same time lie one above the other.
  void slot(std::size_t stage, const Ran& ran) {
    const Box all{x(ran.start), lane(stage), x(ran.end) - x(ran.start), kLane};
    body_ +=
        fmt::format("<g><title>{}, {} to {}</title>\n", name_of(ran.slot), time(ran.start), time(ran.end));
    if (ran.slot.second) {
      pass({all.x, all.y, all.width, kLane / 2}, ran.slot.first);
      pass({all.x, all.y + kLane / 2, all.width, kLane / 2}, *ran.slot.second);
    } else {
      pass(all, ran.slot.first);
    }
    body_ += "</g>\n";
  }

  /// The sum of the first `kinds` classes over time, closed along the base line.
  std::string outline(std::size_t stage, std::size_t kinds) const {
    const double base = lane(stage) + kLane + kGap + kMemory,
                 scale = kMemory * p_.memory_scale / p_.highest_peak();
    std::string path = fmt::format("M{},{}", num(left_), num(base));
    double end = left_;
    for (const sim::Step& step : p_.memory[stage].steps) {
      double sum = 0;
      for (std::size_t i = 0; i < kinds; ++i) sum += static_cast<double>(step.alive[i]);
      end = x(step.at);
      path += fmt::format("H{}V{}", num(end), num(base - scale * sum));
    }
    return path + fmt::format("V{}Z", num(base));
  }

  void memory(std::size_t stage) {
    body_ += fmt::format("<path d=\"M{},{}h{}\" class=\"grid\"/>\n", num(left_),
                         num(lane(stage) + kLane + kGap + kMemory + 0.5), num(plot_));
    for (std::size_t kinds = sim::kKeptClasses; kinds > 0; --kinds)
      if (kept(kinds - 1))
        body_ += fmt::format("<path d=\"{}\" class=\"k{}\"/>\n", outline(stage, kinds), kinds - 1);
  }

  void row(std::size_t stage) {
    const double y = lane(stage), base = y + kLane / 2 + 0.36 * kText;
    rect({left_, y, plot_, kLane}, "lane");
    if (with_memory()) memory(stage);
    for (const Ran& ran : p_.timeline.stages[stage])
      if (ran.end > ran.start) slot(stage, ran);
    if (p_.update() > 0) {
      const double from = x(p_.timeline.gradient_ready);
      rect({from, y, x(p_.timeline.makespan) - from, kLane}, "update", "update");
    }
    separators(stage);
    text(left_ - 8, base, kText, "ink end", std::to_string(stage));
    text(idle_right_, base, kText, "ink end", value_text({p_.idle_share(stage), Unit::Share}));
    if (with_memory())
      text(peak_right_, base, kText, "ink end", value_text({p_.peak(stage), p_.memory_unit}));
  }

  /// Thin lines of paper between slots that follow each other at once.
  void separators(std::size_t stage) {
    std::string path;
    const auto& slots = p_.timeline.stages[stage];
    for (std::size_t i = 1; i < slots.size(); ++i)
      if (slots[i].start == slots[i - 1].end && slots[i].end > slots[i].start)
        path += fmt::format("M{},{}v{}", num(x(slots[i].start)), num(lane(stage)), num(kLane));
    if (!path.empty())
      body_ += fmt::format("<path d=\"{}\" class=\"sep\" stroke-width=\"{}\"/>\n", path, num(separator_));
  }

  /// Between neighbours a line. From the last stage to the first one, and back, only its two ends: the whole
  /// would cross everything.
  std::string line(const sim::Message& m) const {
    constexpr double kEnd = 5;
    const auto from = static_cast<std::size_t>(m.from), to = static_cast<std::size_t>(m.to);
    const bool neighbours = from + 1 == to || to + 1 == from, down = neighbours == (to > from);
    const double leaves = lane(from) + (down ? kLane : 0), arrives = lane(to) + (down ? 0 : kLane);
    if (neighbours)
      return fmt::format("M{},{}L{},{}", num(x(m.start)), num(leaves), num(x(m.end)), num(arrives));
    return fmt::format("M{},{}v{}M{},{}v{}", num(x(m.start)), num(leaves), down ? kEnd : -kEnd, num(x(m.end)),
                       num(arrives - (down ? kEnd : -kEnd)), down ? kEnd : -kEnd);
  }

  void messages() {
    std::string there, back;
    for (const sim::Message& m : p_.timeline.messages)
      (m.carried == sim::Carried::Activation ? there : back) += line(m);
    if (!there.empty()) body_ += fmt::format("<path d=\"{}\" class=\"msg\"/>\n", there);
    if (!back.empty()) body_ += fmt::format("<path d=\"{}\" class=\"msg back\"/>\n", back);
  }

 public:
  Svg(const PipelinePicture& picture, const SvgStyle& style) : p_(picture), style_(style) {}

  std::string operator()() {
    measure();
    head();
    axis();
    for (std::size_t g = 0; g < stages(); ++g) row(g);
    if (style_.messages) messages();
    const double height = bottom() + 6 + kText + kMargin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
               "{1}\" "
               "role=\"img\">\n<title>{2}</title>\n",
               num(std::ceil(width_)), num(std::ceil(height)), escaped(p_.schedule + ": " + p_.title)) +
           svg_style(style_.theme, p_.map.chunks()) +
           "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n" + body_ + "</svg>\n";
  }
};

}  // namespace

std::string render_svg(const PipelinePicture& picture, const SvgStyle& style) {
  return Svg(picture, style)();
}

}  // namespace trainplan
