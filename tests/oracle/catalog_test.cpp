// The catalogue as a whole: ids, arguments, sources, and that every formula has a test of its value.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "catch.hpp"
#include "figures.hpp"
#include "trainplan/catalog/catalog.hpp"

using namespace trainplan;

namespace {

std::string text_of(const char* path) {
  std::ifstream in(std::string(TRAINPLAN_ROOT) + "/" + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

TEST_CASE("every formula of the catalogue is called by a row with a known value") {
  std::set<std::string> called;
  for (const char* name : {"series.json", "by_hand.json", "pipeline.json", "schedules.json", "studies_a.json",
                           "studies_b.json", "long_run.json", "long_run_by_hand.json"})
    called.merge(figures::File(name).called());
  for (const CatalogEntry& e : catalog()) {
    INFO(e.id);
    CHECK(called.contains(std::string(e.id)));
  }
}

TEST_CASE("ids of formulas are names and unique") {
  std::set<std::string_view> ids;
  for (const CatalogEntry& e : catalog()) {
    INFO(e.id);
    CHECK(is_name(e.id));
    CHECK(ids.insert(e.id).second);
    CHECK_FALSE(e.title.empty());
  }
}

TEST_CASE("arguments have distinct names, a meaning and a range") {
  for (const CatalogEntry& e : catalog()) {
    INFO(e.id);
    CHECK(e.args.size() == e.dims.size());
    CHECK_FALSE(e.args.empty());
    std::set<std::string_view> names, symbols;
    for (const Arg& arg : e.args) {
      INFO(arg.name);
      CHECK(names.insert(arg.name).second);
      CHECK(symbols.insert(arg.symbol).second);
      CHECK_FALSE(arg.meaning.empty());
      CHECK(arg.lo < arg.hi);
    }
  }
}

TEST_CASE("every source is an entry of docs/references.md") {
  const std::string references = text_of("docs/references.md");
  REQUIRE_FALSE(references.empty());
  for (const CatalogEntry& e : catalog()) {
    INFO(e.id << ": " << e.source.key);
    CHECK_FALSE(e.source.key.empty());
    CHECK_FALSE(e.source.where.empty());
    CHECK(references.find("| `" + std::string(e.source.key) + "` |") != std::string::npos);
  }
}

TEST_CASE("every value of a range gives a number, the lowest too") {
  for (const CatalogEntry& e : catalog()) {
    std::vector<double> lowest, values;
    for (const Arg& arg : e.args) {
      lowest.push_back(arg.lo);
      values.push_back(std::clamp(1.0, arg.lo, arg.hi));
    }
    INFO(e.id);
    CHECK(std::isfinite(e.evaluate(std::span<const double>(lowest))));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::vector<double> one_lowest = values;
      one_lowest[i] = lowest[i];
      INFO(e.args[i].name);
      CHECK(std::isfinite(e.evaluate(std::span<const double>(one_lowest))));
    }
  }
}

TEST_CASE("formulas are found by id, chapter after chapter") {
  std::size_t n = 0;
  std::set<std::string_view> chapters;
  for (const CatalogChapter& chapter : catalog_chapters()) {
    CHECK(chapters.insert(chapter.id).second);
    CHECK_FALSE(chapter.title.empty());
    for (const CatalogEntry& e : chapter.entries) {
      REQUIRE(n < catalog().size());
      CHECK(catalog()[n++].id == e.id);
      CHECK(find_formula(e.id) == &catalog()[n - 1]);
    }
  }
  CHECK(n == catalog().size());
  CHECK(n <= 400);
  CHECK(find_formula("no_such_formula") == nullptr);
}
