// What is compiled in is what lies in configs/, byte for byte.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "trainplan/io/shipped.hpp"

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> config_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(TRAINPLAN_ROOT "/configs"))
    if (entry.path().extension() == ".json" || entry.path().extension() == ".csv")
      files.push_back(entry.path());
  return files;
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("every file of configs/ is shipped unchanged") {
  const auto files = config_files();
  CHECK(files.size() == trainplan::shipped().size());
  for (const auto& path : files) {
    INFO(path);
    const auto kind = path.parent_path().filename().string();
    const auto name = (path.extension() == ".json" ? path.stem() : path.filename()).string();
    const auto all = trainplan::shipped();
    const auto it =
        std::ranges::find_if(all, [&](const auto& s) { return s.kind == kind && s.name == name; });
    REQUIRE(it != all.end());
    CHECK(it->text == text_of(path));
  }
}

TEST_CASE("shipped files are sorted by kind, then name") {
  CHECK(std::ranges::is_sorted(trainplan::shipped(), {},
                               [](const auto& s) { return std::pair(s.kind, s.name); }));
}
