// Real config.json files: counts equal to the published ones to the last unit, others refused by name.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "../unit/io/found.hpp"
#include "catch.hpp"
#include "trainplan/io/load.hpp"
#include "trainplan/io/shipped.hpp"
#include "trainplan/render/render.hpp"
#include "trainplan/report/params_report.hpp"

using namespace trainplan;
using nlohmann::json;

namespace {

const std::string kFolder = std::string(TRAINPLAN_ROOT) + "/tests/models/";

const json& rows() {
  static const json all = [] {
    std::ifstream in(kFolder + "index.json");
    return json::parse(in);
  }();
  return all;
}

/// What `trainplan params --format json` prints.
json counted(const ModelSpec& m) {
  Explain rec;
  ModelInputs<Sym> in;
  bind_model(rec, m, in);
  const auto params = model_params(rec, in, m, 0);
  return json::parse(render(params_report(m, params, rec.ledger(), true), Format::Json, {}));
}

json runs_of(const json& report) {
  json out = json::array();
  for (const json& run : report["layers"]) out.push_back({run["count"], run["params"]});
  return out;
}

}  // namespace

TEST_CASE("every model of the corpus has its published number of parameters") {
  int counts = 0;
  for (const json& row : rows()) {
    if (row.contains("refused")) continue;
    const std::string file = row["file"];
    Issues issues;
    const auto model = load_model(kFolder + file, issues);
    CAPTURE(file, listed(issues));
    REQUIRE(model);
    CHECK(complete(issues));
    const json report = counted(**model);
    for (const char* key : {"total", "active", "embedding", "head", "mtp"}) {
      CAPTURE(key);
      CHECK(report[key] == row[key]);
    }
    CHECK(runs_of(report) == row["layers"]);
    CHECK_FALSE(row["source"].get<std::string>().empty());
    ++counts;
  }
  CHECK(counts >= 80);
}

TEST_CASE("a published total differs by what the row names, and by nothing else") {
  for (const json& row : rows()) {
    if (!row.contains("published")) continue;
    CAPTURE(row["file"].get<std::string>());
    const std::int64_t more = row["published"].get<std::int64_t>() - row["total"].get<std::int64_t>();
    CHECK(more == (row.contains("beside") ? std::stoll(row["beside"].get<std::string>()) : 0));
  }
}

TEST_CASE("every input of a model names keys that its file has") {
  int places = 0;
  for (const json& row : rows()) {
    if (row.contains("refused")) continue;
    const std::string file = row["file"];
    std::ifstream in(kFolder + file);
    const json content = json::parse(in);
    Issues issues;
    Explain rec;
    ModelInputs<Sym> inputs;
    bind_model(rec, **load_model(kFolder + file, issues), inputs);
    const Tape& tape = rec.ledger().tape();
    for (std::uint32_t i = 0; i < tape.size(); ++i) {
      const Node& n = tape.node(i);
      if (n.op != Op::Input || n.value == 0) continue;
      const Label& label = tape.label(n);
      std::istringstream words(label.origin.substr(label.origin.find(' ')));
      for (std::string word; words >> word;) {
        if (word.front() != '/') continue;
        CAPTURE(file, label.symbol, label.origin);
        CHECK(content.contains(json::json_pointer(word)));
        ++places;
      }
    }
  }
  CHECK(places >= 800);
}

TEST_CASE("layers, tables and what is around them make the total") {
  for (const json& row : rows()) {
    if (row.contains("refused")) continue;
    Issues issues;
    const json report = counted(**load_model(kFolder + row["file"].get<std::string>(), issues));
    std::int64_t sum = report["embedding"].get<std::int64_t>() + report["head"].get<std::int64_t>() +
                       report["final_norm"].get<std::int64_t>() +
                       report.value("projections", std::int64_t{0});
    for (const json& run : report["layers"]) sum += run["all"].get<std::int64_t>();
    CAPTURE(row["file"].get<std::string>());
    CHECK(sum == report["total"].get<std::int64_t>());
    CHECK(report["active_without_input_table"] <= report["active"]);
  }
}

TEST_CASE("models of another kind, and files without sizes, are refused with the reason") {
  int refused = 0;
  for (const json& row : rows()) {
    if (!row.contains("refused")) continue;
    Issues issues;
    const std::string file = row["file"], words = row["refused"], pointer = row["pointer"];
    CAPTURE(file);
    CHECK_FALSE(load_model(kFolder + file, issues));
    CHECK(complete(issues));
    bool named = false;
    for (const Issue& i : issues.all())
      named = named || (i.level == Severity::Error && i.pointer == pointer &&
                        i.must.find(words) != std::string::npos && i.line > 0);
    CAPTURE(listed(issues));
    CHECK(named);
    ++refused;
  }
  CHECK(refused >= 6);
}

TEST_CASE("a shipped model of the same name has the same number of parameters") {
  int same = 0;
  for (const json& row : rows()) {
    const std::string file = row["file"];
    for (const Shipped& s : shipped()) {
      if (s.kind != "models" || std::string(s.name) + ".json" != file) continue;
      Issues issues;
      const auto model = load_model_text(s.text, file, issues);
      CAPTURE(file, listed(issues));
      REQUIRE(model);
      CHECK(counted(**model)["total"] == row["total"]);
      ++same;
    }
  }
  CHECK(same >= 30);
}

TEST_CASE("no two shipped models share a name") {
  std::set<std::string> names;
  for (const Listed& l : list_shipped("models")) {
    CHECK(names.insert(l.name).second);
    for (const std::string& alias : l.aliases) {
      CAPTURE(alias);
      CHECK((alias == l.name || names.insert(alias).second));
    }
  }
}
