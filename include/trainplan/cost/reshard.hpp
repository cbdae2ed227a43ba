/// Loading a checkpoint onto another layout: which rows a rank needs and whose they were.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trainplan/trace/chapter.hpp"

namespace trainplan {

inline constexpr Formula shard_rows{
    "shard_rows", "rows of a matrix on one rank",
    Source{"pytorch-dcp", "equal parts in order; the last ones are shorter when it does not divide"},
    std::array{Arg{"rows", "n_r", "rows"}, Arg{"parts", "t", "ranks that share them", 1}},
    []<class N>(Count<N> rows, Count<N> parts) { return ceil(rows / parts); }};

inline constexpr Formula source_shard{
    "source_shard", "old rank that holds the first row of a new rank",
    Source{"pytorch-dcp", "global coordinates: floor(r t_old / t_new), when both divide the rows"},
    std::array{Arg{"rank", "r", "new rank"}, Arg{"old", "t_old", "ranks before", 1},
               Arg{"now", "t_new", "ranks now", 1}},
    []<class N>(Count<N> rank, Count<N> old, Count<N> now) { return floor(rank * old / now); }};

/// Rows of a tensor, the last one excluded.
struct RowRange {
  std::int64_t begin = 0, end = 0;

  std::int64_t count() const { return end - begin; }
  friend bool operator==(const RowRange&, const RowRange&) = default;
};

/// Rows of a rank in the whole tensor, as torch.chunk cuts it: parts of ceil(rows / parts), the last ones
/// shorter or empty.
inline RowRange rows_of(std::int64_t rows, std::int64_t parts, std::int64_t rank) {
  const std::int64_t each = (rows + parts - 1) / parts;
  return {std::min(rank * each, rows), std::min((rank + 1) * each, rows)};
}

/// Rows of the whole tensor that an old rank has and a new one needs.
struct RowSource {
  std::int64_t rank = 0;
  RowRange rows;
};

/// What a new rank reads, in the order of the rows.
inline std::vector<RowSource> row_sources(std::int64_t rows, std::int64_t old_parts, std::int64_t new_parts,
                                          std::int64_t rank) {
  const RowRange wanted = rows_of(rows, new_parts, rank);
  std::vector<RowSource> out;
  if (wanted.count() == 0) return out;
  const std::int64_t each = (rows + old_parts - 1) / old_parts;
  for (std::int64_t r = wanted.begin / each; r * each < wanted.end; ++r) {
    const RowRange held = rows_of(rows, old_parts, r);
    out.push_back({r, {std::max(held.begin, wanted.begin), std::min(held.end, wanted.end)}});
  }
  return out;
}

using ReshardFormulas = Chapter<shard_rows, source_shard>;

}  // namespace trainplan
