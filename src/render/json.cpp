#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "json_writer.hpp"
#include "row_parts.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

/// "bytes_per_second"; empty for a count.
std::string base_unit(Dim dim) {
  struct Name {
    int power;
    std::string_view many, one;
  };
  const Name names[] = {{dim.byte, "bytes", "byte"},    {dim.flop, "flops", "flop"},
                        {dim.param, "params", "param"}, {dim.token, "tokens", "token"},
                        {dim.usd, "usd", "usd"},        {dim.sec, "seconds", "second"}};
  std::string out;
  for (const Name& n : names)
    for (int i = 0; i < n.power; ++i) out.append(out.empty() ? "" : "_").append(n.many);
  for (const Name& n : names)
    for (int i = 0; i < -n.power; ++i) out.append(out.empty() ? "per_" : "_per_").append(n.one);
  return out;
}

}  // namespace

std::string base_unit(Unit unit) {
  switch (unit) {
    case Unit::Count:
    case Unit::Whole: return "";
    case Unit::Memory:
    case Unit::MemoryBoth:
    case Unit::Request:
    case Unit::Traffic: return "bytes";
    case Unit::Time:
    case Unit::StepTime:
    case Unit::Days: return "seconds";
    case Unit::FineShare:
    case Unit::Share:
    case Unit::Points: return "ratio";
    case Unit::Flops: return "flops";
    case Unit::FlopRate: return "flops_per_second";
    case Unit::ByteRate: return "bytes_per_second";
    case Unit::Params: return "params";
    case Unit::Tokens: return "tokens";
    case Unit::TokenRate: return "tokens_per_second";
    case Unit::FlopsPerToken: return "flops_per_token";
    case Unit::BytesPerParam: return "bytes_per_param";
    case Unit::Usd: return "usd";
    case Unit::UsdPerHour: return "usd_per_second";
    case Unit::GpuTime: return "gpu_seconds";
    case Unit::Energy: return "joules";
  }
  return "";
}

std::string with_unit(std::string_view key, std::string_view unit) {
  std::string out(key);
  const bool said = key == unit || (key.ends_with(unit) && key[key.size() - unit.size() - 1] == '_');
  return unit.empty() || said ? out : out.append("_").append(unit);
}

namespace {

void ends(JsonWriter& json, std::string_view key, double low, double high) {
  json.array(key, true);
  json.number("", low);
  json.number("", high);
  json.end();
}

/// The number, the ends of its range and the share of predictions that the range holds.
void estimate(JsonWriter& json, std::string_view key, const Estimate& e) {
  const std::string unit = base_unit(e.value.unit), name(key);
  json.number(with_unit(key, unit), e.value.number);
  ends(json, with_unit(name + "_range", unit), e.low, e.high);
  json.number(name + "_confidence", e.confidence);
}

}  // namespace

void json_member(JsonWriter& json, std::string_view key, const Cell& cell, std::string_view unit) {
  std::visit(Overloaded{[&](std::monostate) { json.null(with_unit(key, unit)); },
                        [&](const std::string& s) { json.text(key, s); },
                        [&](Value v) { json.number(with_unit(key, base_unit(v.unit)), v.number); },
                        [&](bool yes) { json.boolean(key, yes); },
                        [&](const Code& code) { json.text(key, code.text); },
                        [&](const Estimate& e) { estimate(json, key, e); },
                        [&](const Ends& e) { ends(json, with_unit(key, base_unit(e.unit)), e.low, e.high); }},
             cell);
}

namespace {

/// Members of an object of their own, or of what is around it where there is no key.
template <class Members>
void keyed(JsonWriter& json, const std::string& key, Members&& members) {
  if (!key.empty()) json.object(key);
  members();
  if (!key.empty()) json.end();
}

void block(JsonWriter& json, const Facts& facts) {
  keyed(json, facts.key, [&] {
    for (const Fact& f : facts.facts) {
      json_member(json, f.key, f.cell);
      if (!f.note.empty()) json.text(f.key + "_note", f.note);
    }
  });
}

/// The unit of the numbers in a column, so that a cell without a number keeps the key.
std::string column_unit(const Table& table, std::size_t column) {
  for (const auto& row : table.rows)
    if (column < row.size()) {
      if (const Value* v = std::get_if<Value>(&row[column])) return base_unit(v->unit);
      if (const Estimate* e = std::get_if<Estimate>(&row[column])) return base_unit(e->value.unit);
      if (const Ends* e = std::get_if<Ends>(&row[column])) return base_unit(e->unit);
    }
  return {};
}

void block(JsonWriter& json, const Table& table) {
  std::vector<std::string> units;
  for (std::size_t c = 0; c < table.columns.size(); ++c) units.push_back(column_unit(table, c));
  json.array(table.key);
  for (const auto& row : table.rows) {
    json.object("", true);
    for (std::size_t c = 0; c < row.size() && c < table.columns.size(); ++c)
      json_member(json, table.columns[c].key, row[c], units[c]);
    json.end();
  }
  json.end();
}

void block(JsonWriter& json, const Notes& notes) {
  json.array(notes.key);
  for (const Sentence& s : notes.sentences) json.text("", sentence_text(s));
  json.end();
}

void block(JsonWriter& json, const Lines& lines) {
  json.array(lines.key);
  for (const Line& l : lines.lines) {
    json.object("", true);
    json.text("id", l.id);
    json.text("title", l.title);
    json_member(json, "value", l.value);
    json.number("depth", l.depth);
    if (!l.note.empty()) json.text("note", l.note);
    json.end();
  }
  json.end();
}

void block(JsonWriter& json, const Explanation& e) {
  keyed(json, e.key, [&] {
    json.text("id", e.id);
    if (!e.title.empty()) json.text("title", e.title);
    json.number(with_unit("value", base_unit(e.dim)), e.number);
    if (e.ledger != nullptr) {
      json.text("formula_symbols", formula_text(e.ledger->tape(), e.expr, Notation::Symbols));
      json.text("formula_numbers", formula_text(e.ledger->tape(), e.expr, Notation::Numbers));
    }
    if (!e.formula.empty()) json.text("formula_id", e.formula);
    json.text("source", e.source);
    json.array("operands");
    for (const Operand& o : e.operands) {
      json.object("", true);
      json.text("symbol", o.symbol);
      json.text("meaning", o.meaning);
      json.number(with_unit("value", base_unit(o.dim)), o.number);
      json.text("origin", o.origin);
      json.end();
    }
    json.end();
  });
}

std::string_view verdict_id(Verdict verdict) {
  switch (verdict) {
    case Verdict::None: return "none";
    case Verdict::Fits: return "fits";
    case Verdict::Tight: return "tight";
    case Verdict::DoesNotFit: return "does_not_fit";
    case Verdict::Passed: return "passed";
    case Verdict::Failed: return "failed";
  }
  return "";
}

}  // namespace

std::string json_report(const Report& report) {
  JsonWriter json;
  json.object("");
  json.text("schema", "trainplan." + report.command + "/1");
  json.text("title", report.title);
  if (report.verdict != Verdict::None) json.text("verdict", verdict_id(report.verdict));
  if (!report.headline.empty()) json.text("headline", sentence_text(report.headline));
  for (const Section& section : report.sections) {
    keyed(json, section.key, [&] {
      for (const Block& b : section.blocks) std::visit([&](const auto& x) { block(json, x); }, b);
    });
  }
  json.end();
  return json.take();
}

}  // namespace trainplan
