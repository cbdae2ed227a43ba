/// The answer of `mfu`: what a measured step or rate makes of the peak, under both conventions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainplan/cost/mfu.hpp"
#include "trainplan/derive/resolve.hpp"
#include "trainplan/report/plan_report.hpp"
#include "trainplan/report/utilisation.hpp"
#include "trainplan/report/worth_section.hpp"

namespace trainplan {

namespace detail {

/// Inputs and defaults that the answer depends on.
inline Section mfu_input_section(const Problem& problem, const std::vector<Setting>& settings,
                                 const MfuQuestion& question) {
  Section s{"inputs", "Inputs and defaults", {}};
  const ClusterSpec& c = problem.cluster();
  Facts f = model_and_cluster(problem);
  const double peak = question.peak.value_or(c.accelerator.bf16_dense.value);
  f.facts.push_back({"peak", "dense bf16 peak of a GPU", Value{peak, Unit::FlopRate},
                     question.peak ? "option --peak" : c.accelerator.bf16_dense.source, ""});
  const double tokens =
      static_cast<double>(problem.recipe.global_batch) * static_cast<double>(problem.recipe.sequence);
  f.facts.push_back({"global_batch", "global batch, tokens", Value{tokens, Unit::Tokens},
                     batch_origin(problem.recipe), ""});
  for (const Setting& setting : settings)
    if (setting.key == "sequence" || setting.key == "flop_convention" || setting.key == "mtp")
      f.facts.push_back({setting.key, setting.label, setting.value, setting.origin, ""});
  s.blocks.push_back(std::move(f));
  return s;
}

template <class N>
Section utilisation_section(const MfuCost<N>& c) {
  Section s{"utilisation", "Utilisation", {}};
  Table table{"shares",
              "",
              {{"what", "what"}, {"recompute", "recompute"}, {"causal", "causal"}, {"full", "full matrix"}},
              {}};
  const auto row = [&](const char* what, const char* recompute, Count<N> Utilisation<N>::*of) {
    table.rows.push_back({std::string(what), std::string(recompute),
                          Value{value_of(c.causal.*of), Unit::Share},
                          Value{value_of(c.whole.*of), Unit::Share}});
  };
  row("MFU", "never counted", &Utilisation<N>::mfu);
  row("HFU", "none", &Utilisation<N>::mfu);
  row("HFU", "selective: core attention", &Utilisation<N>::selective);
  row("HFU", "full: every layer", &Utilisation<N>::full);
  s.blocks.push_back(std::move(table));
  return s;
}

/// From FLOPs of a token to the share, step by step.
template <class N>
Section mfu_step_section(const MfuCost<N>& c, const MfuQuestion& question) {
  Section s{"step", "Step and rate", {}};
  Facts f{"", {}};
  const auto add = [&](const char* key, const char* label, Value value, const char* note = "") {
    f.facts.push_back({key, label, value, note, ""});
  };
  add("step", "step", {value_of(c.step), Unit::StepTime},
      question.step ? "measured" : "tokens of a step / rate");
  add("tokens_per_second", "rate of the cluster", {value_of(c.rate), Unit::TokenRate},
      question.rate ? "measured" : "tokens of a step / step");
  add("gpu_tokens_per_second", "rate of one GPU", {value_of(c.gpu_rate), Unit::TokenRate});
  add("flops_causal", "model FLOPs, causal", {value_of(c.causal.flops), Unit::FlopsPerToken},
      "6 N in products, and attention");
  add("flops_full", "model FLOPs, full matrix", {value_of(c.whole.flops), Unit::FlopsPerToken});
  add("ideal_causal", "ideal step, causal", {value_of(c.causal.ideal), Unit::StepTime},
      "at the dense peak of every GPU");
  add("ideal_full", "ideal step, full matrix", {value_of(c.whole.ideal), Unit::StepTime});
  add("achieved_causal", "reached by a GPU, causal", {value_of(c.causal.achieved), Unit::FlopRate},
      "model FLOPs");
  add("achieved_full", "reached by a GPU, full matrix", {value_of(c.whole.achieved), Unit::FlopRate},
      "model FLOPs");
  s.blocks.push_back(std::move(f));
  return s;
}

template <class N>
Section band_section(const MfuCost<N>& c, const Problem& problem, const std::vector<Anchor>& anchors) {
  const FlopConvention convention = problem.recipe.convention;
  Section s{"band", "Is it good?", {}};
  Sentence verdict{"MFU "};
  verdict.push_back(Value{value_of(c.of(convention).mfu), Unit::Share});
  verdict.emplace_back(" (" + std::string(name_of(convention)) + ") is ");
  for (auto& part : band_of(utilisation_band(anchors), value_of(c.of(convention).mfu)))
    verdict.push_back(part);
  Sentence step{"a good result begins at a step of "};
  step.push_back(Value{value_of(c.good_step), Unit::StepTime});
  Notes notes{"verdict", {std::move(verdict), std::move(step)}};
  if (problem.model().is_sparse()) notes.sentences.push_back({"the band is that of dense models"});
  s.blocks.push_back(std::move(notes));
  s.blocks.push_back(utilisation_anchors(anchors));
  return s;
}

}  // namespace detail

/// `ledger`: of the answer, must outlive the report. detailed: every figure with its formula.
template <class N>
Report mfu_report(const Problem& problem, const std::vector<Setting>& settings, const MfuQuestion& question,
                  const MfuCost<N>& c, const Ledger& ledger, const std::vector<Anchor>& anchors,
                  const std::vector<Issue>& issues, bool detailed) {
  const FlopConvention convention = problem.recipe.convention;
  Report r{"mfu",
           "MFU of " + problem.model().name + " on " + problem.cluster().name,
           Verdict::None,
           {"MFU ", Value{value_of(c.causal.mfu), Unit::Share}, " causal (",
            Value{value_of(c.whole.mfu), Unit::Share}, " full); HFU ",
            Value{value_of(c.of(convention).selective), Unit::Share}, " with selective, ",
            Value{value_of(c.of(convention).full), Unit::Share}, " with full recompute (",
            std::string(name_of(convention)) + "); "},
           {}};
  for (auto& part : band_of(utilisation_band(anchors), value_of(c.of(convention).mfu)))
    r.headline.push_back(part);
  r.sections.push_back(detail::mfu_input_section(problem, settings, question));
  Table warnings = warning_table(false);
  add_warnings(warnings, issues);
  add_warning_section(r, std::move(warnings));
  r.sections.push_back(detail::utilisation_section(c));
  r.sections.push_back(detail::mfu_step_section(c, question));
  r.sections.push_back(detail::band_section(c, problem, anchors));
  r.sections.push_back(worth_section(problem, ledger, "the measured step", "failures not counted"));
  if (detailed) r.sections.push_back(formula_section(ledger, {"compute.", "mfu.", "cost."}));
  return r;
}

}  // namespace trainplan
