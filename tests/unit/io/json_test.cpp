#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "found.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

namespace {

/// The one issue of a text that is no legal JSON.
Issue refusal(std::string_view text) {
  Issues issues;
  CHECK_FALSE(load_run_text(text, "run.json", issues));
  CAPTURE(listed(issues));
  CHECK(complete(issues));
  REQUIRE(issues.all().size() == 1);
  return issues.all().front();
}

void check_refusal(std::string_view text, std::string_view rule, int line, int column, std::string_view got) {
  const Issue issue = refusal(text);
  CAPTURE(text.substr(0, 80), issue.must);
  CHECK(issue.rule == rule);
  CHECK(issue.line == line);
  CHECK(issue.column == column);
  CHECK(issue.got == got);
}

/// Seconds after which a refusal counts as hanging, on any machine and in any build.
constexpr double kPatience = 30;

double seconds_of(auto run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "trainplan_json_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string file(const std::string& name, std::string_view text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

}  // namespace

TEST_CASE("an empty file and a file of blanks") {
  check_refusal("", "json-empty", 1, 1, "an empty file");
  check_refusal(" \n\t", "json-empty", 1, 1, "only blanks");
}

TEST_CASE("truncated JSON names the end of the text") {
  check_refusal("{\n  \"tp\": 8,", "json-truncated", 2, 11, "end of the text");
  check_refusal("{\"model\": \"lla", "json-truncated", 1, 15, "end of the text");
  check_refusal("{\"sequence_parallel\": tr", "json-truncated", 1, 25, "end of the text");
}

TEST_CASE("duplicate keys are refused, both places named") {
  Issues issues;
  load_run_text("{\n  \"tp\": 8,\n  \"tp\": 4\n}", "run.json", issues);
  REQUIRE(issues.all().size() == 1);
  const Issue& issue = issues.all().front();
  CHECK(issue.rule == "json-duplicate-key");
  CHECK(issue.got.empty());
  CHECK(issue.pointer == "/tp");
  CHECK(issue.line == 3);
  CHECK(issue.column == 3);
  CHECK(issue.must == "appear once; it stands already at 2:3");
}

TEST_CASE("a key that stands twice hides no other mistake, and no spec comes of its file") {
  Issues run, model, cluster;
  load_run_text(R"({"model": "m", "cluster": "c", "tp": 8, "tp": 4, "pp": "x", "foo": 1})", "run.json", run);
  for (const char* rule : {"json-duplicate-key", "integer", "unknown-key"}) {
    CAPTURE(rule);
    CHECK(std::ranges::any_of(run.all(), [&](const Issue& i) { return i.rule == rule; }));
  }
  CHECK_FALSE(load_cluster_text(R"({"accelerator": "h100-sxm", "nodes": 1, "nodes": 2, "gpus_per_node": 8})",
                                "c.json", cluster));
  CHECK(cluster.has_errors());
  CHECK_FALSE(
      load_model_text(R"({"model_type": "llama", "vocab_size": 0, "vocab_size": 0})", "m.json", model));
  CHECK(find_issue(model, "json-duplicate-key", "/vocab_size") != nullptr);
  CHECK(find_issue(model, "range", "/vocab_size") != nullptr);
}

TEST_CASE("duplicate keys inside arrays and objects have their own pointer") {
  Issues issues;
  CHECK_FALSE(load_anchors_text("[[1], {\"a\": {\"b\": 1, \"b\": 2}}]", "x.json", issues).size());
  CHECK(find_issue(issues, "json-duplicate-key", "/1/a/b") != nullptr);
}

TEST_CASE("numbers that do not fit are refused, not rounded") {
  check_refusal("{\"tp\": 1e400}", "json-number", 1, 8, "1e400");
  check_refusal("{\"tp\": -1e999}", "json-number", 1, 8, "-1e999");
  check_refusal("{\"a\": [0, 18446744073709551616]}", "json-number", 1, 11, "18446744073709551616");
  check_refusal("{\"tp\": -9223372036854775809}", "json-number", 1, 8, "-9223372036854775809");
}

TEST_CASE("NaN and Infinity are named") {
  check_refusal("{\n\"tp\": NaN}", "json-number", 2, 7, "NaN");
  check_refusal("{\"tp\": -Infinity}", "json-number", 1, 8, "-Infinity");
  CHECK(refusal("{\"tp\": NaN}").must == "be a finite number: JSON has no NaN");
}

TEST_CASE("common slips get their own words") {
  check_refusal("{\"tp\": 8,\n}", "json-syntax", 1, 9, ",");
  check_refusal("{\"tp\": True}", "json-syntax", 1, 8, "True");
  check_refusal("{\"tp\": 8 // eight\n}", "json-syntax", 1, 10, "/");
  check_refusal("{\"tp\": 8\n \"pp\": 4}", "json-syntax", 2, 2, "\"pp\"");
  check_refusal("{\"tp\": 8} x", "json-syntax", 1, 11, "x");
  CHECK(refusal("{\"tp\": True}").hint == "try true");
  CHECK(refusal("{\"tp\": 8\n \"pp\": 4}").hint == "put a comma before it");
}

TEST_CASE("columns count characters, not bytes") {
  check_refusal("{\"é\": NaN}", "json-number", 1, 7, "NaN");
}

TEST_CASE("other encodings are named; a UTF-8 byte order mark is harmless") {
  using namespace std::string_view_literals;
  check_refusal("\xFF\xFE{\0}\0"sv, "encoding", 1, 1, "UTF-16 or UTF-32");
  check_refusal("{\0}\0"sv, "encoding", 1, 1, "UTF-16 or UTF-32");
  check_refusal("{\"model\": \"caf\xE9\"}", "encoding", 1, 15, "byte 0xe9");
  check_refusal("{\"model\": \"\xC0\xAF\"}", "encoding", 1, 12, "byte 0xc0");
  check_refusal("{\"tp\": 8}\0x"sv, "encoding", 1, 10, "byte 0x00");
  Issues issues;
  const auto run = load_run_text("\xEF\xBB\xBF{\"tp\": 0}", "run.json", issues);
  REQUIRE(run);
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].column == 8);
}

TEST_CASE("deep nesting is refused at the level that is too much") {
  const std::string deep(200000, '[');
  CHECK(seconds_of([&] { check_refusal(deep, "json-depth", 1, 65, "65 levels or more"); }) < kPatience);
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  CHECK(refusal(objects).rule == "json-depth");
}

TEST_CASE("brackets inside strings do not nest") {
  Issues issues;
  CHECK(load_run_text("{\"_note\": \"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"}",
                      "r.json", issues));
  CHECK(issues.all().empty());
}

TEST_CASE("only an object is a config") {
  check_refusal("[]", "json-root", 1, 1, "an array");
  check_refusal(" 7", "json-root", 1, 2, "7");
}

TEST_CASE("terminal escapes in a file do not reach the message") {
  const Issue issue = refusal("{\"tp\": \x1b[31m}");
  CHECK(issue.got.find('\x1b') == std::string::npos);
}

TEST_CASE("missing file, directory, unreadable size: each says so at once") {
  const Folder folder;
  Issues issues;
  CHECK_FALSE(load_run((folder.path / "none.json").string(), issues));
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].rule == "not-found");

  Issues directory;
  CHECK_FALSE(load_run(folder.path.string(), directory));
  REQUIRE(directory.all().size() == 1);
  CHECK(directory.all()[0].rule == "file-directory");

  const std::string big = folder.file("big.json", "{\"tp\": 8}");
  std::filesystem::resize_file(big, 100'000'000);
  Issues large;
  CHECK(seconds_of([&] { CHECK_FALSE(load_run(big, large)); }) < kPatience);
  REQUIRE(large.all().size() == 1);
  CHECK(large.all()[0].rule == "file-too-large");
  CHECK(large.all()[0].got == "100000000 bytes");
}

TEST_CASE("a folder with a config.json in it gets that hint") {
  const Folder folder;
  folder.file("config.json", "{}");
  Issues issues;
  CHECK_FALSE(load_model(folder.path.string(), issues));
  REQUIRE(issues.all().size() == 1);
  CHECK(issues.all()[0].hint == "try " + (folder.path / "config.json").string());
}

TEST_CASE("the largest legal file of mistakes still answers in a second") {
  std::string keys = "{";
  for (int i = 0; keys.size() < 4'000'000; ++i) keys += "\"k" + std::to_string(i) + "\":1,";
  keys += "\"z\":1}";
  Issues issues;
  CHECK(seconds_of([&] { load_run_text(keys, "run.json", issues); }) < kPatience);
  CHECK(issues.all().size() <= 51);
  CHECK(issues.has_errors());
}
