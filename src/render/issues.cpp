#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "json_writer.hpp"
#include "layout.hpp"
#include "words.hpp"

namespace trainplan {
namespace {

constexpr std::size_t kMostPrinted = 50;

std::string_view level_name(const Issue& issue) {
  return issue.level == Severity::Error ? "error" : "warning";
}

/// "run.json:14:12 /tp = 6", as much of it as is known.
std::string place(const Issue& issue) {
  std::string out;
  const auto append = [&](const std::string& part) {
    if (!part.empty()) out.append(out.empty() ? "" : " ").append(printable(part));
  };
  if (!issue.file.empty() && issue.line > 0)
    append(fmt::format("{}:{}:{}", issue.file, issue.line, issue.column));
  else
    append(issue.file);
  append(issue.pointer);
  if (!issue.got.empty()) append("= " + issue.got);
  return out;
}

std::string text(const Issue& issue, const Style& style) {
  const Ink ink = issue.level == Severity::Error ? Ink::Red : Ink::Yellow;
  const std::string head = fmt::format("{}[{}]", level_name(issue), printable(issue.rule));
  const std::string where = place(issue);
  std::string out = inked(head, ink, style.colour) + (where.empty() ? "" : " " + where) + "\n";
  const auto columns = static_cast<std::size_t>(std::max(style.columns, 20));
  if (!issue.must.empty()) out += paragraph("must " + printable(issue.must), columns, "    ");
  if (!issue.source.empty()) out += paragraph("rule of " + printable(issue.source), columns, "    ");
  if (!issue.hint.empty()) out += paragraph(printable(issue.hint), columns, "    ");
  return out;
}

std::vector<const Issue*> errors_first(const Issues& issues) {
  std::vector<const Issue*> out;
  for (const Issue& i : issues.all()) out.push_back(&i);
  std::stable_sort(out.begin(), out.end(),
                   [](const Issue* a, const Issue* b) { return a->level < b->level; });
  return out;
}

std::string text_issues(const Issues& issues, const Style& style) {
  const std::vector<const Issue*> all = errors_first(issues);
  const std::size_t shown = std::min(all.size(), kMostPrinted);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += text(*all[i], style);
  if (shown < all.size()) out += fmt::format("... and {} more\n", all.size() - shown);
  return out;
}

std::string json_issues(const Issues& issues) {
  JsonWriter json;
  json.array("");
  for (const Issue& i : issues.all()) {
    json.object("");
    json.text("level", level_name(i));
    json.text("rule", i.rule);
    json.text("file", i.file);
    json.number("line", i.line);
    json.number("column", i.column);
    json.text("pointer", i.pointer);
    json.text("got", i.got);
    json.text("must", i.must);
    json.text("hint", i.hint);
    json.text("source", i.source);
    json.end();
  }
  json.end();
  return json.take();
}

}  // namespace

std::string render(const Issues& issues, Format format, const Style& style) {
  return format == Format::Json ? json_issues(issues) : text_issues(issues, style);
}

}  // namespace trainplan
