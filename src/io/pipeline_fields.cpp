#include "trainplan/io/pipeline_fields.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "field_text.hpp"
#include "text.hpp"
#include "trainplan/base/comma_parts.hpp"
#include "trainplan/io/units.hpp"
#include "trainplan/sim/schedule_names.hpp"
#include "trainplan/spec/validator.hpp"

namespace trainplan {
namespace {

constexpr double kLongestPass = 1000, kMostBytes = 1e15;
constexpr std::string_view kInteger = "integer", kTimes = "time, or one for each stage", kTime = "time",
                           kSize = "bytes", kShare = "share";

template <auto Member, std::int64_t Lo, std::int64_t Hi>
bool set_whole(PipelineSpec& spec, std::string_view text, Issue& out) {
  const Measure m = parse_quantity(text, kCount);
  const bool whole = m && m.word == UnitWord::None && m.value == std::floor(m.value);
  if (!whole || m.value < static_cast<double>(Lo) || m.value > static_cast<double>(Hi)) {
    const auto near = static_cast<std::int64_t>(
        m ? std::clamp(std::floor(m.value), static_cast<double>(Lo), static_cast<double>(Hi))
          : static_cast<double>(Lo));
    return refuse(out, whole ? "range" : "integer",
                  "be an integer from " + std::to_string(Lo) + " to " + std::to_string(Hi),
                  "try " + std::to_string(near));
  }
  spec.*Member = static_cast<std::int64_t>(m.value);
  return true;
}

/// Seconds; a bare 0 needs no unit.
std::optional<double> time(std::string_view text, const std::string& example, Issue& out) {
  const Measure zero = parse_quantity(text, kCount);
  if (zero && zero.value == 0) return 0.0;
  const Measure m = parse_quantity(text, kSeconds);
  if (!m) {
    refuse(out, "quantity", "be a time; this " + m.error, "try " + example);
    return std::nullopt;
  }
  if (m.value >= 0 && m.value <= kLongestPass) return m.value;
  refuse(out, "range", "be from 0 to " + shown(kLongestPass) + " s", "try " + example);
  return std::nullopt;
}

template <auto Member>
bool set_time(PipelineSpec& spec, std::string_view text, Issue& out) {
  const auto seconds = time(text, "1ms", out);
  if (seconds) spec.*Member = *seconds;
  return seconds.has_value();
}

/// "10ms", or one for each stage: "10ms,12ms,12ms,15ms". A pass takes time.
template <auto Member>
bool set_times(PipelineSpec& spec, std::string_view text, Issue& out) {
  std::vector<double> times;
  for (const std::string_view part : comma_parts(text)) {
    const auto seconds = time(part, "10ms", out);
    if (!seconds) return false;
    if (*seconds < 1e-12) return refuse(out, "range", "be at least a picosecond", "try 10ms");
    times.push_back(*seconds);
  }
  if (times.size() > static_cast<std::size_t>(kMaxPipelineStages))
    return refuse(out, "range", "be at most " + std::to_string(kMaxPipelineStages) + " times", "try 10ms");
  spec.*Member = std::move(times);
  return true;
}

/// Bytes; a bare number is bytes too.
template <auto Member>
bool set_size(PipelineSpec& spec, std::string_view text, Issue& out) {
  Measure m = parse_quantity(text, kBytes);
  if (const Measure bare = parse_quantity(text, kCount); !m && bare && bare.word == UnitWord::None) m = bare;
  if (!m) return refuse(out, "quantity", "be a size in bytes; this " + m.error, "try 26768384 or 25.5MiB");
  if (m.value < 0 || m.value > kMostBytes)
    return refuse(out, "range", "be from 0 to " + shown(kMostBytes) + " bytes", "try 26768384 or 25.5MiB");
  spec.*Member = m.value;
  return true;
}

template <auto Member>
bool set_share(PipelineSpec& spec, std::string_view text, Issue& out) {
  const Measure m = parse_quantity(text, kCount);
  const bool share = m && (m.word == UnitWord::None || m.word == UnitWord::Percent);
  if (!share || m.value < 0 || m.value > 1)
    return refuse(out, share ? "range" : "quantity", "be a share from 0 to 100 %", "try 50%");
  spec.*Member = m.value;
  return true;
}

bool set_sets(PipelineSpec& spec, std::string_view text, Issue& out) {
  const Measure m = parse_quantity(text, kCount);
  if (!m || m.word != UnitWord::None || m.value <= 0 || m.value > 1e6)
    return refuse(out, "range", "be a number of activation sets of a stage, above 0", "try 4");
  spec.memory_sets = m.value;
  return true;
}

bool set_schedule(PipelineSpec& spec, std::string_view text, Issue& out) {
  if (lower(text) == "all") {
    spec.schedule = "all";
    return true;
  }
  if (const sim::Schedule* found = sim::schedule_named(text)) {
    spec.schedule = found->id;
    return true;
  }
  std::vector<std::string_view> names{"all"};
  for (const sim::Schedule& s : sim::schedules()) names.push_back(s.id);
  for (const sim::ScheduleAlias& a : sim::schedule_aliases()) names.push_back(a.name);
  const std::string_view near = nearest(text, names);
  return refuse(
      out, "choice", "be a schedule, or all",
      near.empty() ? "see: trainplan list schedules" : "did you mean \"" + std::string(near) + "\"?");
}

constexpr PipelineField kFields[] = {
    {"stages", kInteger, "stages of the pipeline, p", "4", "required",
     set_whole<&PipelineSpec::stages, 2, kMaxPipelineStages>},
    {"micro_batches", kInteger, "micro-batches of a step, m", "8", "required",
     set_whole<&PipelineSpec::micro_batches, 1, kMaxPipelineMicroBatches>},
    {"forward", kTimes, "forward pass of a micro-batch on a full stage", "10ms", "required",
     set_times<&PipelineSpec::forward>},
    {"backward", kTimes, "backward pass, both gradients", "20ms", "the sum of both gradients",
     set_times<&PipelineSpec::backward>},
    {"input_gradient", kTimes, "gradients of the inputs, in place of --backward", "10ms",
     "the rest of the backward pass", set_times<&PipelineSpec::input_gradient>},
    {"weight_gradient", kTimes, "gradients of the weights, in place of --backward", "10ms",
     "a share of the backward pass", set_times<&PipelineSpec::weight_gradient>},
    {"weight_gradient_share", kShare, "share of the backward pass that the gradients of the weights take",
     "50%", "50%", set_share<&PipelineSpec::weight_gradient_share>},
    {"pair", kTime, "a forward and a backward pass in one slot (dualpipe, dualpipev)", "25ms", "their sum",
     set_time<&PipelineSpec::pair>},
    {"transfer", kTime, "message between neighbouring stages", "1ms", "0", set_time<&PipelineSpec::transfer>},
    {"update", kTime, "optimizer update, once all gradients are there", "1ms", "0",
     set_time<&PipelineSpec::update>},
    {"chunks", kInteger, "chunks of a stage in loops (interleaved, looped_bfs, interleaved_zb), v", "2", "2",
     set_whole<&PipelineSpec::chunks, 1, kMaxPipelineChunks>},
    {"group", kInteger, "micro-batches that visit a chunk before the next chunk (interleaved), N", "4",
     "the stages", set_whole<&PipelineSpec::group, 1, kMaxPipelineMicroBatches>},
    {"lead", kInteger, "further forwards of the warm-up (interleaved; 1 where experts' exchanges overlap)",
     "1", "0", set_whole<&PipelineSpec::lead, 0, 1>},
    {"layers", kInteger, "layers of the model, a multiple of the stages", "36", "chunks of equal size",
     set_whole<&PipelineSpec::layers, 1, kMaxPipelineLayers>},
    {"saved_bytes_per_layer", kSize, "saved for the backward pass by one layer and micro-batch", "26768384",
     "memory in sets only", set_size<&PipelineSpec::saved_per_layer>},
    {"saved_bytes_head", kSize, "saved beside the last layer: final norm and logits", "79888896", "0",
     set_size<&PipelineSpec::saved_head>},
    {"kept_for_weights", kShare, "share of it that stays until the gradients of the weights are done", "50%",
     "100%", set_share<&PipelineSpec::kept_for_weights>},
    {"activation_message", kSize, "bytes of an activation between stages", "1048576", "0",
     set_size<&PipelineSpec::activation_message>},
    {"gradient_message", kSize, "bytes of a gradient between stages", "2097152", "0",
     set_size<&PipelineSpec::gradient_message>},
    {"memory_budget", kSize, "what a stage may keep of activations and messages", "1GB", "no limit",
     set_size<&PipelineSpec::memory_budget>},
    {"memory_sets", "number", "sets of a stage that orders with a limit may keep (zb_auto, v_search)", "4",
     "as the budget allows, else the stages", set_sets},
    {"schedule", "name or all", "the schedule", "zb_h1", "all", set_schedule},
};

}  // namespace

std::span<const PipelineField> pipeline_fields() { return kFields; }

const PipelineField* find_pipeline_field(std::string_view key) {
  const auto found = std::ranges::find(kFields, key, &PipelineField::key);
  return found == std::end(kFields) ? nullptr : &*found;
}

bool set_pipeline_field(PipelineSpec& spec, const PipelineField& field, std::string_view text, Issues& issues,
                        Issue where) {
  where.got = clipped(text);
  if (field.set(spec, text, where)) return true;
  issues.add(std::move(where));
  return false;
}

}  // namespace trainplan
