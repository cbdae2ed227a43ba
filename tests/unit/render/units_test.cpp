#include <limits>
#include <string>

#include "catch.hpp"
#include "trainplan/render/render.hpp"

using namespace trainplan;

namespace {

/// A value as a sentence of a report shows it.
std::string shown(double number, Unit unit) {
  Report r{"test", "t", Verdict::None, {}, {}};
  Section s{"s", "", {}};
  s.blocks.push_back(Notes{"n", {{Value{number, unit}}}});
  r.sections.push_back(std::move(s));
  const std::string text = render(r, Format::Text, Style{});
  const std::size_t at = text.rfind("- ") + 2;
  return text.substr(at, text.size() - at - 1);
}

/// A number with its range, likewise.
std::string shown(const Estimate& e) {
  Report r{"test", "t", Verdict::None, {e}, {}};
  const std::string text = render(r, Format::Markdown, Style{});
  const std::size_t at = text.rfind("\n\n") + 2;
  return text.substr(at, text.size() - at - 1);
}

constexpr double kGiB = 1024.0 * 1024 * 1024, kHour = 3600, kDay = 24 * kHour;

}  // namespace

TEST_CASE("memory is binary, with two decimals below ten and one above") {
  CHECK(shown(14.06 * kGiB, Unit::Memory) == "14.06 GiB");
  CHECK(shown(0.79 * kGiB, Unit::Memory) == "0.79 GiB");
  CHECK(shown(0.1 * kGiB, Unit::Memory) == "0.10 GiB");
  CHECK(shown(0.05 * kGiB, Unit::Memory) == "51.20 MiB");
  CHECK(shown(9.996 * kGiB, Unit::Memory) == "10.00 GiB");
  CHECK(shown(2048 * kGiB, Unit::Memory) == "2.00 TiB");
  CHECK(shown(2048, Unit::Memory) == "2.00 KiB");
  CHECK(shown(12, Unit::Memory) == "12 B");
  CHECK(shown(0, Unit::Memory) == "0 B");
  CHECK(shown(-3 * kGiB, Unit::Memory) == "-3.00 GiB");
  CHECK(shown(42.5 * kGiB, Unit::MemoryBoth) == "42.50 GiB (45.63 GB)");
}

TEST_CASE("traffic is decimal") {
  CHECK(shown(300.6e9, Unit::Traffic) == "300.6 GB");
  CHECK(shown(2.147e9, Unit::Traffic) == "2.15 GB");
  CHECK(shown(999.96e9, Unit::Traffic) == "1.00 TB");
  CHECK(shown(75e6, Unit::Traffic) == "75.00 MB");
}

TEST_CASE("times from nanoseconds to days") {
  CHECK(shown(1.8573, Unit::Time) == "1.86 s");
  CHECK(shown(0.17604, Unit::Time) == "176 ms");
  CHECK(shown(3660, Unit::Time) == "61 min");
  CHECK(shown(3.05 * kHour, Unit::Time) == "3.05 h");
  CHECK(shown(24.61803 * kDay, Unit::Time) == "24.6 days");
  CHECK(shown(90, Unit::Time) == "90 s");
  CHECK(shown(119.9999, Unit::Time) == "2.00 min");
  CHECK(shown(2.5e-5, Unit::Time) == "25 us");
  CHECK(shown(3e-9, Unit::Time) == "3 ns");
  CHECK(shown(0, Unit::Time) == "0 s");
}

TEST_CASE("shares are percent, and a round one stays round") {
  CHECK(shown(0.046875, Unit::Share) == "4.7 %");
  CHECK(shown(0.3, Unit::Share) == "30 %");
  CHECK(shown(0.00068, Unit::Share) == "0.068 %");
  CHECK(shown(0.00734, Unit::Share) == "0.73 %");
  CHECK(shown(1, Unit::Share) == "100 %");
  CHECK(shown(0, Unit::Share) == "0 %");
  CHECK(shown(-0.0469, Unit::Share) == "-4.7 %");
  CHECK(shown(0.14, Unit::Points) == "14.0 points");
  CHECK(shown(0.0004, Unit::Points) == "0.040 points");
  CHECK(shown(0.00548, Unit::Points) == "0.55 points");
  CHECK(shown(0.00994, Unit::Points) == "0.99 points");
  CHECK(shown(0.00996, Unit::Points) == "1.0 points");
  CHECK(shown(0, Unit::Points) == "0 points");
}

TEST_CASE("rates and amounts of computation take a prefix") {
  CHECK(shown(449.2e9, Unit::FlopsPerToken) == "449.2 GFLOP/token");
  CHECK(shown(449.2413e9, Unit::FlopsPerToken) == "449 GFLOP/token");
  CHECK(shown(449.2413e9, Unit::Flops) == "449 GFLOP");
  CHECK(shown(1.2e26, Unit::Flops) == "120 YFLOP");
  CHECK(shown(3.8e21, Unit::Flops) == "3.8 ZFLOP");
  CHECK(shown(989e12, Unit::FlopRate) == "989 TFLOP/s");
  CHECK(shown(1979e12, Unit::FlopRate) == "1.979 PFLOP/s");
  CHECK(shown(450e9, Unit::ByteRate) == "450 GB/s");
  CHECK(shown(3350e9, Unit::ByteRate) == "3.35 TB/s");
  CHECK(shown(6.375, Unit::BytesPerParam) == "6.375 B/param");
}

TEST_CASE("counts, parameters and tokens") {
  CHECK(shown(70553706496, Unit::Params) == "70.55 B");
  CHECK(shown(8192, Unit::Params) == "8,192");
  CHECK(shown(4194304, Unit::Tokens) == "4,194,304");
  CHECK(shown(15e12, Unit::Tokens) == "15.0 T");
  CHECK(shown(1.0384e6, Unit::TokenRate) == "1.04 M token/s");
  CHECK(shown(12345.6, Unit::TokenRate) == "12,346 token/s");
  CHECK(shown(16384, Unit::Count) == "16,384");
  CHECK(shown(1000, Unit::Count) == "1,000");
  CHECK(shown(999, Unit::Count) == "999");
  CHECK(shown(-1234567, Unit::Count) == "-1,234,567");
  CHECK(shown(4.75, Unit::Count) == "4.75");
  CHECK(shown(3.14159265, Unit::Count) == "3.142");
  CHECK(shown(1.5e-7, Unit::Count) == "1.5e-7");
}

TEST_CASE("money and GPU time") {
  CHECK(shown(2.5 / kHour, Unit::UsdPerHour) == "2.50 USD/h");
  CHECK(shown(2560 / kHour, Unit::UsdPerHour) == "2,560 USD/h");
  CHECK(shown(61440, Unit::Usd) == "61,440 USD");
  CHECK(shown(12.345, Unit::Usd).substr(0, 4) == "12.3");
  CHECK(shown(3.6e9, Unit::Energy) == "1 MWh");
  CHECK(shown(0.0107819, Unit::FineShare) == "1.08 %");
  CHECK(shown(0.98932, Unit::FineShare) == "98.9 %");
  CHECK(shown(512 * kHour, Unit::GpuTime) == "512 GPU-h");
  CHECK(shown(30.84e6 * kHour, Unit::GpuTime) == "30.84 M GPU-h");
}

TEST_CASE("what is not finite is said in words") {
  CHECK(shown(std::numeric_limits<double>::infinity(), Unit::Time) == "not finite");
  CHECK(shown(std::numeric_limits<double>::quiet_NaN(), Unit::Count) == "not finite");
}

TEST_CASE("times of a step are seconds, days are days") {
  CHECK(shown(0.69, Unit::StepTime) == "0.69 s");
  CHECK(shown(0.6973, Unit::StepTime) == "0.70 s");
  CHECK(shown(6.2, Unit::StepTime) == "6.20 s");
  CHECK(shown(0.0123, Unit::StepTime) == "0.012 s");
  CHECK(shown(0.01354, Unit::StepTime) == "0.014 s");
  CHECK(shown(-0.01, Unit::StepTime) == "-0.01 s");
  CHECK(shown(0, Unit::StepTime) == "0.00 s");
  CHECK(shown(61714.3, Unit::Days) == "0.714 days");
  CHECK(shown(86400, Unit::Days) == "1 day");
}

TEST_CASE("a range drops the unit that it shares with its number") {
  CHECK(shown(Estimate{{4.9, Unit::Time}, 4.5, 5.4, 0.8}) == "4.9 s (4.5 ... 5.4, 80 %)");
  CHECK(shown(Estimate{{0.99, Unit::Time}, 0.9, 1.1, 0.8}) == "990 ms (900 ms ... 1.1 s, 80 %)");
  CHECK(shown(Estimate{{42 * kGiB, Unit::Memory}, 40 * kGiB, 50 * kGiB, 0.9}) ==
        "42.00 GiB (40.00 ... 50.00, 90 %)");
  CHECK(shown(Estimate{{961431, Unit::TokenRate}, 843360, 1.11e6, 0.8}) ==
        "961,431 token/s (843,360 ... 1.11 M, 80 %)");
  CHECK(shown(Estimate{{0.42, Unit::Share}, 0.375, 0.49, 0.8}) == "42 % (37.5 ... 49, 80 %)");
}

TEST_CASE("a range in JSON: the number, its ends and the confidence") {
  Report r{"test", "t", Verdict::None, {}, {}};
  r.sections.push_back(
      {"s", "", {Facts{"f", {{"step", "step", Estimate{{4.9, Unit::Time}, 4.5, 5.4, 0.8}, "", ""}}}}});
  const std::string json = render(r, Format::Json, Style{});
  CHECK(json.find("\"step_seconds\": 4.9,") != std::string::npos);
  CHECK(json.find("\"step_range_seconds\": [4.5, 5.4],") != std::string::npos);
  CHECK(json.find("\"step_confidence\": 0.8") != std::string::npos);
}
