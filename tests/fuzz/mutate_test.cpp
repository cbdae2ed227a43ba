// Thousands of damaged texts: no crash, and every refusal says where, what, why and a way out.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "corpus.hpp"
#include "mutator.hpp"
#include "problems.hpp"
#include "question.hpp"
#include "trainplan/io/forecast_fields.hpp"
#include "trainplan/io/pipeline_fields.hpp"
#include "trainplan/io/run_fields.hpp"
#include "trainplan/io/shipped.hpp"

using namespace fuzz;

namespace {

/// Debug builds are some ten times slower, and the same code.
#ifdef NDEBUG
constexpr int kShare = 1;
#else
constexpr int kShare = 5;
#endif

std::vector<std::string> texts_of(std::string_view kind) {
  std::vector<std::string> out;
  for (const Shipped& s : shipped())
    if (s.kind == kind) out.emplace_back(s.text);
  return out;
}

/// Real files as their authors published them, also those that must be refused.
std::vector<std::string> corpus_texts() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TRAINPLAN_ROOT) + "/tests/models")) {
    if (entry.path().filename() == "index.json") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  std::sort(out.begin(), out.end());  // a directory has no order
  return out;
}

/// Members of every family, so that a mutated file asks for what its own family does not have.
std::vector<std::string> model_members() {
  std::vector<std::string> out;
  for (const std::string& text : corpus_texts())
    for (std::size_t at = text.find("\n  \""); at != std::string::npos; at = text.find("\n  \"", at + 1)) {
      const std::size_t end = text.find('\n', at + 1);
      std::string line = text.substr(at + 3, end - at - 3);
      if (!line.empty() && line.back() == ',') line.pop_back();
      const bool whole = line.find('{') == std::string::npos && !line.ends_with('[');
      if (whole && line.size() < 100) out.push_back(std::move(line));
    }
  return out;
}

std::vector<std::string> run_texts() {
  std::string all = "{\n  \"_about\": \"every field\"";
  for (const RunField& f : run_fields())
    all += ",\n  \"" + std::string(f.key) + "\": \"" + std::string(f.example) + "\"";
  std::string forecast = "{\"model\": \"llama70b\", \"cluster\": \"h100x1024\", \"forecast\": {\"_about\": 1";
  for (const ForecastField& f : forecast_fields())
    forecast += ",\n  \"" + std::string(f.key) + "\": \"" + std::string(f.example) + "\"";
  return {
      all + "\n}\n", forecast + "}}\n", "{\"model\": \"llama70b\", \"cluster\": \"h100x1024\"}",
      "{\"model\": \"llama8b\", \"cluster\": \"h100x64\",\n \"tp\": 8, \"pp\": 2,\n \"global_batch\": 512}",
      "{\n  \"sequence\": 8192,\n  \"global_batch\": \"4Mi-tokens\",\n  \"micro_batch\": 1,\n  "
      "\"recompute\": "
      "\"layers\",\n  \"recompute_layers\": 4,\n  \"cp\": 2,\n  \"vpp\": 4\n}\n"};
}

std::vector<std::string> run_members() {
  std::vector<std::string> out;
  for (const RunField& f : run_fields())
    for (const std::string_view value : {f.example, std::string_view("8"), std::string_view("4096")})
      out.push_back("\"" + std::string(f.key) + "\": \"" + std::string(value) + "\"");
  return out;
}

/// A few mutations of every text of a kind; stops at the tenth that breaks a claim.
void check_mutations(std::string_view kind, const std::vector<std::string>& texts, std::uint64_t start,
                     int rounds, const std::vector<std::string>& members = {}) {
  REQUIRE_FALSE(texts.empty());
  Mutator mutator(start);
  int broken = 0;
  for (int i = 0; i < rounds / kShare && broken < 10; ++i) {
    const std::string& whole = texts[mutator.pick(texts.size())];
    const std::string text =
        i % 2 == 0 ? mutator.mutate(whole, members) : mutator.mutate_values(whole, members);
    const std::string why = broken_claim(kind, text);
    if (why.empty()) continue;
    ++broken;
    CAPTURE(kind, i, text);
    CHECK(why == "");
  }
}

/// A legal spec of a mutated text, or nothing.
template <class T, class Load>
std::optional<Checked<T>> mutant(Mutator& mutator, const std::vector<std::string>& texts, Load load) {
  Issues issues;
  return load(mutator.mutate_values(texts[mutator.pick(texts.size())]), kFile, issues);
}

Specs shipped_specs(Mutator& mutator) {
  const std::vector<std::string> models{"llama8b", "gpt2", "llama70b", "qwen2.5-7b"};
  const std::vector<std::string> clusters{"h100x64", "h100x1024", "rtx4090x32", "a100x384"};
  const std::vector<std::string> profiles{"megatron-lm", "deepspeed", "torchtitan"};
  return {problems::model(models[mutator.pick(4)]), problems::cluster(clusters[mutator.pick(4)]),
          problems::framework(profiles[mutator.pick(3)]), problems::framework("torchtitan"),
          problems::calibration()};
}

}  // namespace

TEST_CASE("damaged models are loaded or refused") { check_mutations("models", texts_of("models"), 1, 3000); }
TEST_CASE("damaged real config.json files are loaded or refused") {
  check_mutations("models", corpus_texts(), 10, 100000, model_members());
}
TEST_CASE("damaged clusters are loaded or refused") {
  check_mutations("clusters", texts_of("clusters"), 2, 3000);
}
TEST_CASE("damaged accelerators are loaded or refused") {
  check_mutations("accelerators", texts_of("accelerators"), 3, 3000);
}
TEST_CASE("damaged profiles are loaded or refused") {
  check_mutations("frameworks", texts_of("frameworks"), 4, 1000);
}
TEST_CASE("damaged constants and figures are loaded or refused") {
  check_mutations("calibration", texts_of("calibration"), 5, 1000);
  check_mutations("references", texts_of("references"), 6, 500);
}
TEST_CASE("damaged runs are loaded or refused") {
  check_mutations("runs", run_texts(), 7, 6000, run_members());
}

TEST_CASE("damaged pipelines are loaded or refused, and a legal one runs") {
  std::string all = "{\n  \"_about\": \"every field\"";
  std::vector<std::string> members;
  for (const PipelineField& f : pipeline_fields()) {
    const std::string key = "\"" + std::string(f.key) + "\": ";
    for (const std::string_view value : {f.example, std::string_view("8"), std::string_view("3 ms")})
      members.push_back(key + "\"" + std::string(value) + "\"");
    if (!f.key.ends_with("_gradient")) all += ",\n  " + key + "\"" + std::string(f.example) + "\"";
  }
  std::vector<std::string> texts = texts_of("schedules");
  texts.push_back(all + "\n}\n");
  check_mutations("schedules", texts, 11, 6000, members);
}

TEST_CASE("damaged reports of plans are loaded or refused") {
  const std::string report = R"({"schema": "trainplan.plan/1", "title": "m on c",
 "inputs": {"files": {"model": "m", "model_note": "m.json", "sequence_tokens": 4096, "compile": false}},
 "plan": {"degrees": {"tp": 8, "tp_note": "with sequence parallelism", "recompute": "none"}},
 "ledger": {"stage": 3, "items": [
  {"id": "memory.device", "title": "device total", "value_bytes": 45708174295.04, "depth": 0},
  {"id": "step.mfu", "title": "MFU", "value_ratio": 0.4, "depth": 0},
  {"id": "step.time", "title": "step", "value_seconds": 4.4, "depth": 0}]}})";
  check_mutations("reports", {report}, 12, 3000);
}

TEST_CASE("a file of one kind given as another is refused like any other") {
  const std::vector<std::string> kinds{"models",      "clusters",   "accelerators", "frameworks",
                                       "calibration", "references", "schedules"};
  for (const std::string& kind : kinds)
    for (const std::string& as : kinds)
      for (const std::string& text : texts_of(kind)) {
        CAPTURE(kind, as);
        CHECK(broken_claim(as, text) == "");
      }
}

TEST_CASE("the collected texts hold every claim") {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TRAINPLAN_ROOT) + "/tests/fuzz/corpus")) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string input{std::istreambuf_iterator<char>(in), {}};
    CAPTURE(entry.path().string());
    CHECK(broken_claim(input) == "");
    ++files;
  }
  CHECK(files >= 7);
}

TEST_CASE("a damaged run is answered with finite numbers or refused with a way out") {
  Mutator mutator(8);
  const auto texts = run_texts(), members = run_members();
  std::map<std::string, int> seen;
  int broken = 0;
  for (int i = 0; i < 1000 / kShare && broken < 10; ++i) {
    const std::string text = mutator.mutate_values(texts[mutator.pick(texts.size())], members);
    const Specs specs = shipped_specs(mutator);
    Issues issues;
    const auto run = load_run_text(text, kFile, issues);
    if (!run) continue;
    const std::string why = ask(*run, specs, issues, seen);
    if (why.empty()) continue;
    ++broken;
    CAPTURE(i, text, specs.model->name, specs.cluster->name, specs.profile->id);
    CHECK(why == "");
  }
  CAPTURE(seen["derived"], seen["refused"], seen["no legal plan"]);
  CHECK(seen["derived"] >= 100 / kShare);
  CHECK(seen["refused"] >= 100 / kShare);
}

TEST_CASE("a model, a cluster or a profile that was let pass gives finite numbers") {
  Mutator mutator(9);
  const auto models = texts_of("models"), clusters = texts_of("clusters"), profiles = texts_of("frameworks");
  std::map<std::string, int> seen;
  int broken = 0;
  for (int i = 0; i < 1000 / kShare && broken < 10; ++i) {
    Specs specs = shipped_specs(mutator);
    if (const auto m = mutant<ModelSpec>(mutator, models, load_model_text)) specs.model = *m;
    if (const auto c = mutant<ClusterSpec>(mutator, clusters, load_cluster_text)) specs.cluster = *c;
    if (const auto f = mutant<FrameworkProfile>(mutator, profiles, load_framework_text)) specs.profile = *f;
    Issues issues;
    const std::string why = ask(RunSpec{}, specs, issues, seen);
    if (why.empty()) continue;
    ++broken;
    CAPTURE(i, specs.model->name, specs.cluster->name, specs.profile->id);
    CHECK(why == "");
  }
  CHECK(seen["derived"] >= 100 / kShare);
}
