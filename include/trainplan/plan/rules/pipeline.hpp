/// Rules about pipeline stages and their schedule.
#pragma once

#include <algorithm>

#include "trainplan/plan/rules/rule.hpp"

namespace trainplan::detail {

/// The first and the last stage hold what is given, and the stages between them the same number each.
inline bool ends_leave_equal_stages(const Problem& x, const Plan& p) {
  const std::int64_t rest = x.model().layers - p.first_layers - p.last_layers;
  return x.profile().uneven_stages == UnevenStages::Counted && p.pp > 1 && p.first_layers > 0 &&
         p.last_layers > 0 && (p.pp == 2 ? rest == 0 : rest > 0 && rest % (p.pp - 2) == 0);
}

/// Stages that are equal, or that the framework makes uneven by itself, all with layers.
inline bool own_layout_divides(const Problem& x, const Plan& p) {
  const std::int64_t layers = x.model().layers;
  const UnevenStages offers = x.profile().uneven_stages;
  if (p.pp > layers) return false;
  // A stage with the embedding or the head alone would train no layer.
  if (p.layout == Layout::EmbeddingAndLoss)
    return (offers == UnevenStages::ByOne && layer_slots(layers, p.layout) / p.pp > 1) ||
           (offers == UnevenStages::Counted && (layers + 2) % p.pp == 0);
  return p.layout == Layout::FirstAndLast || layers % p.pp == 0;
}

/// Every stage gets layers under a layout that the framework offers.
inline bool layout_divides(const Problem& x, const Plan& p) {
  return own_layout_divides(x, p) && (p.layout != Layout::FirstAndLast || ends_leave_equal_stages(x, p));
}

/// Every virtual stage gets the same number of layers of its stage; left-over ones where the framework takes
/// them.
inline bool vpp_divides(const Problem& x, const Plan& p) {
  const std::int64_t layers = x.model().layers, slots = layer_slots(layers, p.layout);
  if (p.layout == Layout::FirstAndLast)
    return divides(p.vpp, p.first_layers) && divides(p.vpp, p.last_layers) &&
           divides(p.vpp, middle_layers(layers, p));
  if (x.profile().uneven_stages == UnevenStages::ByOne) return std::int64_t{p.pp} * p.vpp <= slots;
  return divides(std::int64_t{p.pp} * p.vpp, slots);
}

/// "11/12/12/11": the layers of each stage; of a deep pipeline its ends and one between.
inline std::string split_text(const ModelSpec& m, const Plan& p) {
  constexpr int kMostShown = 16;
  if (p.pp > kMostShown)
    return text(stage_layers(m, p, 0)) + "/" + text(stage_layers(m, p, 1)) + "/.../" +
           text(stage_layers(m, p, p.pp - 1));
  std::string out;
  for (int s = 0; s < p.pp; ++s) out += (s == 0 ? "" : "/") + text(stage_layers(m, p, s));
  return out;
}

/// The split that the framework makes when nobody gives the ends.
inline std::string split_without_ends(const Problem& x, const Plan& p) {
  Plan plan = p;
  plan.vpp = 1;
  choose_layout(x.model().layers, x.profile().uneven_stages, plan);
  if (!layout_divides(x, plan)) return "";
  const std::string split = " of " + split_text(x.model(), plan) + " layers";
  if (plan.layout == Layout::FirstAndLast)
    return "take first_layers " + text(plan.first_layers) + " and last_layers " + text(plan.last_layers) +
           ", stages" + split;
  return "leave first_layers and last_layers out for stages" + split;
}

/// Virtual stages of a rank that the schedule can have.
constexpr bool chunks_fit(Schedule s, std::int64_t vpp) {
  return is_vee(s) ? vpp == 2 : is_loop(s) ? vpp > 1 : vpp == 1;
}

/// Micro-batches without which a schedule waits for more than its bubble; interleaved 1F1B has a rule of its
/// own, plain 1F1B and GPipe run with any number.
constexpr std::int64_t least_micro_batches(const Plan& p) {
  switch (p.schedule) {
    case Schedule::LoopedBfs:
    case Schedule::InterleavedZb: return p.pp;
    case Schedule::ZbV: return 2 * std::int64_t{p.pp} - 1;
    case Schedule::DualPipeV: return 2 * std::int64_t{p.pp};
    case Schedule::GPipe:
    case Schedule::OneFOneB:
    case Schedule::Interleaved: break;
  }
  return 1;
}

/// "gpipe, 1f1b and interleaved".
inline std::string offered_text(const FrameworkProfile& f) {
  std::string out;
  for (std::size_t i = 0; i < kScheduleCount; ++i)
    if (f.offers(static_cast<Schedule>(i))) out.append(out.empty() ? "" : ", ").append(kScheduleNames[i]);
  if (const std::size_t last = out.rfind(", "); last != std::string::npos) out.replace(last, 2, " and ");
  return out;
}

inline constexpr std::array kPipelineRules{
    Rule{.id = "pp-divides-layers",
         .field = "pp",
         .must = "divide num_hidden_layers, or what the framework offers for uneven stages must work out",
         .keeps = own_layout_divides,
         .numbers =
             [](const Problem& x, const Plan& p) {
               const std::int64_t layers = x.model().layers, slots = layer_slots(layers, p.layout);
               const std::string all = text(layers) + " layers";
               return (slots == layers ? all : "(" + all + " + embedding + loss)") + " / pp " + text(p.pp) +
                      " leaves " + text(slots % p.pp);
             },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           switch (f.uneven_stages) {
             case UnevenStages::None: return "divide num_hidden_layers";
             case UnevenStages::ByOne:
               return "leave each stage a layer besides the embedding and the head, which count as one each";
             case UnevenStages::Counted: break;
           }
           return "divide num_hidden_layers, or num_hidden_layers + 2 with the embedding and the loss "
                  "counted, "
                  "or leave equal stages between given first and last ones";
         }},
    Rule{.id = "first-and-last-layers-fit",
         .field = "first_layers",
         .also = "pp",
         .must = "leave, with last_layers, the same number of layers to each stage between them, in a "
                 "framework that takes these numbers",
         .keeps =
             [](const Problem& x, const Plan& p) {
               return p.layout != Layout::FirstAndLast || ends_leave_equal_stages(x, p);
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return "(" + text(x.model().layers) + " layers - first " + text(p.first_layers) + " - last " +
                      text(p.last_layers) + ") / " + text(p.pp - 2) + " stages between";
             },
         .repair = split_without_ends,
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           return f.uneven_stages == UnevenStages::Counted
                      ? "leave, with last_layers, the same number of layers to each stage between"
                      : "be left out, with last_layers: the framework does not take them";
         }},
    Rule{.id = "vpp-divides-stage",
         .field = "vpp",
         .also = "pp",
         .must = "divide the layers of a stage",
         .keeps = [](const Problem& x,
                     const Plan& p) { return p.vpp == 1 || !layout_divides(x, p) || vpp_divides(x, p); },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return text(layer_slots(x.model().layers, p.layout) / p.pp) + " layers of a stage, vpp " +
                      text(p.vpp);
             },
         .applies = [](const FrameworkProfile& f) { return f.interleaves(); }},
    Rule{.id = "vpp-needs-interleaving",
         .field = "vpp",
         .also = "pp",
         .must = "be 1 unless pp is above 1 and the framework interleaves",
         .keeps =
             [](const Problem& x, const Plan& p) {
               // A schedule that is refused as such speaks for its chunks too.
               const bool refused = p.schedule != Schedule::Interleaved && !x.profile().offers(p.schedule);
               return p.vpp == 1 || refused ||
                      (p.pp >= x.profile().rules.interleaving_stages && x.profile().interleaves());
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return "vpp " + text(p.vpp) + ", pp " + text(p.pp) +
                      (x.profile().interleaves()
                           ? ", interleaving from pp " + text(x.profile().rules.interleaving_stages) + " on"
                           : ", no interleaving");
             },
         .wording = [](const FrameworkProfile& f) -> std::string_view {
           if (!f.interleaves()) return "be 1: the framework does not interleave";
           return f.rules.interleaving_stages > 2 ? "be 1 unless pp is above 2" : "be 1 unless pp is above 1";
         }},
    Rule{"schedule-matches-vpp", "schedule", "vpp",
         "fit vpp: gpipe and 1f1b have 1, zbv and dualpipev 2, the others more than 1",
         [](const Problem&, const Plan& p) { return chunks_fit(p.schedule, p.vpp); },
         [](const Problem&, const Plan& p) {
           return std::string(name_of(p.schedule)) + ", vpp " + text(p.vpp);
         }},
    Rule{.id = "schedule-is-offered",
         .field = "schedule",
         .must = "be a schedule of the framework",
         .keeps =
             [](const Problem& x, const Plan& p) {
               const bool none = p.pp == 1 && p.schedule == Schedule::OneFOneB;
               return none || x.profile().offers(p.schedule);
             },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return std::string(name_of(p.schedule)) + "; offered: " + offered_text(x.profile());
             }},
    Rule{.id = "schedule-has-micro-batches",
         .field = "schedule",
         .also = "pp",
         .must = "get the micro-batches that fill it: pp with looped-bfs and interleaved-zb, 2 pp - 1 with "
                 "zbv, 2 pp with "
                 "dualpipev",
         .keeps = [](const Problem& x,
                     const Plan& p) { return p.pp == 1 || micro_batches(x, p) >= least_micro_batches(p); },
         .numbers =
             [](const Problem& x, const Plan& p) {
               return "m " + text(micro_batches(x, p)) + ", pp " + text(p.pp) + ": " +
                      std::string(name_of(p.schedule)) + " needs " + text(least_micro_batches(p));
             },
         .repair =
             [](const Problem&, const Plan& p) {
               return "take global_batch " + text(least_micro_batches(p) * p.dp * p.micro_batch);
             },
         .applies =
             [](const FrameworkProfile& f) {
               return (f.schedules & (bit(Schedule::LoopedBfs) | bit(Schedule::InterleavedZb) |
                                      bit(Schedule::ZbV) | bit(Schedule::DualPipeV))) != 0;
             }},
    Rule{
        .id = "split-needs-eager",
        .field = "schedule",
        .must = "not split backward passes of compiled stages",
        .keeps = [](const Problem& x,
                    const Plan& p) { return p.pp == 1 || !splits_backward(p.schedule) || !x.recipe.compile; },
        .numbers =
            [](const Problem&, const Plan& p) {
              return std::string(name_of(p.schedule)) + " makes gradients of weights apart, compile true";
            },
        .repair = [](const Problem&, const Plan&) { return std::string("take compile false"); },
        .applies = [](const FrameworkProfile& f) { return f.rules.split_needs_eager; }},
    Rule{.id = "vee-without-given-ends",
         .field = "first_layers",
         .also = "schedule",
         .must = "be left out, with last_layers, where both ends of the model lie on stage 0",
         .keeps = [](const Problem&,
                     const Plan& p) { return !is_vee(p.schedule) || p.layout != Layout::FirstAndLast; },
         .numbers = [](const Problem&, const Plan& p) { return std::string(name_of(p.schedule)); },
         .applies =
             [](const FrameworkProfile& f) {
               return f.uneven_stages == UnevenStages::Counted &&
                      (f.schedules & (bit(Schedule::ZbV) | bit(Schedule::DualPipeV))) != 0;
             }},
};

}  // namespace trainplan::detail
