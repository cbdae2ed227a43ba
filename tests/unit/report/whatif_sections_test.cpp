#include "trainplan/report/whatif_sections.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <variant>

#include "asked.hpp"
#include "catch.hpp"
#include "trainplan/derive/derive.hpp"

using namespace trainplan;
using problems::Asked;

namespace {

template <class T>
const T* block(const Section& s, std::string_view key) {
  for (const Block& b : s.blocks)
    if (const T* found = std::get_if<T>(&b); found != nullptr && found->key == key) return found;
  return nullptr;
}
double number(const Cell& cell) { return std::get<Value>(cell).number; }
std::string text(const Cell& cell) { return std::get<std::string>(cell); }

struct Sections {
  Trial chosen;
  Section what_if, short_what_if, inputs, short_inputs;

  Sections(const char* model, const char* cluster, problems::Fields fields = {})
      : chosen(Asked(model, cluster, fields).derived()->chosen),
        what_if(whatif_section(chosen, what_ifs(chosen), true)),
        short_what_if(whatif_section(chosen, what_ifs(chosen), false)),
        inputs(elasticity_section(elasticities(chosen), true)),
        short_inputs(elasticity_section(elasticities(chosen), false)) {}
};

}  // namespace

TEST_CASE("rows of variants hold memory, step and what they differ by") {
  const Sections s("llama70b", "h100x1024");
  const Table* table = block<Table>(s.what_if, "variants");
  REQUIRE(table != nullptr);
  for (const auto& row : table->rows) {
    CAPTURE(text(row[0]));
    REQUIRE(row.size() == table->columns.size());
    CHECK(number(row[1]) - number(row[2]) == Approx(s.chosen.device()));
    CHECK(number(row[3]) - number(row[4]) == Approx(s.chosen.cost.step.step.num()));
    CHECK(number(row[5]) * number(row[3]) ==
          Approx(s.chosen.cost.step.mfu.num() * s.chosen.cost.step.step.num()));
  }
  CHECK(text(table->rows.front()[0]) == "fp8 products");
  CHECK(text(table->rows.front()[6]) == "fits");
}

TEST_CASE("a variant that breaks a rule has no numbers, and a sentence names the rule") {
  const Sections s("llama8b", "h100x64", {{"framework", "torchtitan"}});
  const Table* table = block<Table>(s.short_what_if, "variants");
  bool found = false;
  for (const auto& row : table->rows) {
    if (text(row[6]) != "illegal") continue;
    found = true;
    CHECK(text(row[0]) == "recompute 1 of 32 layers");
    for (std::size_t i = 1; i < 6; ++i) CHECK(std::holds_alternative<std::monostate>(row[i]));
  }
  CHECK(found);
  bool named = false;
  for (const Sentence& sentence : block<Notes>(s.short_what_if, "notes")->sentences)
    named |= std::get<std::string>(sentence.front())
                 .starts_with("recompute 1 of 32 layers breaks recompute-is-offered: recompute must ");
  CHECK(named);
}

TEST_CASE("the short sections leave rows and tables out, never an effect that is larger") {
  const Sections s("llama70b", "h100x1024");
  CHECK(block<Table>(s.short_what_if, "variants")->rows.size() == 6);
  CHECK(block<Table>(s.what_if, "variants")->rows.size() == 7);
  CHECK(block<Facts>(s.short_what_if, "products") == nullptr);
  CHECK(block<Facts>(s.what_if, "products")->facts.size() == 6);
  CHECK(block<Table>(s.what_if, "recompute")->rows.size() == 3);
  const Table *few = block<Table>(s.short_inputs, "inputs"), *all = block<Table>(s.inputs, "inputs");
  CHECK(few->rows.size() == 8);
  CHECK(all->rows.size() > 12);
  for (std::size_t i = 0; i + 1 < all->rows.size(); ++i) {
    CHECK(std::abs(number(all->rows[i][2])) >= std::abs(number(all->rows[i + 1][2])));
    if (i < 8) CHECK(number(all->rows[i][2]) == number(few->rows[i][2]));
  }
  CHECK(block<Table>(s.short_inputs, "memory") == nullptr);
  const Table* memory = block<Table>(s.inputs, "memory");
  REQUIRE(memory != nullptr);
  CHECK(memory->rows.size() == 5);
}

TEST_CASE("per cent are shares of the step, and inputs without effect are named") {
  const Sections s("llama70b", "h100x1024");
  for (const Elasticity& e : elasticities(s.chosen)) {
    bool listed = false;
    for (const auto& row : block<Table>(s.inputs, "inputs")->rows)
      if (text(row[0]) == e.name) {
        listed = true;
        CHECK(number(row[2]) == e.step / 100);
        CHECK(text(row[3]) == e.origin);
      }
    CAPTURE(e.name);
    CHECK(listed == (std::abs(e.step) > kNoEffect));
  }
  const Sentence& none = block<Notes>(s.inputs, "inputs_note")->sentences.back();
  CHECK(std::get<std::string>(none.front()).find("dense fp8 peak") != std::string::npos);
}

TEST_CASE("a step that is not finite has no elasticities, and the section says so") {
  Trial t = Asked("llama70b", "h100x1024").derived()->chosen;
  t.cost.step.step = Seconds<>{INFINITY};
  const Section s = elasticity_section(elasticities(t), true);
  REQUIRE(s.blocks.size() == 1);
  CHECK(std::get<std::string>(std::get<Notes>(s.blocks.front()).sentences.front().front()) ==
        "the step is not finite");
}
