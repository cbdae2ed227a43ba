#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "layout.hpp"
#include "slot_words.hpp"
#include "time_axis.hpp"
#include "timeline_scale.hpp"
#include "trainplan/render/pictures.hpp"
#include "units.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

using sim::Ran;
using sim::Ticks;

/// What a column of a row shows. The first four are those of sim::Work.
enum class Shown : std::uint8_t { Forward, Backward, Input, Weight, Pair, Update, Busy, Partly, Idle };
constexpr std::size_t kBusyKinds = 6;

/// A letter where one slot is drawn, what fills the rest of it, and its colour on a terminal.
struct Look {
  char letter;
  std::string_view fill, ascii_fill, ink;
};
constexpr std::array<Look, 9> kLooks{{{'F', "░", "-", "97;44"},
                                      {'B', "▓", "=", "30;43"},
                                      {'X', "▒", "~", "30;103"},
                                      {'W', "▂", "_", "30;42"},
                                      {'&', "&", "&", "97;45"},
                                      {'U', "█", "#", "30;47"},
                                      {'+', "+", "+", "30;47"},
                                      {'-', "-", "-", ""},
                                      {'.', "·", ".", "2"}}};

const Look& look_of(Shown shown) { return kLooks[static_cast<std::size_t>(shown)]; }

Shown shown_of(const sim::Slot& slot) {
  return slot.second ? Shown::Pair : static_cast<Shown>(slot.first.work);
}

/// One row of columns.
class Row {
  const PipelinePicture& picture_;
  const Scale& scale_;
  bool ascii_;
  std::vector<std::pair<Shown, std::string>> cells_;

  std::string_view fill(Shown shown) const {
    return ascii_ ? look_of(shown).ascii_fill : look_of(shown).fill;
  }

  /// Small letters are chunks, or directions, after the first.
  static std::string letter(const sim::Pass& pass) {
    const char capital = letter_of(pass.work);
    return {pass.chunk == 0 ? capital : static_cast<char>(capital - 'A' + 'a')};
  }
  static std::string number(const sim::Pass& pass) { return std::to_string(pass.micro_batch); }

  /// From the fullest to the shortest; the first that fits is drawn.
  std::vector<std::string> labels(const sim::Slot& slot) const {
    const std::string first = letter(slot.first), numbered = first + number(slot.first);
    if (slot.second) {
      const std::string second = letter(*slot.second);
      return {numbered + "&" + second + number(*slot.second), first + "&" + second, "&"};
    }
    std::vector<std::string> out{numbered, first};
    if (picture_.map.chunks() > 2) out.insert(out.begin(), numbered + "." + std::to_string(slot.first.chunk));
    return out;
  }

  void put(Shown shown, Ticks from, Ticks to, const std::vector<std::string>& labels) {
    const auto first = static_cast<std::size_t>(scale_.column(from)),
               last = static_cast<std::size_t>(scale_.column(to));
    for (std::size_t at = first; at < last; ++at) cells_[at] = {shown, std::string(fill(shown))};
    for (const std::string& label : labels) {
      if (label.size() > last - first) continue;
      for (std::size_t i = 0; i < label.size(); ++i) cells_[first + i].second = label[i];
      break;
    }
  }

  /// What prevails in a column, by the ticks of each kind.
  static Shown prevailing(const std::array<double, kBusyKinds>& ticks, double column) {
    constexpr double kAll = 0.95 - 1e-9, kMost = 0.75 - 1e-9, kLittle = 0.25 + 1e-9;
    const auto top = std::ranges::max_element(ticks);
    const double busy = std::accumulate(ticks.begin(), ticks.end(), 0.0);
    if (*top >= kAll * column) return static_cast<Shown>(top - ticks.begin());
    return busy >= kMost * column ? Shown::Busy : busy > kLittle * column ? Shown::Partly : Shown::Idle;
  }

  void shares(const std::vector<Ran>& slots) {
    std::vector<std::array<double, kBusyKinds>> ticks(cells_.size());
    const auto spread = [&](Shown shown, Ticks from, Ticks to) {
      const auto a = static_cast<double>(from), b = static_cast<double>(to);
      for (auto c = static_cast<std::size_t>(a / scale_.ticks); c < ticks.size(); ++c) {
        const double left = static_cast<double>(c) * scale_.ticks;
        if (left >= b) break;
        ticks[c][static_cast<std::size_t>(shown)] +=
            std::max(0.0, std::min(b, left + scale_.ticks) - std::max(a, left));
      }
    };
    for (const Ran& ran : slots) spread(shown_of(ran.slot), ran.start, ran.end);
    spread(Shown::Update, picture_.timeline.gradient_ready, picture_.timeline.makespan);
    for (std::size_t c = 0; c < ticks.size(); ++c) {
      const double left = static_cast<double>(c) * scale_.ticks;
      const double column = std::min(scale_.ticks, static_cast<double>(picture_.timeline.makespan) - left);
      const Shown shown = prevailing(ticks[c], column);
      cells_[c] = {shown,
                   shown == Shown::Idle ? std::string(fill(shown)) : std::string{look_of(shown).letter}};
    }
  }

 public:
  Row(const PipelinePicture& picture, const Scale& scale, bool ascii, std::size_t stage)
      : picture_(picture),
        scale_(scale),
        ascii_(ascii),
        cells_(static_cast<std::size_t>(scale.columns), {Shown::Idle, std::string(fill(Shown::Idle))}) {
    if (scale.drawn == Drawn::Shares) {
      shares(picture.timeline.stages[stage]);
      return;
    }
    for (const Ran& ran : picture.timeline.stages[stage])
      put(shown_of(ran.slot), ran.start, ran.end, labels(ran.slot));
    put(Shown::Update, picture.timeline.gradient_ready, picture.timeline.makespan, {"U"});
  }

  bool shows(Shown shown) const {
    return std::ranges::any_of(cells_, [&](const auto& cell) { return cell.first == shown; });
  }

  /// Neighbours of one kind share their colour.
  std::string text(bool colour) const {
    std::string out;
    for (std::size_t i = 0; i < cells_.size();) {
      const Shown shown = cells_[i].first;
      std::string run;
      for (; i < cells_.size() && cells_[i].first == shown; ++i) run += cells_[i].second;
      const std::string_view ink = look_of(shown).ink;
      out += colour && !ink.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", ink, run) : run;
    }
    return out;
  }
};

/// Two lines: round times above a rule with a mark for each.
class Ruler {
  std::string labels_, rule_;
  std::size_t columns_ = 0;

 public:
  Ruler(const PipelinePicture& p, const Scale& scale, bool ascii) {
    const double whole = p.seconds(p.timeline.makespan), column = scale.ticks * p.seconds_per_tick;
    const TimeUnit unit = unit_for(whole);
    constexpr double kApart = 9;  // columns, so that no label meets the next
    const double step = axis_step(kApart * column);
    std::vector<bool> marks(static_cast<std::size_t>(scale.columns));
    for (int i = 0;; ++i) {
      const auto at = static_cast<std::size_t>(std::lround(i * step / column));
      std::string label = in_unit(i * step, unit);
      if (i == 0) label += fmt::format(" {}", unit.name);
      if (at + label.size() > marks.size()) break;
      labels_.append(at - labels_.size(), ' ').append(label);
      marks[at] = true;
    }
    columns_ = marks.size();
    labels_.append(columns_ - labels_.size(), ' ');
    for (std::size_t i = 0; i < columns_; ++i) rule_ += ascii ? (marks[i] ? "|" : "-") : marks[i] ? "┬" : "─";
  }
  const std::string& labels() const { return labels_; }
  const std::string& rule() const { return rule_; }
};

std::string peak_words(const PipelinePicture& p) {
  return p.sized() ? "; peak: saved activations and messages" : "; peak: activation sets of a whole stage";
}

/// Sentences below the rows: what the letters mean, what a column is.
class Legend {
  const PipelinePicture& picture_;
  const Scale& scale_;
  const std::vector<Row>& rows_;
  bool ascii_;

  bool shown(Shown what) const {
    return std::ranges::any_of(rows_, [&](const Row& row) { return row.shows(what); });
  }

  std::string kinds() const {
    std::string out;
    const auto add = [&](Shown what, std::string_view glyph, std::string_view words) {
      if (shown(what)) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", glyph, words);
    };
    add(Shown::Forward, "F", "forward");
    add(Shown::Backward, "B", "backward");
    add(Shown::Input, "X", "gradients of inputs");
    add(Shown::Weight, "W", "gradients of weights");
    add(Shown::Pair, "&", "two at the same time");
    add(Shown::Update, "U", "update");
    add(Shown::Busy, "+", "busy");
    add(Shown::Partly, "-", "idle in part");
    const Look& idle = look_of(Shown::Idle);
    add(Shown::Idle, ascii_ ? idle.ascii_fill : idle.fill, "idle");
    return out;
  }

  std::string column() const {
    const std::string each =
        "one column is " + value_text({scale_.ticks * picture_.seconds_per_tick, Unit::Time});
    switch (scale_.drawn) {
      case Drawn::Exact: return each + ", and every slot begins and ends with one";
      case Drawn::Rounded:
        return each +
               "; slots begin and end with the nearest one, so a shorter gap may look longer or "
               "not show";
      case Drawn::Shares:
        return each +
               ", longer than the shortest slot: a letter where slots of one kind fill it, + where it is "
               "busy for "
               "three quarters and more, - where for one to three quarters; more columns show more";
    }
    return {};
  }

  std::string numbers() const {
    if (scale_.drawn == Drawn::Shares) return {};
    const int chunks = picture_.map.chunks();
    const bool directions = picture_.map.flows() == 2;
    std::string out = "; a number is a micro-batch, where it fits";
    if (directions) return out + "; capital letters are the first direction, small ones the second";
    if (chunks == 2) out += "; capital letters are chunk 0, small ones chunk 1";
    if (chunks > 2) out += "; capital letters are chunk 0, small ones the others, .2 is chunk 2";
    return out;
  }

 public:
  Legend(const PipelinePicture& picture, const Scale& scale, const std::vector<Row>& rows, bool ascii)
      : picture_(picture), scale_(scale), rows_(rows), ascii_(ascii) {}

  std::string text(std::size_t columns) const {
    const std::string idle = "idle: share of the " +
                             value_text({picture_.seconds(picture_.timeline.gradient_ready), Unit::Time}) +
                             " until all gradients are there";
    std::string out = paragraph(kinds() + numbers(), columns, "  ") + paragraph(column(), columns, "  ");
    return out + paragraph(idle + (picture_.memory.empty() ? "" : peak_words(picture_)), columns, "  ");
  }
};

std::string heading(const PipelinePicture& p, const TimelineStyle& style) {
  std::string shape = size_words(p) + ": " + value_text({p.seconds(p.timeline.makespan), Unit::Time});
  if (!p.subject.empty()) shape = printable(p.subject) + "; " + shape;
  const auto columns = static_cast<std::size_t>(style.columns);
  std::string title = paragraph(printable(p.schedule + ": " + p.title), columns, "");
  title.pop_back();  // colours end before the line does
  return inked(std::move(title), Ink::Bold, style.colour) + "\n" + paragraph(shape, columns, "") + "\n";
}

/// Texts of one column to the right of the rows, each as wide as the widest.
std::vector<std::string> aligned(std::vector<std::string> texts) {
  std::size_t width = 0;
  for (const std::string& text : texts) width = std::max(width, display_width(text));
  for (std::string& text : texts) text.insert(0, width - display_width(text), ' ');
  return texts;
}

}  // namespace

std::string render_timeline(const PipelinePicture& p, const TimelineStyle& style) {
  const auto stages = static_cast<std::size_t>(p.stages());
  std::vector<std::string> numbers{"stage", ""}, idle{"idle", ""}, peak{"peak", ""};
  for (std::size_t g = 0; g < stages; ++g) {
    numbers.push_back(std::to_string(g));
    idle.push_back(value_text({p.idle_share(g), Unit::Share}));
    if (g < p.memory.size()) peak.push_back(value_text({p.peak(g), p.memory_unit}));
  }
  const bool with_peak = peak.size() == stages + 2;
  numbers = aligned(std::move(numbers)), idle = aligned(std::move(idle)), peak = aligned(std::move(peak));

  constexpr std::size_t kGap = 2;
  const std::size_t beside =
      numbers[0].size() + idle[0].size() + (with_peak ? peak[0].size() + kGap : 0) + 2 * kGap;
  const int room = std::max(8, style.columns - static_cast<int>(beside));
  const Scale scale = scale_for(p, room);
  const Ruler ruler(p, scale, style.ascii);
  std::vector<Row> rows;
  for (std::size_t g = 0; g < stages; ++g) rows.emplace_back(p, scale, style.ascii, g);

  std::string out = heading(p, style);
  for (std::size_t line = 0; line < stages + 2; ++line) {
    const std::string drawn = line == 0   ? ruler.labels()
                              : line == 1 ? ruler.rule()
                                          : rows[line - 2].text(style.colour);
    std::string text = numbers[line] + "  " + drawn;
    if (line != 1) text += "  " + idle[line] + (with_peak ? "  " + peak[line] : "");
    out += text + "\n";
  }
  return out + "\n" + Legend(p, scale, rows, style.ascii).text(static_cast<std::size_t>(style.columns));
}

}  // namespace trainplan
