#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "outcome.hpp"
#include "text.hpp"
#include "trainplan/catalog/catalog.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/report/validation_answers.hpp"
#include "validation_reader.hpp"

namespace trainplan {

using nlohmann::json;

namespace {

constexpr double kDefaultTolerance = 0.02;

constexpr std::string_view kAskKeys[] = {"calc", "value", "args", "item",  "peak",          "model",
                                         "gpu",  "gpus",  "run",  "stage", "gpus_per_node", "cluster"};
constexpr std::string_view kCheckKeys[] = {
    "title", "calc",  "args",          "item",    "peak",   "model",      "gpu",       "gpus",
    "run",   "stage", "gpus_per_node", "cluster", "expect", "measured",   "tolerance", "less",
    "equal", "legal", "rule",          "nearest", "fits",   "allocation", "name"};

bool plain(Dim dim) { return dim == kCount || dim == kTokens || dim == kParams; }

/// A number or a question under a key, of a dimension.
std::optional<Ask> read_argument(ValidationReader& in, const Reader& at, std::string_view key, Dim dim) {
  const json& value = at.node().at(std::string(key));
  Ask ask;
  if (!value.is_object()) {
    const auto number = in.quantity(at, key, &dim);
    if (!number) return std::nullopt;
    ask.number = *number;
    ask.dim = dim;
    return ask;
  }
  const Reader nested(in.document(), value, at.pointer(key), in.issues());
  nested.allow(kAskKeys);
  auto read = read_ask(in, nested);
  if (!read) return std::nullopt;
  const auto got = answer(*read);
  if (got && (got->dim == dim || (plain(got->dim) && plain(dim)))) return read;
  at.refuse(key, "dimension", "be " + noun_of(dim), "ask for another formula or item");
  return std::nullopt;
}

std::optional<Ask> read_calc(ValidationReader& in, const Reader& at) {
  Ask ask;
  ask.kind = Ask::Kind::Formula;
  const std::string id = at.string("calc").value_or("");
  ask.formula = find_formula(id);
  if (ask.formula == nullptr) {
    std::vector<std::string_view> ids;
    for (const CatalogEntry& e : catalog()) ids.push_back(e.id);
    at.refuse("calc", "unknown-formula", "be the id of a formula", hint_for(id, ids));
    return std::nullopt;
  }
  const auto args = at.object("args");
  if (!args) return at.require("args", "{ ... }"), std::nullopt;
  std::vector<std::string_view> names;
  for (const Arg& a : ask.formula->args) names.push_back(a.name);
  args->allow(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!args->require(names[i], "a quantity")) continue;
    if (auto arg = read_argument(in, *args, names[i], ask.formula->dims[i]))
      ask.args.push_back(std::move(*arg));
  }
  return ask.args.size() == names.size() ? std::optional(std::move(ask)) : std::nullopt;
}

std::optional<Ask> read_peak(const Reader& at) {
  Ask ask;
  ask.kind = Ask::Kind::Peak;
  ask.dim = kFlops - kSeconds;
  const json cluster = {{"accelerator", at.string("peak").value_or("")}, {"nodes", 1}, {"gpus_per_node", 1}};
  Issues ignored;
  const auto loaded = load_cluster_text(cluster.dump(), "", ignored);
  if (!loaded || !(*loaded)->accelerator.bf16_dense.known) {
    at.refuse("peak", "not-found", "be a shipped accelerator with a dense bf16 peak",
              "see: trainplan list accelerators");
    return std::nullopt;
  }
  ask.number = (*loaded)->accelerator.bf16_dense.value;
  return ask;
}

std::optional<Ask> read_item(ValidationReader& in, const Reader& at) {
  Ask ask;
  ask.kind = Ask::Kind::Item;
  ask.item = at.string("item").value_or("");
  ask.stage = in.stage_of(at);
  ask.run = in.run_of(at);
  if (ask.run == nullptr) return std::nullopt;
  if (!ask.run->is_legal()) {
    const Rule* rule = first_broken(ask.run->problem(), ask.run->plan());
    const std::string broken =
        rule == nullptr ? ""
                        : std::string(rule->id) + ": " + rule->numbers(ask.run->problem(), ask.run->plan());
    at.refuse("run", "legal", "be a legal plan; it breaks " + broken, "change the degrees");
    return std::nullopt;
  }
  if (answer(ask)) return ask;
  at.refuse("item", "unknown-item", "be the id of a number of this plan",
            "see trainplan explain MODEL CLUSTER --list");
  return std::nullopt;
}

/// The figure of a check, or the two ends of its range, in the dimension of the answer.
bool read_figure(ValidationReader& in, const Reader& at, Dim dim, Check& check) {
  if (!at.require("expect", "\"13 GiB\"")) return false;
  const json& expect = at.node().at("expect");
  const std::string text = expect.is_array() && !expect.empty() ? expect.front().dump() : expect.dump();
  if (dim == kCount && text.find('%') != std::string::npos) check.unit = Unit::Share;
  if (dim == kBytes)
    check.unit = text.find("MiB") != std::string::npos  ? Unit::Request
                 : text.find("iB") != std::string::npos ? Unit::Memory
                                                        : Unit::Traffic;
  if (!expect.is_array()) {
    const auto figure = in.quantity(at, "expect", &dim);
    check.low = check.high = figure.value_or(0);
    return figure.has_value();
  }
  const Reader ends(in.document(), expect, at.pointer("expect"), in.issues());
  std::vector<double> values;
  for (const json& e : expect) {
    const Measure m =
        e.is_string() ? parse_quantity(e.get<std::string>(), dim) : parse_quantity(e.dump(), dim);
    if (m) values.push_back(m.value);
  }
  if (values.size() != 2 || values[0] > values[1]) {
    at.refuse("expect", "range", "be a figure, or the two ends of a range in ascending order",
              "write [\"1 GiB\", \"2 GiB\"]");
    return false;
  }
  check.low = values[0];
  check.high = values[1];
  return true;
}

bool read_value(ValidationReader& in, const Reader& at, Check& check) {
  auto ask = read_ask(in, at);
  if (!ask) return false;
  check.ask = std::move(*ask);
  const auto got = answer(check.ask);
  if (check.title.empty() && check.ask.kind == Ask::Kind::Formula) check.title = check.ask.formula->title;
  if (check.title.empty() && check.ask.kind == Ask::Kind::Item) check.title = check.ask.item;
  check.unit = unit_for(got->dim);
  return read_figure(in, at, got->dim, check);
}

bool read_less(ValidationReader& in, const Reader& at, Check& check) {
  const auto sides = at.objects("less");
  if (sides.size() != 2) {
    at.refuse("less", "two-questions", "be two questions, the smaller answer first",
              "write [{ ... }, { ... }]");
    return false;
  }
  auto less = read_ask(in, sides[0]), more = read_ask(in, sides[1]);
  if (!less || !more) return false;
  check.kind = Check::Kind::Less;
  check.ask = std::move(*less);
  check.other = std::move(*more);
  return true;
}

/// Two questions with one answer.
bool read_equal(ValidationReader& in, const Reader& at, Check& check) {
  const auto sides = at.objects("equal");
  if (sides.size() != 2) {
    at.refuse("equal", "two-questions", "be two questions", "write [{ ... }, { ... }]");
    return false;
  }
  auto ask = read_ask(in, sides[0]), other = read_ask(in, sides[1]);
  if (!ask || !other) return false;
  check.ask = std::move(*ask);
  check.low = check.high = answer(*other)->number;
  return true;
}

bool read_legality(ValidationReader& in, const Reader& at, Check& check) {
  check.kind = Check::Kind::Legal;
  check.yes = at.boolean("legal").value_or(true);
  check.rule = at.string("rule").value_or("");
  if (!check.yes) at.require("rule", "\"tp-divides-heads\"");
  if (const auto nearest = at.node().find("nearest"); nearest != at.node().end() && nearest->is_array())
    for (const json& n : *nearest)
      if (n.is_number_integer()) check.nearest.push_back(n.get<std::int64_t>());
  check.ask.run = in.run_of(at);
  if (check.title.empty()) check.title = "legality";
  return check.ask.run != nullptr;
}

bool read_fit(ValidationReader& in, const Reader& at, Check& check) {
  check.kind = Check::Kind::Fits;
  check.yes = at.boolean("fits").value_or(true);
  check.ask.run = in.run_of(at);
  if (check.title.empty()) check.title = "verdict";
  return check.ask.run != nullptr;
}

bool read_allocation(ValidationReader& in, const Reader& at, Check& check) {
  check.kind = Check::Kind::Allocation;
  check.name = at.string("name").value_or("");
  at.require("name", "\"allocation.logits.fp32\"");
  const auto bytes = in.quantity(at, "allocation", &kBytes);
  check.low = check.high = bytes.value_or(0);
  check.ask.stage = in.stage_of(at);
  check.ask.run = in.run_of(at);
  return check.ask.run != nullptr && bytes.has_value() && !check.name.empty();
}

}  // namespace

std::optional<Ask> read_ask(ValidationReader& in, const Reader& at) {
  if (at.has("calc")) return read_calc(in, at);
  if (at.has("item")) return read_item(in, at);
  if (at.has("peak")) return read_peak(at);
  if (at.has("value")) {
    Ask ask;
    const auto number = in.quantity(at, "value", nullptr, &ask.dim);
    ask.number = number.value_or(0);
    return number ? std::optional(std::move(ask)) : std::nullopt;
  }
  at.refuse_key("calc", "question", "ask something", "give \"calc\", \"item\", \"peak\" or \"value\"");
  return std::nullopt;
}

std::optional<Check> read_check(ValidationReader& in, const Reader& at) {
  at.allow(kCheckKeys);
  Check check;
  check.title = at.string("title").value_or("");
  check.measured = at.boolean("measured").value_or(false);
  check.tolerance = in.quantity(at, "tolerance", &kCount).value_or(kDefaultTolerance);
  const bool ok = at.has("less")         ? read_less(in, at, check)
                  : at.has("equal")      ? read_equal(in, at, check)
                  : at.has("legal")      ? read_legality(in, at, check)
                  : at.has("fits")       ? read_fit(in, at, check)
                  : at.has("allocation") ? read_allocation(in, at, check)
                                         : read_value(in, at, check);
  return ok ? std::optional(std::move(check)) : std::nullopt;
}

}  // namespace trainplan
