#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "find_config.hpp"
#include "outcome.hpp"
#include "reader.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"

namespace trainplan {
namespace {

struct CalibrationField {
  std::string_view key;
  Dim dim;
  Figure Calibration::*figure;
};
constexpr CalibrationField kCalibration[] = {
    {"cuda_context", kBytes, &Calibration::cuda_context},
    {"communicators", kBytes, &Calibration::communicators},
    {"allocator_slack", kCount, &Calibration::allocator_slack},
    {"kernel_efficiency", kCount, &Calibration::kernel_efficiency},
    {"tp_overlap_hidden", kCount, &Calibration::tp_overlap_hidden},
    {"ep_overlap_hidden", kCount, &Calibration::ep_overlap_hidden},
    {"launch_per_layer", kSeconds, &Calibration::launch_per_layer},
    {"straggler_share", kCount, &Calibration::straggler_share},
    {"capacity_gate", kCount, &Calibration::capacity_gate},
    {"planning_margin", kCount, &Calibration::planning_margin},
    {"interleave_bubble_target", kCount, &Calibration::interleave_bubble_target},
};

std::optional<Checked<Calibration>> read_calibration(const Document& doc, Issues& issues) {
  const std::size_t first = issues.all().size();
  const Reader in(doc, issues);
  std::vector<std::string_view> keys;
  Calibration c;
  for (const CalibrationField& field : kCalibration) {
    keys.push_back(field.key);
    in.figure(field.key, field.dim, c.*field.figure);
  }
  in.allow(keys);
  auto checked = Checked<Calibration>::make(std::move(c), issues);
  const Document* const documents[] = {&doc};
  place_issues(documents, issues, first);
  return errors_since(issues, first) ? std::nullopt : checked;
}

constexpr std::string_view kAnchorKeys[] = {"id",      "title", "value",       "source",
                                            "assumed", "model", "accelerator", "gpus"};

std::vector<Anchor> read_anchors(const Document& doc, Issues& issues) {
  std::vector<Anchor> out;
  for (std::size_t i = 0; i < doc.root.size(); ++i) {
    const Reader in(doc, doc.root[i], "/" + std::to_string(i), issues);
    in.allow(kAnchorKeys);
    Anchor a;
    in.require("id", "\"mfu_good\"");
    in.require("value", "\"40 %\"");
    a.id = in.string("id").value_or("");
    a.title = in.string("title").value_or("");
    a.model = in.string("model").value_or("");
    a.accelerator = in.string("accelerator").value_or("");
    a.gpus = in.integer("gpus", 1, kMaxWidth).value_or(0);
    a.dim = in.any_figure("value", a.value);
    a.value.source = in.string("source").value_or("");
    a.value.assumed = in.boolean("assumed").value_or(false);
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace

std::optional<Checked<Calibration>> load_calibration(Issues& issues, std::string_view name_or_path) {
  const auto doc = name_or_path.empty() ? shipped_config("calibration", "baseline", issues)
                                        : find_config("calibration", name_or_path, issues);
  return doc ? read_calibration(*doc, issues) : std::nullopt;
}

std::optional<Checked<Calibration>> load_calibration_text(std::string_view text, std::string_view file,
                                                          Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues);
  return doc ? read_calibration(*doc, issues) : std::nullopt;
}

std::vector<Anchor> anchors(Issues& issues) {
  const auto doc = shipped_config("references", "anchors", issues, true);
  return doc ? read_anchors(*doc, issues) : std::vector<Anchor>{};
}

std::vector<Anchor> anchors() {
  Issues ignored;
  return anchors(ignored);
}

std::vector<Anchor> load_anchors_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc = open_document(std::string(text), std::string(file), std::string(file), issues, true);
  return doc ? read_anchors(*doc, issues) : std::vector<Anchor>{};
}

std::vector<Listed> list_shipped(std::string_view kind) {
  std::vector<Listed> out;
  Issues ignored;
  for (const Shipped& s : shipped()) {
    if (s.kind != kind) continue;
    const auto root = parse_json(s.text, s.name, ignored);
    const bool object = root && root->is_object();
    Listed entry{.name = std::string(s.name), .title = {}, .aliases = {}};
    for (const char* key : {"name", "_about"})  // a run has no name of its own
      if (object && entry.title.empty() && root->contains(key) && root->at(key).is_string())
        entry.title = root->at(key);
    if (object) entry.aliases = aliases_of(*root);
    out.push_back(std::move(entry));
  }
  return out;
}

}  // namespace trainplan
