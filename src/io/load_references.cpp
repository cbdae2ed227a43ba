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

std::vector<Anchor> anchors(Issues& issues) {
  const auto doc = shipped_config("references", "anchors", issues, {.array = true});
  return doc ? read_anchors(*doc, issues) : std::vector<Anchor>{};
}

std::vector<Anchor> anchors() {
  Issues ignored;
  return anchors(ignored);
}

std::vector<Anchor> load_anchors_text(std::string_view text, std::string_view file, Issues& issues) {
  const auto doc =
      open_document(std::string(text), std::string(file), std::string(file), issues, {.array = true});
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
