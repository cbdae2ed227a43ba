/// The answer of `params`: every weight of a model, exactly, and which of them a token visits.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "trainplan/cost/model_params.hpp"
#include "trainplan/report/build.hpp"

namespace trainplan {

namespace detail {

/// Layers in a row that hold the same weights.
struct LayerRun {
  std::int64_t count = 0;
  bool sparse = false;
};

inline std::vector<LayerRun> layer_runs(const ModelSpec& m) {
  std::vector<LayerRun> runs;
  for (std::int64_t l = 0; l < m.layers; ++l) {
    const bool sparse = m.kind(l).sparse;
    if (runs.empty() || runs.back().sparse != sparse) runs.push_back({0, sparse});
    ++runs.back().count;
  }
  return runs;
}

inline Value exact(double n) { return {n, Unit::Whole}; }

inline Table layer_table(const ModelSpec& m, double dense, double sparse) {
  Table table{"layers",
              "Layers from the first to the last",
              {{"count", "layers"}, {"params", "parameters of one"}, {"all", "of all"}, {"kind", "MLP"}},
              {}};
  for (const LayerRun& run : layer_runs(m)) {
    const double one = run.sparse ? sparse : dense, n = static_cast<double>(run.count);
    std::vector<Cell> row;
    for (const double figure : {n, one, n * one}) row.emplace_back(exact(figure));
    row.emplace_back(std::string(run.sparse ? "sparse" : "dense"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Spans that do not reach over all earlier positions: they change the work of a layer, not its weights.
inline void add_spans(Facts& facts, const ModelSpec& m) {
  for (const auto& [span, key, label] :
       {std::tuple{Span::Window, "window_layers", "layers with a sliding window"},
        std::tuple{Span::Chunk, "chunk_layers", "layers with chunked attention"}}) {
    std::int64_t layers = 0, positions = 0;
    for (const LayerKind& k : m.pattern)
      if (k.span == span) ++layers, positions = k.positions;
    if (layers > 0)
      facts.facts.push_back({key, label, exact(static_cast<double>(layers)),
                             "of " + std::to_string(positions) + " positions", ""});
  }
}

template <class N>
Facts params_facts(const ModelSpec& m, const ModelParams<N>& params) {
  const auto number = [](const Params<N>& p) { return exact(p.num().value()); };
  Facts facts{"", {}};
  const auto add = [&](const char* key, const char* label, Value value, const char* note) {
    facts.facts.push_back({key, label, value, note, ""});
  };
  facts.facts.push_back({"file", "file", m.origin, "", ""});
  facts.facts.push_back({"family", "family", m.family, "", ""});
  add("total", "parameters", number(params.total), m.tied ? "the tied table counts once" : "");
  add("active", "active for a token", number(params.active), "both tables counted");
  add("active_without_input_table", "active, input table apart", number(params.gemm),
      m.tied ? "the table is the head's too" : "what takes part in matrix products");
  add("embedding", "embedding", number(params.embedding), "with positions and norm, where there are any");
  add("head", "head", number(params.head), m.tied ? "tied" : "");
  if (m.table_width > 0) add("projections", "projections of the tables", number(params.projections), "");
  add("final_norm", "final norm", number(params.final_norm), "");
  const bool blocks = m.mtp_layers > 0;
  add("mtp", "multi-token prediction",
      exact(blocks ? static_cast<double>(m.mtp_layers) * params.mtp.total.num().value() : 0),
      blocks ? "apart from the total; shares both tables" : "");
  add_spans(facts, m);
  return facts;
}

/// Every part with its formula, numbers and inputs.
inline Section params_parts(const Ledger& ledger) {
  Section parts{"detail", "Parts", {}};
  for (const LineItem& item : ledger.items()) {
    if (item.dim != kParams || item.value == 0) continue;
    Explanation part = explanation_of(ledger, item);
    part.key = item.id;
    part.unit = Unit::Whole;
    parts.blocks.push_back(std::move(part));
  }
  return parts;
}

}  // namespace detail

/// `params` and `ledger` are of the same run; the ledger must outlive the report. detailed: the parts of a
/// layer down to the formulas' inputs.
template <class N>
Report params_report(const ModelSpec& m, const ModelParams<N>& params, const Ledger& ledger, bool detailed) {
  Report r{"params", "Parameters of " + m.name, Verdict::None, {}, {}};
  Section s{"", "", {}};
  s.blocks.push_back(detail::params_facts(m, params));
  s.blocks.push_back(
      detail::layer_table(m, params.dense.total.num().value(), params.sparse.total.num().value()));
  r.sections.push_back(std::move(s));
  if (!m.left_out.empty()) {
    Notes notes{"left_out", {}};
    for (const std::string& part : m.left_out) {
      Sentence sentence{};
      sentence.emplace_back(part);
      notes.sentences.push_back(std::move(sentence));
    }
    r.sections.push_back(Section{"", "Not counted", {}});
    r.sections.back().blocks.push_back(std::move(notes));
  }
  if (detailed) r.sections.push_back(detail::params_parts(ledger));
  return r;
}

}  // namespace trainplan
