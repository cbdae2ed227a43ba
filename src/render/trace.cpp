#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_writer.hpp"
#include "slot_words.hpp"
#include "trainplan/render/pictures.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

using sim::Carried;
using sim::Message;
using sim::Ran;
using sim::Ticks;

constexpr int kComputeTrack = 0;
constexpr std::array<std::string_view, sim::kKeptClasses> kKeptNames{"saved", "for_weights", "send_buffers",
                                                                     "receive_buffers"};

/// Writes trace events. Moments are rounded to nanoseconds first and subtracted then, so that two slots that
/// meet in the timeline meet in the trace.
class Trace {
  const PipelinePicture& picture_;
  JsonWriter json_;

  std::int64_t nanoseconds(Ticks at) const { return std::llround(1e9 * picture_.seconds(at)); }
  static double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

  void event(std::string_view name, std::string_view phase, int process, int thread) {
    json_.object("", true);
    json_.text("name", name);
    json_.text("ph", phase);
    json_.number("pid", process);
    json_.number("tid", thread);
  }
  void at(Ticks moment) { json_.number("ts", microseconds(nanoseconds(moment))); }
  void lasting(Ticks from, Ticks to) {
    at(from);
    json_.number("dur", microseconds(nanoseconds(to) - nanoseconds(from)));
  }

 public:
  explicit Trace(const PipelinePicture& picture) : picture_(picture) {
    json_.object("");
    json_.text("displayTimeUnit", "ms");
    json_.object("otherData");
    json_.text("schedule", printable(picture.schedule));
    json_.text("title", printable(picture.title));
    if (!picture.subject.empty()) json_.text("subject", printable(picture.subject));
    json_.text("times", "microseconds, rounded to whole nanoseconds");
    json_.text("memory", picture.sized() ? "bytes" : "activation sets of a whole stage");
    json_.end();
    json_.array("traceEvents");
  }

  void name(std::string_view what, int process, int thread, std::string_view text) {
    event(what, "M", process, thread);
    json_.object("args");
    json_.text("name", text);
    json_.end();
    json_.end();
  }
  void sort_index(int process, int index) {
    event("process_sort_index", "M", process, 0);
    json_.object("args");
    json_.number("sort_index", index);
    json_.end();
    json_.end();
  }

  /// One pass gives its members, two give lists of them.
  void slot(int process, const Ran& ran) {
    event(name_of(ran.slot), "X", process, kComputeTrack);
    json_.text("cat", ran.slot.second ? "pair" : words_of(ran.slot.first.work));
    lasting(ran.start, ran.end);
    json_.object("args");
    const auto member = [&](std::string_view key, auto value_of) {
      if (!ran.slot.second) return json_.number(key, value_of(ran.slot.first));
      json_.array(key, true);
      json_.number("", value_of(ran.slot.first));
      json_.number("", value_of(*ran.slot.second));
      json_.end();
    };
    member("micro_batch", [](const sim::Pass& pass) { return pass.micro_batch; });
    member(picture_.map.flows() == 2 ? "direction" : "chunk",
           [](const sim::Pass& pass) { return pass.chunk; });
    json_.end();
    json_.end();
  }

  void update(int process) {
    event("update", "X", process, kComputeTrack);
    json_.text("cat", "update");
    lasting(picture_.timeline.gradient_ready, picture_.timeline.makespan);
    json_.end();
  }

  void message(int process, int thread, const Message& m) {
    const bool forward = m.carried == Carried::Activation;
    event(fmt::format("{}{}.{}", forward ? "A" : "G", m.micro_batch, m.chunk), "X", process, thread);
    json_.text("cat", forward ? "activation" : "gradient");
    lasting(m.start, m.end);
    json_.object("args");
    json_.number("micro_batch", m.micro_batch);
    json_.number(picture_.map.flows() == 2 ? "direction" : "chunk", m.chunk);
    json_.number("from", m.from);
    json_.number("to", m.to);
    json_.end();
    json_.end();
  }

  /// An end of the arrow of a message: "s" in the slot that made it, "f" in the one that takes it.
  void arrow(std::string_view phase, std::size_t id, Carried carried, int process, Ticks moment) {
    event(carried == Carried::Activation ? "activation" : "gradient", phase, process, kComputeTrack);
    json_.text("cat", "message");
    json_.number("id", static_cast<double>(id));
    at(moment);
    if (phase == "f") json_.text("bp", "e");
    json_.end();
  }

  void memory(int process, Ticks moment, const sim::ByClass& alive) {
    event("memory", "C", process, 0);
    at(moment);
    json_.object("args");
    for (std::size_t i = 0; i < alive.size(); ++i)
      json_.number(kKeptNames[i], picture_.memory_scale * static_cast<double>(alive[i]));
    json_.end();
    json_.end();
  }

  std::string take() {
    json_.end();
    json_.end();
    return json_.take();
  }
};

/// Arrows that begin or end in the slots of one stage.
struct Arrow {
  Ticks at = 0;
  bool begins = false;
  std::size_t id = 0;
  Carried carried = Carried::Activation;
};

/// When the pass of each virtual stage and micro-batch began whose result is sent on.
struct Starts {
  std::vector<Ticks> forward, gradient;

  explicit Starts(const PipelinePicture& p) : forward(p.map.size()), gradient(p.map.size()) {
    for (std::size_t g = 0; g < p.timeline.stages.size(); ++g)
      for (const Ran& ran : p.timeline.stages[g]) {
        note(p.map, static_cast<int>(g), ran.slot.first, ran.start);
        if (ran.slot.second) note(p.map, static_cast<int>(g), *ran.slot.second, ran.start);
      }
  }

 private:
  void note(const sim::Map& map, int stage, const sim::Pass& pass, Ticks start) {
    const std::size_t at = map.index(map.virtual_stage(stage, pass.chunk), pass.micro_batch);
    switch (pass.work) {
      case sim::Work::Forward: forward[at] = start; break;
      case sim::Work::Backward:
      case sim::Work::InputGradient: gradient[at] = start; break;
      case sim::Work::WeightGradient: break;
    }
  }
};

/// An arrow is bound to the slot that runs at its moment, so it leaves at the start of the slot that made the
/// message; viewers draw it from the end of that slot.
std::vector<std::vector<Arrow>> arrows_of(const PipelinePicture& p) {
  std::vector<std::vector<Arrow>> out(p.timeline.stages.size());
  const Starts starts(p);
  for (std::size_t id = 0; id < p.timeline.messages.size(); ++id) {
    const Message& m = p.timeline.messages[id];
    const int to = p.map.virtual_stage(m.to, m.chunk);
    const bool forward = m.carried == Carried::Activation;
    const std::size_t from = p.map.index(forward ? to - 1 : to + 1, m.micro_batch);
    const Ticks made = (forward ? starts.forward : starts.gradient)[from];
    out[static_cast<std::size_t>(m.from)].push_back({made, true, id, m.carried});
    out[static_cast<std::size_t>(m.to)].push_back({m.taken, false, id, m.carried});
  }
  for (auto& of_stage : out) std::ranges::stable_sort(of_stage, {}, &Arrow::at);
  return out;
}

void stage_events(Trace& trace, const PipelinePicture& p, std::size_t stage,
                  const std::vector<Arrow>& arrows) {
  const int process = static_cast<int>(stage);
  std::size_t next = 0;
  for (const Ran& ran : p.timeline.stages[stage]) {
    trace.slot(process, ran);
    for (; next < arrows.size() && arrows[next].at < std::max(ran.end, ran.start + 1); ++next)
      trace.arrow(arrows[next].begins ? "s" : "f", arrows[next].id, arrows[next].carried, process,
                  arrows[next].at);
  }
  if (p.update() > 0) trace.update(process);
  if (stage >= p.memory.size()) return;
  if (const auto& steps = p.memory[stage].steps; steps.empty() || steps.front().at > 0)
    trace.memory(process, 0, {});
  for (const sim::Step& step : p.memory[stage].steps) trace.memory(process, step.at, step.alive);
}

/// The messages of each directed link, in the order in which it carried them.
using Links = std::map<std::pair<int, int>, std::vector<Message>>;
Links links_of(const sim::Timeline& timeline) {
  Links out;
  for (const Message& m : timeline.messages) out[{m.from, m.to}].push_back(m);
  for (auto& [link, messages] : out) std::ranges::stable_sort(messages, {}, &Message::start);
  return out;
}

}  // namespace

std::string render_trace(const PipelinePicture& p) {
  Trace trace(p);
  const Links links = links_of(p.timeline);
  for (int g = 0; g < p.stages(); ++g) {
    trace.name("process_name", g, kComputeTrack, fmt::format("stage {}", g));
    trace.sort_index(g, g);
    trace.name("thread_name", g, kComputeTrack, "compute");
  }
  const int link_process = p.stages();
  if (!links.empty()) {
    trace.name("process_name", link_process, 0, "links");
    trace.sort_index(link_process, link_process);
  }
  int thread = 0;
  for (const auto& [link, messages] : links)
    trace.name("thread_name", link_process, thread++, fmt::format("stage {} to {}", link.first, link.second));

  const auto arrows = arrows_of(p);
  for (std::size_t g = 0; g < p.timeline.stages.size(); ++g) stage_events(trace, p, g, arrows[g]);
  thread = 0;
  for (const auto& [link, messages] : links) {
    for (const Message& m : messages) trace.message(link_process, thread, m);
    ++thread;
  }
  return trace.take();
}

}  // namespace trainplan
