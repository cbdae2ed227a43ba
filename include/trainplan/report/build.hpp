/// Pieces of reports: facts, indented ledger lines and explanations from a ledger.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "trainplan/report/report.hpp"
#include "trainplan/trace/ledger.hpp"

namespace trainplan {

/// The unit that suits a dimension where no better is known.
inline Unit unit_for(Dim d) {
  if (d == Dim{.byte = 1}) return Unit::MemoryBoth;
  if (d == Dim{.sec = 1}) return Unit::Time;
  if (d == Dim{.flop = 1}) return Unit::Flops;
  if (d == Dim{.flop = 1, .sec = -1}) return Unit::FlopRate;
  if (d == Dim{.byte = 1, .sec = -1}) return Unit::ByteRate;
  if (d == Dim{.param = 1}) return Unit::Params;
  if (d == Dim{.token = 1}) return Unit::Tokens;
  if (d == Dim{.sec = -1, .token = 1}) return Unit::TokenRate;
  if (d == Dim{.flop = 1, .token = -1}) return Unit::FlopsPerToken;
  if (d == Dim{.byte = 1, .param = -1}) return Unit::BytesPerParam;
  if (d == Dim{.usd = 1}) return Unit::Usd;
  if (d == Dim{.sec = -1, .usd = 1}) return Unit::UsdPerHour;
  return Unit::Count;
}

/// How an item is shown: as it says, else as its dimension suggests.
inline Unit unit_of(const LineItem& item) { return item.unit.value_or(unit_for(item.dim)); }

/// "fits", "tight", "does not fit", "passed", "failed"; empty for none.
inline std::string verdict_text(Verdict v) {
  switch (v) {
    case Verdict::Fits: return "fits";
    case Verdict::Tight: return "tight";
    case Verdict::DoesNotFit: return "does not fit";
    case Verdict::Passed: return "passed";
    case Verdict::Failed: return "failed";
    case Verdict::None: break;
  }
  return "";
}

namespace detail {

inline Value time_value(double seconds) { return {seconds, Unit::Time}; }

}  // namespace detail

/// A sentence with words in front of it.
inline Sentence prefixed(std::string words, const Sentence& rest) {
  Sentence sentence{std::move(words)};
  sentence.insert(sentence.end(), rest.begin(), rest.end());
  return sentence;
}

/// A ledger item as a fact; its id can be given to explain. The item must exist.
inline Fact fact(const Ledger& ledger, std::string_view id, std::string key, Unit unit,
                 std::string note = {}) {
  const LineItem& item = *ledger.find(id);
  return {std::move(key), item.title, Value{item.value, unit}, std::move(note), item.id};
}

/// A fact when the ledger has the item.
inline void add_fact(Facts& facts, const Ledger& ledger, std::string_view id, std::string key, Unit unit,
                     std::string note = {}) {
  if (ledger.find(id) != nullptr)
    facts.facts.push_back(fact(ledger, id, std::move(key), unit, std::move(note)));
}

/// The item, then what it is the sum (or the maximum) of, `deep` levels down.
inline void add_lines(Lines& lines, const Ledger& ledger, const LineItem& item, Unit unit, int deep,
                      int depth = 0) {
  const bool maximum = ledger.tape().node(item.expr).op == Op::Max && !ledger.parts(item).empty();
  lines.lines.push_back(
      {item.id, item.title, Value{item.value, unit}, depth, maximum ? "the largest of the phases" : ""});
  if (deep == 0) return;
  for (const LineItem* part : ledger.parts(item)) add_lines(lines, ledger, *part, unit, deep - 1, depth + 1);
}

inline Lines lines_of(const Ledger& ledger, std::string key, std::string_view id, Unit unit, int deep) {
  Lines lines{std::move(key), {}};
  if (const LineItem* item = ledger.find(id)) add_lines(lines, ledger, *item, unit, deep);
  return lines;
}

/// An item taken apart down to the inputs and named results of its formula. The ledger must outlive the
/// result.
inline Explanation explanation_of(const Ledger& ledger, const LineItem& item) {
  Explanation e{"explanation", item.id,       item.title,  item.formula, item.source, item.value,
                item.dim,      unit_of(item), item.symbol, &ledger,      item.expr,   {}};
  for (const std::uint32_t node : ledger.operands(item)) {
    const Node& n = ledger.tape().node(node);
    const Label& label = ledger.tape().label(n);
    e.operands.push_back({label.symbol, label.meaning, label.origin, n.value, label.dim});
  }
  return e;
}

}  // namespace trainplan
