#include <string>

#include "catch.hpp"
#include "trainplan/render/render.hpp"

using namespace trainplan;

namespace {

Issues two() {
  Issues issues;
  issues.add({.level = Severity::Warning,
              .rule = "assumed",
              .file = "c.json",
              .pointer = "/price",
              .got = "2.5 USD/h",
              .must = "be known for a quotation",
              .hint = "give a source"});
  issues.add({.rule = "tp-divides-heads",
              .file = "run.json",
              .pointer = "/tp",
              .got = "6",
              .must = "divide num_attention_heads",
              .hint = "try 4 or 8",
              .source = "Megatron-LM core 0.20.0: layers.py",
              .line = 14,
              .column = 12});
  issues.add(
      {.rule = "integer", .pointer = "--sequence", .got = "x", .must = "be an integer", .hint = "try 8192"});
  return issues;
}

}  // namespace

TEST_CASE("issues as text: errors first, each with place, rule and a way out") {
  CHECK(render(two(), Format::Text, Style{}) ==
        "error[tp-divides-heads] run.json:14:12 /tp = 6\n"
        "    must divide num_attention_heads\n"
        "    rule of Megatron-LM core 0.20.0: layers.py\n"
        "    try 4 or 8\n"
        "error[integer] --sequence = x\n"
        "    must be an integer\n"
        "    try 8192\n"
        "warning[assumed] c.json /price = 2.5 USD/h\n"
        "    must be known for a quotation\n"
        "    give a source\n");
}

TEST_CASE("colour marks the level") {
  const std::string text = render(two(), Format::Text, Style{.colour = true});
  CHECK(text.find("\033[31merror[integer]\033[0m --sequence") != std::string::npos);
  CHECK(text.find("\033[33mwarning[assumed]\033[0m c.json") != std::string::npos);
}

TEST_CASE("issues as JSON") {
  Issues one;
  one.add(two().all()[1]);
  CHECK(render(one, Format::Json, Style{}) == R"([
  {
    "level": "error",
    "rule": "tp-divides-heads",
    "file": "run.json",
    "line": 14,
    "column": 12,
    "pointer": "/tp",
    "got": "6",
    "must": "divide num_attention_heads",
    "hint": "try 4 or 8",
    "source": "Megatron-LM core 0.20.0: layers.py"
  }
]
)");
  CHECK(render(Issues{}, Format::Json, Style{}) == "[]\n");
}

TEST_CASE("fifty issues are printed, the others counted; a warning never takes the place of an error") {
  Issues many;
  for (int i = 0; i < 60; ++i) many.add({.level = Severity::Warning, .rule = "w", .pointer = "/w"});
  for (int i = 0; i < 3; ++i) many.add({.rule = "e", .pointer = "/e"});
  const std::string text = render(many, Format::Text, Style{});
  CHECK(text.starts_with("error[e] /e\nerror[e] /e\nerror[e] /e\nwarning[w] /w\n"));
  CHECK(text.ends_with("warning[w] /w\n... and 13 more\n"));
}

TEST_CASE("a value from a file cannot steer the terminal") {
  Issues one;
  one.add({.rule = "r", .file = "x\033[2J", .pointer = "/a", .got = "\x07\n", .must = "m", .hint = "h"});
  CHECK(render(one, Format::Text, Style{}) == "error[r] x?[2J /a = ? \n    must m\n    h\n");
}
