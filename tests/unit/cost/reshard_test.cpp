#include "trainplan/cost/reshard.hpp"

#include <array>

#include "catch.hpp"

using namespace trainplan;

TEST_CASE("twice as many ranks read halves of the old shards, even ones the first half") {
  for (std::int64_t r = 0; r < 8; ++r) {
    const auto sources = row_sources(12288, 4, 8, r);
    REQUIRE(sources.size() == 1);
    CHECK(sources[0].rank == r / 2);
    CHECK(static_cast<double>(sources[0].rank) ==
          source_shard(Count<>{static_cast<double>(r)}, Count<>{4}, Count<>{8}).num());
    CHECK(sources[0].rows == RowRange{r * 1536, (r + 1) * 1536});
    CHECK(sources[0].rows.begin % 3072 == (r % 2 == 0 ? 0 : 1536));
  }
}

TEST_CASE("any change of the parts covers every row once, in order") {
  for (const auto& [rows, before, now] : {std::array<std::int64_t, 3>{12288, 128, 120},
                                          {10, 3, 4},
                                          {7, 7, 2},
                                          {5, 8, 3},
                                          {4096, 1, 16},
                                          {100, 16, 15}}) {
    std::int64_t next = 0;
    for (std::int64_t r = 0; r < now; ++r) {
      const RowRange wanted = rows_of(rows, now, r);
      for (const RowSource& s : row_sources(rows, before, now, r)) {
        CHECK(s.rows.begin == next);
        CHECK(s.rows.count() > 0);
        const RowRange held = rows_of(rows, before, s.rank);
        CHECK((held.begin <= s.rows.begin && s.rows.end <= held.end));
        next = s.rows.end;
      }
      CHECK(next == std::max(next, wanted.end));
    }
    CHECK(next == rows);
  }
}

TEST_CASE("parts that do not divide leave the last ranks shorter or empty") {
  CHECK(rows_of(12288, 120, 0) == RowRange{0, 103});
  CHECK(rows_of(12288, 120, 119) == RowRange{12257, 12288});
  CHECK(rows_of(5, 8, 7) == RowRange{5, 5});
  CHECK(row_sources(5, 3, 8, 7).empty());
}
