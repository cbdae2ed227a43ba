/// What the papers say of a schedule: bubble, sets in flight and messages, for equal stages and no transfers.
#pragma once

#include "trainplan/base/quantity.hpp"
#include "trainplan/trace/chapter.hpp"

namespace trainplan {

namespace detail {

inline constexpr Arg kStages{"p", "p", "stages", 1}, kChunks{"v", "v", "virtual stages per rank", 1},
    kMicroBatches{"m", "m", "micro-batches of a step", 1}, kStage{"stage", "i", "stage, from 0"},
    kForward{"forward", "T_F", "forward pass of a micro-batch on a stage"},
    kInputGradient{"input_gradient", "T_B", "gradients of the inputs of a stage"},
    kWeightGradient{"weight_gradient", "T_W", "gradients of the weights of a stage"};

}  // namespace detail

inline constexpr Formula bubble_time{
    "bubble_time", "pipeline bubble, GPipe, 1F1B, interleaved and breadth-first",
    Source{"megatron-2021", "section 2.2: (p - 1)(t_f + t_b) / v; breadth-first: arXiv:2211.05953"},
    std::array{detail::kStages, detail::kChunks, detail::kForward, detail::kInputGradient,
               detail::kWeightGradient},
    []<class N>(Count<N> p, Count<N> v, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return (p - 1.0) * (f + x + w) / v;
    }};

inline constexpr Formula bubble_time_zb_h1{
    "bubble_time_zb_h1", "span bubble of ZB-H1; with v chunks, of interleaved with weight gradients put off",
    Source{"zero-bubble-2024", "table 2; ZB-1p is no longer; over v as for interleaved 1F1B"},
    std::array{detail::kStages, detail::kChunks, detail::kForward, detail::kInputGradient,
               detail::kWeightGradient},
    []<class N>(Count<N> p, Count<N> v, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return (p - 1.0) * (f + x - w) / v;
    }};

inline constexpr Formula bubble_time_zb_h2{
    "bubble_time_zb_h2", "span bubble of ZB-H2; none, as in a zero-bubble V, when the three times are equal",
    Source{"zero-bubble-2024", "table 2; the V: section 6"},
    std::array{detail::kStages, detail::kForward, detail::kInputGradient, detail::kWeightGradient},
    []<class N>(Count<N> p, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return (p - 1.0) * (f + x - 2.0 * w);
    }};

inline constexpr Formula bubble_time_v_half{
    "bubble_time_v_half", "bubble of V-Half at most",
    Source{"controllable-memory-2024", "table of schedules: half of 1F1B"},
    std::array{detail::kStages, detail::kForward, detail::kInputGradient, detail::kWeightGradient},
    []<class N>(Count<N> p, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return (p - 1.0) * (f + x + w) / 2.0;
    }};

inline constexpr Formula bubble_time_v_min{
    "bubble_time_v_min", "bubble of V-Min at most",
    Source{"controllable-memory-2024", "table of schedules: two thirds of 1F1B"},
    std::array{detail::kStages, detail::kForward, detail::kInputGradient, detail::kWeightGradient},
    []<class N>(Count<N> p, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return 2.0 * (p - 1.0) * (f + x + w) / 3.0;
    }};

inline constexpr Formula bubble_time_dualpipe{
    "bubble_time_dualpipe", "bubble of DualPipe, and of DualPipeV with twice as many positions as stages",
    Source{"deepseek-v3-2024", "table 2: (PP/2 - 1)(F&B + B - 3W)"},
    std::array{Arg{"positions", "PP", "positions of one copy of the model in the pipeline", 2},
               Arg{"pair", "T_FB", "a forward and a backward pass in one slot"},
               Arg{"backward", "T_B", "full backward pass at one position"},
               Arg{"weight_gradient", "T_W", "its gradients of weights"}},
    []<class N>(Count<N> positions, Seconds<N> pair, Seconds<N> backward, Seconds<N> w) {
      return (positions / 2.0 - 1.0) * (pair + backward - 3.0 * w);
    }};

inline constexpr Formula fill_drain_time{
    "fill_drain_time", "step of a pipeline that fills and drains, with transfers and update",
    Source{"gpipe-2019", "(m + p - 1) passes; one transfer for each boundary and direction is on the way"},
    std::array{detail::kStages, detail::kMicroBatches, Arg{"forward", "T_F", "forward pass on a stage"},
               Arg{"backward", "T_B", "backward pass on a stage"},
               Arg{"transfer", "T_c", "message between two stages"},
               Arg{"update", "T_u", "optimizer update"}},
    []<class N>(Count<N> p, Count<N> m, Seconds<N> f, Seconds<N> b, Seconds<N> transfer, Seconds<N> update) {
      return (m + p - 1.0) * (f + b) + 2.0 * (p - 1.0) * transfer + update;
    }};

inline constexpr Formula few_micro_batches_time{
    "few_micro_batches_time", "span of a split schedule with no more micro-batches than stages",
    Source{"zero-bubble-2024", "appendix H: (m + p - 1)(T_F + T_B) + T_W"},
    std::array{detail::kStages, detail::kMicroBatches, detail::kForward, detail::kInputGradient,
               detail::kWeightGradient},
    []<class N>(Count<N> p, Count<N> m, Seconds<N> f, Seconds<N> x, Seconds<N> w) {
      return (m + p - 1.0) * (f + x) + w;
    }};

inline constexpr Formula bubble_rate{
    "bubble_rate",
    "share of the longest span of a stage in which it does nothing",
    Source{"zero-bubble-2024", "table 5: (cost - m (T_F + T_B + T_W)) / cost"},
    std::array{Arg{"span", "S", "longest time from the first to the last slot of a stage", 1e-12},
               detail::kMicroBatches, Arg{"pass", "T", "passes of one micro-batch on a stage"}},
    []<class N>(Seconds<N> span, Count<N> m, Seconds<N> pass) { return (span - m * pass) / span; },
    Unit::Share};

inline constexpr Formula pipeline_utilisation{
    "pipeline_utilisation",
    "share of its time that a stage of GPipe or 1F1B works",
    Source{"gpipe-2019", "section 2.3: 1 - (p - 1)/(m + p - 1)"},
    std::array{detail::kStages, detail::kMicroBatches},
    []<class N>(Count<N> p, Count<N> m) { return m / (m + p - 1.0); },
    Unit::Share};

inline constexpr Formula in_flight_groups{
    "in_flight_groups", "micro-batches in flight on the first stage, interleaved in groups",
    Source{"korthikanti-2022", "section 4.2.3 for groups of p; warm-up of (v - 1) N for groups of N"},
    std::array{detail::kStages, detail::kChunks, Arg{"group", "N", "micro-batches of a group", 1},
               Arg{"lead", "e", "further forwards of the warm-up"}},
    []<class N>(Count<N> p, Count<N> v, Count<N> group, Count<N> lead) {
      return (2.0 * (p - 1.0) + (v - 1.0) * group + 1.0 + lead) / v;
    }};

inline constexpr Formula peak_zb_h1{
    "peak_zb_h1", "activations of a stage with ZB-H1, less once the gradients of inputs are done",
    Source{"zero-bubble-2024", "section 2.3"},
    std::array{detail::kStages, detail::kStage, Arg{"saved", "M_B", "saved by a forward pass"},
               Arg{"for_weights", "M_W", "left of it for the gradients of weights"}},
    []<class N>(Count<N> p, Count<N> i, Bytes<N> b, Bytes<N> w) { return (p - i) * b + i * w; }};

inline constexpr Formula peak_zb_h2{
    "peak_zb_h2", "activations of a stage with ZB-H2, less once the gradients of inputs are done",
    Source{"zero-bubble-2024", "section 2.3; 2p - 1 sets on the first stage"},
    std::array{detail::kStages, detail::kStage, Arg{"saved", "M_B", "saved by a forward pass"},
               Arg{"for_weights", "M_W", "left of it for the gradients of weights"}},
    []<class N>(Count<N> p, Count<N> i, Bytes<N> b, Bytes<N> w) {
      return (2.0 * (p - i) - 1.0) * b + 2.0 * i * w;
    }};

inline constexpr Formula in_flight_v_zb{
    "in_flight_v_zb", "micro-batches in flight on every stage of a zero-bubble V",
    Source{"zero-bubble-2024", "section 6: that of 1F1B"}, std::array{detail::kStages},
    []<class N>(Count<N> p) { return 1.0 * p; }};

inline constexpr Formula in_flight_v_half{
    "in_flight_v_half", "micro-batches in flight with V-Half, at most on any stage",
    Source{"controllable-memory-2024", "table 1: half of 1F1B and a little"}, std::array{detail::kStages},
    []<class N>(Count<N> p) { return floor((p + 2.0) / 2.0); }};

inline constexpr Formula in_flight_v_min{
    "in_flight_v_min", "micro-batches in flight with V-Min, at most on any stage",
    Source{"controllable-memory-2024", "table 1: a third of 1F1B and a little"}, std::array{detail::kStages},
    []<class N>(Count<N> p) { return floor((p + 4.0) / 3.0); }};

inline constexpr Formula in_flight_dualpipe{
    "in_flight_dualpipe", "chunks in flight on every stage with DualPipe or DualPipeV",
    Source{"deepseek-v3-2024", "table 2: PP + 1"},
    std::array{Arg{"positions", "PP", "positions of one copy of the model in the pipeline", 2}},
    []<class N>(Count<N> positions) { return positions + 1.0; }};

inline constexpr Formula pipeline_messages{
    "pipeline_messages", "messages of a step in one direction, stages in a row or in loops",
    Source{"megatron-2021", "section 2.2: v times as many when interleaved"},
    std::array{detail::kStages, detail::kChunks, detail::kMicroBatches},
    []<class N>(Count<N> p, Count<N> v, Count<N> m) { return (p * v - 1.0) * m; }};

inline constexpr Formula pipeline_messages_v{
    "pipeline_messages_v", "messages of a step in one direction, stages in a V",
    Source{"zero-bubble-2024", "section 6: the turn is on one stage"},
    std::array{detail::kStages, detail::kMicroBatches},
    []<class N>(Count<N> p, Count<N> m) { return 2.0 * (p - 1.0) * m; }};

using ScheduleBoundFormulas =
    Chapter<bubble_time, bubble_time_zb_h1, bubble_time_zb_h2, bubble_time_v_half, bubble_time_v_min,
            bubble_time_dualpipe, fill_drain_time, few_micro_batches_time, bubble_rate, pipeline_utilisation,
            in_flight_groups, peak_zb_h1, peak_zb_h2, in_flight_v_zb, in_flight_v_half, in_flight_v_min,
            in_flight_dualpipe, pipeline_messages, pipeline_messages_v>;

}  // namespace trainplan
