#include "../../../apps/trainplan/ordered_rows.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"

using namespace trainplan;

namespace {

std::string row(std::size_t i) { return std::to_string(i) + "\n"; }

std::string rows_until(std::size_t n) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += row(i);
  return out;
}

}  // namespace

TEST_CASE("rows that come in any order are written in theirs, as soon as they can be") {
  std::string out;
  OrderedRows rows([&](std::string_view text) { return out += text, true; });
  rows.put(2, row(2));
  rows.put(1, row(1));
  CHECK(out.empty());
  CHECK(rows.written() == 0);
  rows.put(0, row(0));
  CHECK(out == rows_until(3));
  rows.put(4, row(4));
  CHECK(out == rows_until(3));
  CHECK(rows.written() == 3);
  rows.put(3, row(3));
  CHECK(out == rows_until(5));
}

TEST_CASE("after a failed write nothing is written and every caller hears of it") {
  std::string out;
  OrderedRows rows([&](std::string_view text) {
    if (!out.empty()) return false;
    out += text;
    return true;
  });
  CHECK(rows.put(0, row(0)));
  CHECK_FALSE(rows.put(1, row(1)));
  CHECK_FALSE(rows.put(2, row(2)));
  CHECK(rows.stopped());
  CHECK(rows.written() == 1);
  CHECK(out == rows_until(1));
}

TEST_CASE("rows that have waited for one another are kept up to the one that could not be written") {
  std::string out;
  OrderedRows rows([&](std::string_view text) {
    if (text == row(2)) return false;
    out += text;
    return true;
  });
  CHECK(rows.put(3, row(3)));
  CHECK(rows.put(2, row(2)));
  CHECK(rows.put(1, row(1)));
  CHECK_FALSE(rows.put(0, row(0)));
  CHECK(rows.written() == 2);
  CHECK(out == rows_until(2));
}

TEST_CASE("who is far ahead waits, and is let go when writing is given up") {
  std::string out;
  OrderedRows rows([&](std::string_view text) { return out += text, true; }, 2);
  std::atomic<bool> done{false}, taken{true};
  {
    const std::jthread ahead([&] {
      taken = rows.put(2, row(2));
      done = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(done);
    rows.put(0, row(0));
  }
  CHECK(taken);
  CHECK(out == rows_until(1));
  {
    const std::jthread further([&] { taken = rows.put(9, row(9)); });
    rows.give_up();
  }
  CHECK_FALSE(taken);
  CHECK(out == rows_until(1));
}

TEST_CASE("several threads that take rows in order give the same text as one") {
  constexpr std::size_t kRows = 2000;
  std::string out;
  OrderedRows rows([&](std::string_view text) { return out += text, true; }, 8);
  std::atomic<std::size_t> next{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (std::size_t i = next++; i < kRows; i = next++) {
          if (random() % 8 == 0) std::this_thread::yield();
          rows.put(i, row(i));
        }
      });
  }
  CHECK(out == rows_until(kRows));
  CHECK(rows.written() == kRows);
}
