#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/spec/calibration_keys.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kOther = "other";

/// The entry of an accelerator. One that has none starts from the constants of those that nobody measured.
AcceleratorConstants& constants_of(Calibration& c, const std::string& id, const AcceleratorConstants& other) {
  for (AcceleratorConstants& a : c.accelerators)
    if (a.id == id) return a;
  c.accelerators.push_back(other);
  c.accelerators.back().id = id;
  return c.accelerators.back();
}

/// The figures that an object gives; the others keep what they had.
template <class T, std::size_t K>
std::vector<std::string_view> read_figures(const Reader& in, const FigureKey<T> (&fields)[K], T& out) {
  std::vector<std::string_view> keys;
  for (const FigureKey<T>& f : fields) {
    keys.push_back(f.key);
    if (in.has(f.key)) in.figure(f.key, f.dim, out.*f.figure);
  }
  return keys;
}

/// The constants of another accelerator, which the file or what lies below it gives.
void read_same(const Reader& in, const std::string& id, const std::string& other, Calibration& c) {
  const AcceleratorConstants same = c.of(other);
  if (id == kOther || id == other || same.id != other || !same.same_as.empty())
    return in.refuse(id, "same-accelerator", "name an accelerator that has constants of its own",
                     "give its constants");
  AcceleratorConstants& a = constants_of(c, id, same);
  a = same;
  a.id = id;
  a.same_as = other;
}

void read_accelerators(const Reader& in, Calibration& c) {
  const AcceleratorConstants other = c.other_accelerator;
  for (const auto& [id, value] : in.node().items()) {
    if (id.starts_with('_') || value.is_string()) continue;
    const auto object = in.object(id);
    if (!object) continue;
    AcceleratorConstants& a = id == kOther ? c.other_accelerator : constants_of(c, id, other);
    a.same_as.clear();
    object->allow(read_figures(*object, kAcceleratorKeys, a));
  }
  for (const auto& [id, value] : in.node().items())
    if (!id.starts_with('_') && value.is_string()) read_same(in, id, value.get<std::string>(), c);
}

void read_stacks(const Reader& in, Calibration& c) {
  in.allow(kStackNames);
  for (std::size_t i = 0; i < kStackCount; ++i) {
    const auto object = in.object(kStackNames[i]);
    if (!object) continue;
    StackConstants& s = c.stacks[i];
    auto keys = read_figures(*object, kStackKeys, s);
    keys.insert(keys.end(), {"attention", "eager", "early_stop"});
    object->allow(keys);
    s.attention = object->choice("attention", kAttentionKernels).value_or(s.attention);
    s.eager = object->boolean("eager").value_or(s.eager);
    s.early_stop = object->boolean("early_stop").value_or(s.early_stop);
  }
}

/// The ends of a range; both have the source of their class.
void read_range(const Reader& in, std::string_view name, ErrorClass& c) {
  const auto object = in.object(name);
  if (!object) return;
  static constexpr std::string_view keys[] = {"low", "high", "source", "assumed"};
  object->allow(keys);
  const std::string source = object->string("source").value_or("");
  const bool assumed = object->boolean("assumed").value_or(false);
  for (const auto& [key, end] : {std::pair{"low", &c.low}, std::pair{"high", &c.high}}) {
    if (!object->has(key)) continue;
    object->figure(key, kCount, *end);
    end->source = source;
    end->assumed = assumed;
  }
}

template <std::size_t K>
void read_classes(const Reader& in, std::string_view key, const std::string_view (&names)[K],
                  std::array<ErrorClass, K>& classes) {
  const auto object = in.object(key);
  if (!object) return;
  object->allow(names);
  for (std::size_t i = 0; i < K; ++i) read_range(*object, names[i], classes[i]);
}

void read_ranges(const Reader& in, ErrorRanges& ranges) {
  static constexpr std::string_view keys[] = {"confidence", "time", "accelerator", "memory"};
  in.allow(keys);
  if (in.has("confidence")) in.figure("confidence", kCount, ranges.confidence);
  read_classes(in, "time", kTimeClassNames, ranges.time);
  read_range(in, "accelerator", ranges.accelerator);
  read_classes(in, "memory", kMemoryClassNames, ranges.memory);
}

/// Lays what a document says over `c`.
std::optional<Checked<Calibration>> read_calibration(const Document& doc, Calibration c, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  auto keys = read_figures(in, kCommonKeys, c);
  keys.insert(keys.end(), {"time", "accelerators", "stacks", "ranges"});
  in.allow(keys);
  if (const auto time = in.object("time")) time->allow(read_figures(*time, kTimeKeys, c.time));
  if (const auto accelerators = in.object("accelerators")) read_accelerators(*accelerators, c);
  c.follow();
  if (const auto stacks = in.object("stacks")) read_stacks(*stacks, c);
  if (const auto ranges = in.object("ranges")) read_ranges(*ranges, c.ranges);
  auto checked = Checked<Calibration>::make(std::move(c), issues);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : checked;
}

}  // namespace

std::optional<Checked<Calibration>> load_calibration(Issues& issues, std::string_view name_or_path) {
  const auto shipped = shipped_config("calibration", "baseline", issues);
  if (!shipped) return std::nullopt;
  auto baseline = read_calibration(*shipped, {}, issues);
  if (name_or_path.empty() || !baseline) return baseline;
  const auto doc = find_config("calibration", name_or_path, issues);
  if (!doc) return std::nullopt;
  Calibration below = **baseline;
  below.overlay = doc->origin;
  return read_calibration(*doc, std::move(below), issues);
}

std::optional<Checked<Calibration>> published_calibration(Issues& issues) {
  const auto baseline = load_calibration(issues);
  const auto published = shipped_config("calibration", "published", issues);
  if (!baseline || !published) return std::nullopt;
  return read_calibration(*published, **baseline, issues);
}

std::optional<Checked<Calibration>> load_calibration_text(std::string_view text, std::string_view file,
                                                          Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_calibration(*doc, {}, issues) : std::nullopt;
}

}  // namespace trainplan
