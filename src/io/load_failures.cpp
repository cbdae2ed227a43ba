#include "trainplan/io/load_failures.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find_config.hpp"
#include "reader.hpp"

namespace trainplan {
namespace {

constexpr std::string_view kRecordKeys[] = {"id",   "title", "gpus",   "time",   "failures",   "planned",
                                            "mtbf", "note",  "causes", "source", "accelerator"};
constexpr std::string_view kCauseKeys[] = {"cause", "kind", "count"};
constexpr std::int64_t kMost = 1'000'000'000;

FailureCause read_cause(const Reader& in) {
  in.allow(kCauseKeys);
  in.require("cause", "\"faulty GPU\"");
  in.require("count", "148");
  return {in.string("cause").value_or(""), in.string("kind").value_or(""),
          in.integer("count", 1, kMost).value_or(0)};
}

FailureRecord read_record(const Reader& in) {
  in.allow(kRecordKeys);
  FailureRecord r;
  in.require("id", "\"llama3-405b\"");
  in.require("gpus", "16384");
  in.require("source", "\"Llama 3 report, Table 5\"");
  r.id = in.string("id").value_or("");
  r.title = in.string("title").value_or("");
  r.source = in.string("source").value_or("");
  r.note = in.string("note").value_or("");
  r.gpus = in.integer("gpus", 1, kMost).value_or(0);
  r.failures = in.integer("failures", 1, kMost).value_or(0);
  r.planned = in.integer("planned", 0, kMost).value_or(0);
  in.figure("time", kSeconds, r.time);
  in.figure("mtbf", kSeconds, r.mtbf);
  if (!r.counted() && !r.mtbf.known) in.require("mtbf", "\"7.9 h\", or time and failures");
  for (const Reader& cause : in.objects("causes")) r.causes.push_back(read_cause(cause));
  return r;
}

std::vector<FailureRecord> read_records(const Document& doc, Issues& issues) {
  std::vector<FailureRecord> out;
  for (std::size_t i = 0; i < doc.root.size(); ++i)
    out.push_back(read_record(Reader(doc, doc.root[i], "/" + std::to_string(i), issues)));
  return out;
}

}  // namespace

std::vector<FailureRecord> failure_records(Issues& issues) {
  const auto doc = shipped_config("references", "failures", issues, {.array = true});
  return doc ? read_records(*doc, issues) : std::vector<FailureRecord>{};
}

std::vector<FailureRecord> failure_records() {
  Issues ignored;
  return failure_records(ignored);
}

std::vector<FailureRecord> load_failures_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc =
      open_document(std::string(text), std::string(file), std::string(file), issues, {.array = true});
  return doc ? read_records(*doc, issues) : std::vector<FailureRecord>{};
}

}  // namespace trainplan
