#include "trainplan/io/units.hpp"

#include <cmath>
#include <string_view>

#include "catch.hpp"

using namespace trainplan;

namespace {

struct Good {
  std::string_view text;
  Dim dim;
  double value;
};

constexpr Dim kByteRate = kBytes - kSeconds, kFlopRate = kFlops - kSeconds;

const Good kGood[] = {
    {"300s", kSeconds, 300},
    {"300 s", kSeconds, 300},
    {"5min", kSeconds, 300},
    {"3.05h", kSeconds, 10980},
    {"2 days", kSeconds, 172800},
    {"1d", kSeconds, 86400},
    {"12ms", kSeconds, 0.012},
    {"7 us", kSeconds, 7e-6},
    {"4 hours", kSeconds, 14400},
    {"9 minutes", kSeconds, 540},
    {"1.5 sec", kSeconds, 1.5},
    {"1e3s", kSeconds, 1000},
    {"512 B", kBytes, 512},
    {"1kB", kBytes, 1e3},
    {"1KB", kBytes, 1e3},
    {"1MB", kBytes, 1e6},
    {"80 GB", kBytes, 80e9},
    {"1TB", kBytes, 1e12},
    {"1PB", kBytes, 1e15},
    {"1KiB", kBytes, 1024},
    {"1MiB", kBytes, 1048576},
    {"79.6 GiB", kBytes, 79.6 * 0x1p30},
    {"2TiB", kBytes, 0x1p41},
    {"1PiB", kBytes, 0x1p50},
    {"8 Gbit", kBytes, 1e9},
    {"400 Gbit/s", kByteRate, 50e9},
    {"400Gb/s", kByteRate, 50e9},
    {"200 Gbps", kByteRate, 25e9},
    {"450 GB/s", kByteRate, 450e9},
    {"3.35TB/s", kByteRate, 3.35e12},
    {"1 GiB/s", kByteRate, 0x1p30},
    {"64 B/s", kByteRate, 64},
    {"3.8e25 FLOP", kFlops, 3.8e25},
    {"2 GFLOP", kFlops, 2e9},
    {"120 YFLOP", kFlops, 120e24},
    {"3.8 ZFLOP", kFlops, 3.8e21},
    {"989 TFLOP/s", kFlopRate, 989e12},
    {"989TFLOPS", kFlopRate, 989e12},
    {"1 PFLOPs/s", kFlopRate, 1e15},
    {"30%", kCount, 0.3},
    {"35 %", kCount, 0.35},
    {"8192 tokens", kTokens, 8192},
    {"4Mi-tokens", kTokens, 4194304},
    {"4 Mi tokens", kTokens, 4194304},
    {"15T tokens", kTokens, 15e12},
    {"15B tok", kTokens, 15e9},
    {"8K tokens", kTokens, 8000},
    {"512 sequences", kCount, 512},
    {"70.55B params", kParams, 70.55e9},
    {"7 param", kParams, 7},
    {"18 B/param", kBytes - kParams, 18},
    {"34 B/token", kBytes - kTokens, 34},
    {"4.5e11 FLOP/token", kFlops - kTokens, 4.5e11},
    {"100 USD", kUsd, 100},
    {"5M-USD", kUsd, 5e6},
    {"2.5 USD/h", kUsd - kSeconds, 2.5 / 3600},
    {"2.5 USD/GPU-h", kUsd - kSeconds, 2.5 / 3600},
    {"3/h", Dim{} - kSeconds, 3.0 / 3600},
    {"400000 tokens/s", kTokens - kSeconds, 400000},
    {"8", kCount, 8},
    {"4Ki", kCount, 4096},
    {"2Gi", kCount, 0x1p31},
    {"5K", kCount, 5000},
    {"3T", kCount, 3e12},
    {"+8", kCount, 8},
    {"-5s", kSeconds, -5},
    {" 7 ", kCount, 7},
    {".5", kCount, 0.5},
};
const std::string_view kBad[] = {
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "infinity",
    "1e400",
    "1e308 GB",
    "x",
    "s",
    "GB",
    "5-",
    "5 x",
    "1,000",
    "1_000",
    "1,5",
    "0x10",
    "5 5",
    "5s5",
    "--5",
    "5 GB/",
    "5 /",
    "5 //s",
    "1 G B",
    "5 Ms",
    "5 k",
    "1 BB",
    "5 tokens tokens",
    "8 GB/s/x",
    "1e",
    "5%%",
    "- 5s",
};

}  // namespace

TEST_CASE("quantities in every unit that people write") {
  for (const Good& good : kGood) {
    const Measure m = parse_quantity(good.text);
    CAPTURE(good.text, m.error);
    CHECK(m);
    CHECK(m.dim == good.dim);
    CHECK(m.value == Approx(good.value).epsilon(1e-15));
  }
}

TEST_CASE("a refused quantity says why and what to write") {
  for (const std::string_view text : kBad) {
    if (text == "5 k") continue;  // a multiplier alone is a count
    const Measure m = parse_quantity(text);
    CAPTURE(text, m.value);
    CHECK_FALSE(m);
    CHECK_FALSE(m.hint.empty());
  }
  CHECK(parse_quantity("5 k").value == 5000);
}

TEST_CASE("exact conversions stay exact") {
  CHECK(parse_quantity("30%").value == 0.3);
  CHECK(parse_quantity("400 Gbit/s").value == 50e9);
  CHECK(parse_quantity("989 TFLOP/s").value == 989e12);
  CHECK(parse_quantity("625us").value == 0.000625);
}

TEST_CASE("the expected dimension decides what a lone B means") {
  CHECK(parse_quantity("70.55B", kParams).value == 70.55e9);
  CHECK(parse_quantity("70B", kTokens).value == 70e9);
  CHECK(parse_quantity("70B", kCount).value == 70e9);
  CHECK(parse_quantity("70B", kBytes).value == 70);
  CHECK(parse_quantity("70B").dim == kBytes);
}

TEST_CASE("a bare number has no unit to lose only where there is none") {
  CHECK(parse_quantity("8192", kTokens).value == 8192);
  CHECK(parse_quantity("8e9", kParams).value == 8e9);
  const Measure m = parse_quantity("300", kSeconds);
  CHECK(m.error == "has no unit");
  CHECK(m.hint == "give a time such as 300s, 5min or 3h");
  CHECK_FALSE(parse_quantity("300", kBytes));
  CHECK_FALSE(parse_quantity("3M", kUsd));
}

TEST_CASE("the wrong dimension is named beside the right one") {
  CHECK(parse_quantity("5 GB", kSeconds).error == "is a size, not a time");
  CHECK(parse_quantity("5 GB", kBytes - kSeconds).error == "is a size, not a data rate");
  CHECK(parse_quantity("512 sequences", kTokens).error == "is a number of sequences, not a number of tokens");
  CHECK(parse_quantity("30%", kTokens).error == "is a percentage, not a number of tokens");
  CHECK(parse_quantity("1 B/param", kBytes).error == "is a width per parameter, not a size");
  CHECK(parse_quantity("x", kFlops - kSeconds).hint == "give a compute rate such as 989 TFLOP/s");
}

TEST_CASE("watts are a number of their own") {
  CHECK(parse_power("700 W").value == 700);
  CHECK(parse_power("1.2 kW").value == 1200);
  CHECK(parse_quantity("700 W").word == UnitWord::Watts);
  CHECK(parse_quantity("700 W", kCount).error == "is a power, not a number");
  CHECK_FALSE(parse_power("700"));
  CHECK_FALSE(parse_power("700 GB"));
  CHECK_FALSE(parse_power("700 W/s"));
}

TEST_CASE("every dimension has an example that can be read back") {
  const Dim dims[] = {kCount,
                      kBytes,
                      kFlops,
                      kSeconds,
                      kTokens,
                      kParams,
                      kUsd,
                      kByteRate,
                      kFlopRate,
                      kTokens - kSeconds,
                      kBytes - kParams,
                      kBytes - kTokens,
                      kFlops - kTokens,
                      kUsd - kSeconds,
                      Dim{} - kSeconds};
  for (const Dim dim : dims) {
    const std::string example = example_of(dim);
    const std::size_t from = example.find("such as ") + 8;
    const std::string first = example.substr(from, example.find_first_of(",", from) - from);
    const Measure m = parse_quantity(first.substr(0, first.find(" or ")), dim);
    CAPTURE(example, m.error);
    CHECK(m);
  }
}
