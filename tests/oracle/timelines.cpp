#include "timelines.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "trainplan/sim/fault.hpp"

namespace figures {
namespace {

using nlohmann::json;
using namespace trainplan;
using sim::Carried;
using sim::Placement;
using sim::Ticks;

[[noreturn]] void refuse(const std::string& text) { throw std::runtime_error(text); }

Ticks ticks(const json& spec, const char* key) {
  const double exact = spec.value(key, 0.0) * kTicksPerMs;
  const auto out = static_cast<Ticks>(std::llround(exact));
  if (std::abs(exact - static_cast<double>(out)) > 1e-6)
    refuse(std::string(key) + " is no whole number of ticks");
  return out;
}
double ms(Ticks t) { return static_cast<double>(t) / kTicksPerMs; }

const sim::Schedule* schedule_of(const json& spec) {
  const std::string id = spec.at("schedule");
  const sim::Schedule* found = sim::find_schedule(id);
  if (found == nullptr) refuse("no such schedule: " + id);
  return found;
}

sim::Shape shape_of(const json& spec) {
  sim::Shape s;
  s.stages = spec.at("stages");
  s.micro_batches = spec.at("micro_batches");
  const bool two = schedule_of(spec)->placement == Placement::Vee ||
                   schedule_of(spec)->placement == Placement::TwoDirections;
  s.chunks = spec.value("chunks", two ? 2 : 1);
  s.group = spec.value("group", 1);
  s.lead = spec.value("lead", 0);
  s.memory = spec.value("memory", 0.0);
  if (spec.contains("saved"))
    s.after_x = spec.at("for_weights").get<double>() / spec.at("saved").get<double>();
  const auto each = [&](const char* key) {
    return std::vector<Ticks>(static_cast<std::size_t>(s.stages), ticks(spec, key));
  };
  s.durations = {each("forward"), each("input_gradient"), each("weight_gradient"), ticks(spec, "transfer")};
  return s;
}

std::vector<int> layers_of(const json& spec, const sim::Map& map) {
  const int layers = spec.value("layers", map.stages() * map.chunks()) / map.stages();
  return map.flows() == 1 ? sim::chunk_layers(layers, map.chunks())
                          : std::vector<int>(static_cast<std::size_t>(map.chunks()), layers);
}

sim::Times times_of(const json& spec, const sim::Shape& shape, Placement placement, const sim::Map& map) {
  sim::Times out = sim::times_of(shape, placement, layers_of(spec, map));
  out.update = ticks(spec, "update");
  if (!spec.contains("pair")) return out;
  const Ticks alone =
      shape.durations.forward[0] + shape.durations.input_gradient[0] + shape.durations.weight_gradient[0];
  const Ticks saved = (alone - ticks(spec, "pair")) / (map.flows() == 1 ? map.chunks() : 1);
  std::ranges::fill(out.overlap, saved);
  return out;
}

sim::Timeline run(const sim::Orders& orders, Placement placement, const sim::Shape& shape,
                  const sim::Times& times) {
  sim::Outcome out = sim::simulate(orders, placement, shape, times);
  if (const auto* fault = std::get_if<sim::Fault>(&out)) refuse(text(*fault));
  return std::get<sim::Timeline>(std::move(out));
}

sim::Orders orders_of(const sim::Schedule& schedule, const sim::Shape& shape) {
  if (const auto refusal = schedule.refusal(shape))
    refuse(std::string(refusal->field) + " = " + std::to_string(refusal->got) + " must " + refusal->must);
  return schedule.orders(shape);
}

sim::Sizes sizes_of(const json& spec, const sim::Map& map) {
  const sim::Size saved = spec.value("saved", sim::Size{1});
  sim::Sizes out = sim::one_for_each(map, {saved, spec.value("for_weights", saved)});
  if (!spec.contains("saved_per_layer")) return out;
  const std::vector<int> layers = layers_of(spec, map);
  for (int q = 0; q < map.virtual_stages(); ++q) {
    const sim::Seat seat = map.seat(q);
    const auto chunk = static_cast<std::size_t>(seat.chunk);
    const sim::Size size = layers[chunk] * spec.at("saved_per_layer").get<sim::Size>() +
                           (map.last(q) ? spec.at("saved_head").get<sim::Size>() : 0);
    out.saved[static_cast<std::size_t>(seat.stage)][chunk] = {size, size};
  }
  out.activation_message = spec.at("activation_message");
  out.gradient_message = spec.at("gradient_message");
  return out;
}

double longest_idle(const sim::Timeline& t) {
  Ticks out = 0;
  for (std::size_t g = 0; g < t.stages.size(); ++g) out = std::max(out, t.idle(g));
  return ms(out);
}

bool is_time(std::string_view metric) {
  constexpr std::string_view kTimes[] = {
      "makespan", "longest_span", "gradient_ready", "gradient_ready_no_transfer", "max_idle", "max_span_idle",
      "busy",     "idle",         "span_idle",      "idle_no_transfer",           "peak_at",  "start",
      "end"};
  return std::ranges::find(kTimes, metric) != std::end(kTimes);
}

}  // namespace

Pipeline::Pipeline(const json& spec)
    : schedule_(schedule_of(spec)),
      shape_(shape_of(spec)),
      map_(schedule_->placement, shape_),
      times_(times_of(spec, shape_, schedule_->placement, map_)),
      orders_(orders_of(*schedule_, shape_)),
      timeline_(run(orders_, schedule_->placement, shape_, times_)),
      bytes_(residency(timeline_, map_, sizes_of(spec, map_))),
      sets_(residency(timeline_, map_, sim::one_for_each(map_, {1, 1}))),
      sets_until_x_(residency(timeline_, map_, sim::one_for_each(map_, {1, 0}))),
      pass_(shape_.durations.forward[0] + shape_.durations.input_gradient[0] +
            shape_.durations.weight_gradient[0]) {
  without_transfers_ = run(orders_, schedule_->placement, shape_, sim::without_transfers(times_));
  sim::Shape half = shape_;
  half.micro_batches /= 2;
  if (schedule_->refusal(half)) return;
  grows_ = longest_idle(timeline_) >
           longest_idle(run(schedule_->orders(half), schedule_->placement, half, times_));
}

std::map<std::string, double> Pipeline::totals() const {
  const Ticks span = timeline_.longest_span();
  double span_idle = 0, peak = 0, sum = 0, sets = 0;
  for (std::size_t g = 0; g < bytes_.size(); ++g) {
    span_idle = std::max(span_idle, ms(timeline_.span_idle(g)));
    peak = std::max(peak, static_cast<double>(bytes_[g].peak.total()));
    sum += static_cast<double>(bytes_[g].peak.total());
    sets = std::max(sets, static_cast<double>(sets_[g].peak_sets));
  }
  const double chunks = map_.flows() == 1 ? map_.chunks() : 1, idle = longest_idle(timeline_),
               work = ms(pass_) * shape_.micro_batches;
  const auto messages = static_cast<double>(timeline_.count(Carried::Activation));
  return {{"makespan", ms(timeline_.makespan)},
          {"longest_span", ms(span)},
          {"gradient_ready", ms(timeline_.gradient_ready)},
          {"gradient_ready_no_transfer", ms(without_transfers_.gradient_ready)},
          {"bubble_rate", 1 - work / ms(span)},
          {"messages", messages},
          {"forward_messages", messages},
          {"backward_messages", static_cast<double>(timeline_.count(Carried::Gradient))},
          {"crossings", messages / shape_.micro_batches},
          {"copies", map_.flows()},
          {"parameter_copies", map_.flows()},
          {"max_idle", idle},
          {"idle_share", idle / work},
          {"idle_grows", grows_},
          {"max_span_idle", span_idle},
          {"max_peak_bytes", peak},
          {"max_peak_mib", peak / 0x1p20},
          {"max_peak_sets", sets},
          {"max_peak_stage_sets", sets / chunks},
          {"sum_of_peaks", sum}};
}

std::map<std::string, double> Pipeline::of_stage(std::size_t g) const {
  return {{"busy", ms(timeline_.busy[g])},
          {"idle", ms(timeline_.idle(g))},
          {"idle_no_transfer", ms(without_transfers_.idle(g))},
          {"span_idle", ms(timeline_.span_idle(g))},
          {"peak_bytes", static_cast<double>(bytes_[g].peak.total())},
          {"peak_at", ms(bytes_[g].peak.at)},
          {"peak_sets", sets_[g].peak_sets},
          {"peak_sets_release_at_x", sets_until_x_[g].peak_sets}};
}

/// "F.0.3" is the forward of micro-batch 3 on stage 0, "G.0.3" the gradient that arrives there; of chunk 0.
double Pipeline::event(const json& via) const {
  const std::string name = via.at("event");
  const bool at_end = via.at("metric") == "end";
  const int stage = std::stoi(name.substr(2)), micro_batch = std::stoi(name.substr(name.rfind('.') + 1));
  if (name[0] == 'G') {
    for (const sim::Message& m : timeline_.messages)
      if (m.carried == Carried::Gradient && m.to == stage && m.micro_batch == micro_batch && m.chunk == 0)
        return ms(at_end ? m.end : m.start);
    refuse("no such message: " + name);
  }
  const std::string pass = name.substr(0, 1) + std::to_string(micro_batch) + ".0";
  for (const sim::Ran& ran : timeline_.stages.at(static_cast<std::size_t>(stage)))
    if (text(ran.slot.first) == pass) return ms(at_end ? ran.end : ran.start);
  refuse("no such pass: " + name);
}

std::pair<double, Dim> Pipeline::metric(const json& via) const {
  const std::string name = via.at("metric");
  const bool time = is_time(name), bytes = name.ends_with("_bytes") || name == "sum_of_peaks";
  const auto all = totals();
  double value = 0;
  if (via.contains("event"))
    value = event(via);
  else if (name == "fits")
    value = all.at("max_peak_bytes") <= via.at("budget").get<double>() ? 1 : 0;
  else if (via.contains("stage"))
    value = of_stage(via.at("stage")).at(name);
  else
    value = all.at(name);
  return {time ? value / 1000 : value, time ? kSeconds : bytes ? kBytes : kCount};
}

/// As the tables write it: "F0 B0" for one chunk, "F0.1" for several, "F0.d1" for two directions,
/// "(F1.0+B0.1)" for a pair.
std::string Pipeline::order(std::size_t stage, std::size_t sequence) const {
  const auto alone = [&](const sim::Pass& p) {
    std::string out = text(p);
    const std::size_t dot = out.find('.');
    if (orders_[stage].size() > 1 || map_.chunks() == 1) return out.substr(0, dot);
    return map_.flows() == 1 ? out : out.insert(dot + 1, "d");
  };
  std::string out;
  for (const sim::Slot& slot : orders_[stage][sequence]) {
    if (!out.empty()) out += ' ';
    out += slot.second ? "(" + alone(slot.first) + "+" + alone(*slot.second) + ")" : alone(slot.first);
  }
  return out;
}

json Pipeline::table_of_orders() const {
  json out;
  for (std::size_t g = 0; g < orders_.size(); ++g)
    for (std::size_t i = 0; i < orders_[g].size(); ++i) {
      const std::string name = "stage" + std::to_string(g);
      out[orders_[g].size() == 1 ? name : name + ".dir" + std::to_string(i)] = order(g, i);
    }
  return out;
}

namespace {

/// Times are whole ticks and everything else is counted, so that only the printed digits may differ.
bool same(double got, double expected) {
  return std::abs(got - expected) <= 1e-12 * std::max(1.0, std::abs(expected));
}

std::string unlike(const std::string& what, double got, const json& expected) {
  if (same(got, expected.get<double>())) return "";
  return what + " is " + std::to_string(got) + ", not " + expected.dump();
}

}  // namespace

std::string Pipeline::disagreement(const json& table) const {
  const auto all = totals();
  const std::string share =
      map_.chunks() == 1 || map_.flows() > 1 ? "1" : "1/" + std::to_string(map_.chunks());
  for (const auto& [key, expected] : table.items()) {
    std::string wrong;
    if (key == "orders") {
      const json got = table_of_orders();
      if (got != expected) wrong = "orders are " + got.dump() + ", not " + expected.dump();
    } else if (key == "set_size") {
      if (share != expected) wrong = "a set is " + share + " of a stage, not " + expected.get<std::string>();
    } else if (expected.is_array()) {
      if (expected.size() != timeline_.stages.size()) return key + " has not an entry for each stage";
      for (std::size_t g = 0; g < expected.size() && wrong.empty(); ++g) {
        const auto of = of_stage(g);
        const json row = expected[g].is_object() ? expected[g] : json{{key, expected[g]}};
        for (const auto& [name, value] : row.items())
          if (wrong.empty()) wrong = unlike(name + " of stage " + std::to_string(g), of.at(name), value);
      }
    } else {
      wrong = unlike(key, all.at(key), expected);
    }
    if (!wrong.empty()) return wrong;
  }
  return "";
}

const Pipeline& Pipelines::get(const std::string& name) {
  const auto found = made_.find(name);
  if (found != made_.end()) return found->second;
  if (!specs_->contains(name)) refuse("no such timeline: " + name);
  return made_.try_emplace(name, specs_->at(name)).first->second;
}

}  // namespace figures
