// Loads whatever libFuzzer makes up: cmake --workflow --preset fuzz, then
// build/fuzz/tests/fuzz_load -max_total_time=600 found tests/fuzz/corpus
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "corpus.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  const std::string why = fuzz::broken_claim(std::string_view(input));
  if (why.empty()) return 0;
  std::fprintf(stderr, "%s\n", why.c_str());
  std::abort();
}
