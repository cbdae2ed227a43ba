// Plans of mixtures of experts: legal, within the limit, balanced, and told with numbers.
#include "trainplan/derive/derive_joint.hpp"

#include <algorithm>
#include <string>

#include "asked.hpp"
#include "catch.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

const Decision* decision(const Derivation& d, std::string_view axis) {
  for (const Decision& one : d.decisions)
    if (one.axis == axis) return &one;
  return nullptr;
}

std::string text_of(const Decision& d) {
  std::string text;
  for (const Sentence& s : d.reasons)
    for (const auto& piece : s)
      if (const auto* words = std::get_if<std::string>(&piece)) text += *words;
  return text;
}

}  // namespace

TEST_CASE("shipped models on their clusters: legal, fitting, balanced stages") {
  const std::pair<const char*, const char*> questions[] = {
      {"deepseek-v3", "h800x2048"}, {"qwen3-235b-a22b", "h100x256"}, {"mixtral-8x7b", "h100x64"},
      {"gpt-oss-120b", "h100x64"},  {"llama-4-scout", "h100x512"},   {"gemma-3-27b", "h100x64"},
      {"bloom-176b", "a100x384"}};
  for (const auto& [model, cluster] : questions) {
    const Asked asked(model, cluster);
    const auto d = asked.derived();
    CAPTURE(model, cluster);
    REQUIRE(d);
    const Plan& p = d->chosen.plan;
    CHECK(legal(d->chosen.problem, p));
    CHECK(d->chosen.verdict() == Verdict::Fits);
    CHECK(std::int64_t{p.tp} * p.cp * p.dp * p.pp == d->chosen.problem.cluster().gpus());
    CHECK(std::int64_t{p.etp} * p.ep * expert_dp(p) * p.pp == d->chosen.problem.cluster().gpus());
    std::int64_t most = 0, least = 1 << 20;
    for (int s = 0; s < p.pp; ++s) {
      const std::int64_t layers = stage_layers(d->chosen.problem.model(), p, s);
      most = std::max(most, layers);
      least = std::min(least, layers);
    }
    CHECK(most - least <= 2 + d->chosen.problem.recipe.mtp_layers);
  }
}

TEST_CASE("bloom-176b with TP 8 and PP 12: embedding and loss count as layers") {
  const Asked asked("bloom-176b", "a100x384", {{"tp", "8"}, {"pp", "12"}});
  const auto d = asked.derived();
  REQUIRE(d);
  CHECK(d->chosen.plan.dp == 4);
  CHECK(d->chosen.plan.layout == Layout::EmbeddingAndLoss);
  CHECK(stage_layers(d->chosen.problem.model(), d->chosen.plan, 0) == 5);
  CHECK(stage_layers(d->chosen.problem.model(), d->chosen.plan, 5) == 6);
  CHECK(stage_layers(d->chosen.problem.model(), d->chosen.plan, 11) == 5);
}

TEST_CASE("the expert degree is told: experts of a GPU, link, expert data parallel degree, neighbours") {
  const Asked asked("mixtral-8x7b", "h100x64");
  const auto d = asked.derived();
  REQUIRE(d);
  const Decision* ep = decision(*d, "ep");
  REQUIRE(ep != nullptr);
  CHECK(ep->value == std::to_string(d->chosen.plan.ep));
  const std::string text = text_of(*ep);
  CHECK(text.find("8 experts / ep") != std::string::npos);
  CHECK(text.find("scale-up domain") != std::string::npos);
  CHECK(text.find("expert data parallel degree") != std::string::npos);
  CHECK(ep->reasons.size() >= 4);
}

TEST_CASE("pinned degrees stay, and their neighbours are told and shown beside the plan") {
  const Asked asked("deepseek-v3", "h800x2048", {{"tp", "1"}, {"pp", "16"}, {"ep", "64"}});
  const auto d = asked.derived();
  REQUIRE(d);
  CHECK(d->chosen.plan.tp == 1);
  CHECK(d->chosen.plan.pp == 16);
  CHECK(d->chosen.plan.ep == 64);
  CHECK(text_of(*decision(*d, "ep")).find("ep 128") != std::string::npos);
  for (const char* key : {"ep32", "ep128", "pp8", "tp2"}) {
    CAPTURE(key);
    CHECK(std::any_of(d->alternatives.begin(), d->alternatives.end(),
                      [&](const Alternative& a) { return a.key == key; }));
  }
}

TEST_CASE("where no plan keeps the margin, the one with most room is taken and the reason says so") {
  const Asked asked("deepseek-v3", "h100x256");
  const auto d = asked.derived();
  REQUIRE(d);
  CHECK(d->chosen.verdict() == Verdict::Tight);
  CHECK(text_of(*decision(*d, "tp")).find("none keeps the planning margin") != std::string::npos);
  for (const Alternative& a : d->alternatives)
    if (a.key.starts_with("ep") || a.key.starts_with("pp") || a.key.starts_with("tp"))
      CHECK(a.trial.device() >= d->chosen.device());
}
