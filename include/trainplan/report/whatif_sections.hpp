/// Sections of `plan` about what a change would buy: variants of the plan, and 1 % of each input.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "trainplan/derive/elasticity.hpp"
#include "trainplan/derive/whatif.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

namespace detail {

/// Memory and step beside the plan's; of a change that breaks a rule only that.
inline std::vector<Cell> whatif_row(const WhatIf& w, const Trial& plan) {
  if (!w.trial) return {w.name, {}, {}, {}, {}, {}, std::string("illegal")};
  const auto &then = w.trial->cost, &now = plan.cost;
  return {w.name,
          Value{w.trial->device(), Unit::Memory},
          Value{w.trial->device() - plan.device(), Unit::Memory},
          Value{then.step.step.num(), Unit::StepTime},
          Value{(then.step.step - now.step.step).num(), Unit::StepTime},
          Value{then.step.mfu.num(), Unit::Share},
          verdict_text(w.trial->verdict())};
}

inline Table whatif_table(const WhatIfs& all, const Trial& plan, bool detail) {
  Table table{"variants",
              "The plan with one thing changed, and the difference that makes",
              {{"change", "change"},
               {"device", "device total"},
               {"device_difference", "difference"},
               {"step", "step"},
               {"step_difference", "difference"},
               {"mfu", "MFU"},
               {"verdict", "verdict"}},
              {}};
  if (detail) table.columns.push_back({"id", "id"});
  for (const WhatIf& w : all.rows) {
    if (!detail && w.minor) continue;
    auto row = whatif_row(w, plan);
    if (detail) row.emplace_back(Code{w.key});
    table.rows.push_back(std::move(row));
  }
  return table;
}

inline Sentence product_sentence(const ProductCut& p) {
  const auto share = [](Count<> x) { return Value{x.num(), Unit::Share}; };
  return {std::string(p.format) + ": matrix products take ",
          share(p.of_step),
          " of the step (",
          share(p.of_kernels),
          " of its kernels), in " + std::string(p.format) + " ",
          share(p.cut),
          " less; share x cut = ",
          share(p.step_cut),
          " of the step; worked out in full ",
          share(p.evaluated)};
}

/// The fewest layers and the most.
inline Sentence recompute_sentence(const std::vector<RecomputeGain>& gains) {
  const auto share = [](Count<> x) { return Value{x.num(), Unit::Share}; };
  const auto count = [](Count<> x) { return Value{x.num(), Unit::Count}; };
  const RecomputeGain &few = gains.front(), &many = gains.back();
  Sentence s{"recompute: each layer frees ",
             Value{few.saved_of_layer.num(), Unit::Memory},
             "; ",
             count(few.layers),
             " of ",
             count(few.all),
             " layers of a stage ",
             share(few.share),
             " of the activations for ",
             share(few.flops),
             " more FLOPs"};
  if (many.layers == few.layers) return s;
  s.push_back(", ");
  s.push_back(count(many.layers));
  s.push_back(" of them ");
  s.push_back(share(many.share));
  s.push_back(" for ");
  s.push_back(share(many.flops));
  return s;
}

inline Facts product_facts(const ProductCut& p) {
  const auto fact = [](const char* key, const char* label, Count<> x, std::string note, const char* id) {
    return Fact{key, label, Value{x.num(), Unit::Share}, std::move(note), id};
  };
  return {"products",
          {{"format", "narrower format", std::string(p.format), "", ""},
           fact("of_kernels", "matrix products, share of the kernels", p.of_kernels, "",
                "step.products_of_kernels"),
           fact("of_step", "matrix products, share of the step", p.of_step, "", "step.products_of_step"),
           fact("cut", "cut of their time", p.cut, "", ""),
           fact("step_cut", "cut of the step", p.step_cut, "share x cut", ""),
           fact("step_cut_evaluated", "cut of the step", p.evaluated,
                "worked out in full: with casts, bubble, recompute and what traffic hides behind", "")}};
}

inline Table recompute_table(const std::vector<RecomputeGain>& gains) {
  Table table{
      "recompute",
      "Recompute against none, on the fullest GPU; pro rata: k of L layers have k / L of what all have",
      {{"layers", "layers"},
       {"of", "of"},
       {"activations", "activations freed"},
       {"activations_of_layer", "by each layer"},
       {"activations_share", "share"},
       {"activations_pro_rata", "pro rata"},
       {"flops_share", "FLOPs added"},
       {"flops_pro_rata", "pro rata"},
       {"step", "step"}},
      {}};
  const auto count = [](Count<> x) { return Value{x.num(), Unit::Count}; };
  const auto share = [](Count<> x) { return Value{x.num(), Unit::Share}; };
  for (const RecomputeGain& g : gains)
    table.rows.push_back({count(g.layers), count(g.all), Value{g.saved.num(), Unit::Memory},
                          Value{g.saved_of_layer.num(), Unit::Memory}, share(g.share),
                          share(g.share_pro_rata), share(g.flops), share(g.flops_pro_rata),
                          Value{g.step.num(), Unit::StepTime}});
  return table;
}

}  // namespace detail

/// detail: all variants, and the numbers behind the sentences.
inline Section whatif_section(const Trial& plan, const WhatIfs& all, bool detail) {
  Section s{"what_if", "What if", {}};
  s.blocks.push_back(detail::whatif_table(all, plan, detail));
  Notes notes{"notes", {}};
  if (all.products) notes.sentences.push_back(detail::product_sentence(*all.products));
  if (!all.recompute.empty()) notes.sentences.push_back(detail::recompute_sentence(all.recompute));
  const bool uneven = std::ranges::any_of(
      all.rows, [&](const WhatIf& w) { return w.key == "layers" && (detail || !w.minor); });
  if (uneven)
    notes.sentences.push_back({"uneven stages, since embedding and loss weigh on the ends: " + all.layout});
  for (const WhatIf& w : all.rows)
    if (!w.trial && (detail || !w.minor))
      notes.sentences.push_back({w.name + " breaks " + w.broken + ": " + w.refusal});
  if (!notes.sentences.empty()) s.blocks.push_back(std::move(notes));
  if (detail && all.products) s.blocks.push_back(detail::product_facts(*all.products));
  if (detail && !all.recompute.empty()) s.blocks.push_back(detail::recompute_table(all.recompute));
  return s;
}

namespace detail {

inline constexpr std::size_t kFewInputs = 8;

inline bool moves_step(const Elasticity& e) { return std::abs(e.step) > kNoEffect; }
inline bool moves_room(const Elasticity& e) { return std::abs(e.room) > kNoEffect; }

inline std::string input_name(const Elasticity& e) {
  return std::string(e.name) + (e.one_sided ? " (one side only)" : "");
}

inline Table input_table(std::string key, std::string title, Column effect) {
  return {std::move(key),
          std::move(title),
          {{"input", "input"}, {"value", "value"}, std::move(effect), {"origin", "from"}},
          {}};
}

/// The largest effects on the step; `inputs` are in that order.
inline Table step_inputs(const std::vector<Elasticity>& inputs, bool detail) {
  Table table =
      input_table("inputs", "Step for 1 % more of an input, all others as they are", {"step", "step"});
  for (const Elasticity& e : inputs)
    if (moves_step(e) && (detail || table.rows.size() < kFewInputs))
      table.rows.push_back({input_name(e), e.value, Value{e.step / 100, Unit::Share}, e.origin});
  return table;
}

inline Table room_inputs(const std::vector<Elasticity>& inputs) {
  Table table =
      input_table("memory", "Memory left under the gate for 1 % more of an input", {"room", "memory left"});
  for (const Elasticity& e : inputs)
    if (moves_room(e)) table.rows.push_back({input_name(e), e.value, Value{e.room, Unit::Memory}, e.origin});
  std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
    return std::abs(std::get<Value>(a[2]).number) > std::abs(std::get<Value>(b[2]).number);
  });
  return table;
}

inline std::string without_effect(const std::vector<Elasticity>& inputs) {
  std::string names;
  for (const Elasticity& e : inputs)
    if (!moves_step(e) && !moves_room(e)) names += (names.empty() ? "" : ", ") + std::string(e.name);
  return names;
}

/// How many effects a short table leaves out, and the memory that it does not show.
inline Notes input_notes(const std::vector<Elasticity>& inputs, bool detail) {
  Notes notes{"inputs_note", {}};
  const auto moving = static_cast<std::size_t>(std::count_if(inputs.begin(), inputs.end(), moves_step));
  if (!detail && moving > kFewInputs)
    notes.sentences.push_back({std::to_string(moving - kFewInputs) + " more inputs, each at most ",
                               Value{std::abs(inputs[kFewInputs].step) / 100, Unit::Share},
                               ": --detail shows them"});
  const auto memory = std::find_if(inputs.begin(), inputs.end(), [](const Elasticity& e) {
    return e.value.unit == Unit::Memory && e.room > kNoEffect;
  });
  if (!detail && memory != inputs.end())
    notes.sentences.push_back({"memory: 1 % more " + std::string(memory->name) + " leaves ",
                               Value{memory->room, Unit::Memory}, " more under the gate"});
  if (const std::string names = without_effect(inputs); !names.empty())
    notes.sentences.push_back({"no effect of 1 %: " + names});
  return notes;
}

}  // namespace detail

/// detail: all inputs, and those of memory too.
inline Section elasticity_section(const std::vector<Elasticity>& inputs, bool detail) {
  Section s{"elasticities", "What 1 % of an input does", {}};
  if (inputs.empty()) {
    s.blocks.push_back(Notes{"inputs_note", {{"the step is not finite"}}});
    return s;
  }
  s.blocks.push_back(detail::step_inputs(inputs, detail));
  if (detail) s.blocks.push_back(detail::room_inputs(inputs));
  s.blocks.push_back(detail::input_notes(inputs, detail));
  return s;
}

}  // namespace trainplan
