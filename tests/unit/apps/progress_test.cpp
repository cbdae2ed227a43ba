#include "../../../apps/trainplan/progress.hpp"

#include "catch.hpp"

using namespace trainplan;

TEST_CASE("the line says how far, how fast and how long, and keeps its width") {
  CHECK(progress_line(25, 100, 5, 60) == "[#####..................] 25/100 rows, 5.0 rows/s, 0:15 left");
  CHECK(progress_line(0, 100, 3, 30) == "[.................] 0/100 rows");
  CHECK(progress_line(1, 10'000, 1.5, 40) == "1/10000 rows, 0.7 rows/s, 4:09:59 left");
  CHECK(progress_line(5000, 10'000, 20, 50) == "[####.....] 5000/10000 rows, 250 rows/s, 0:20 left");
  for (int columns = 0; columns < 120; ++columns)
    CHECK(progress_line(123, 4567, 8.9, columns).size() <= static_cast<std::size_t>(columns));
}
