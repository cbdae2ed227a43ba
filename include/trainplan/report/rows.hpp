/// A table whose rows are written one by one, each before the next is known.
#pragma once

#include "trainplan/report/report.hpp"

namespace trainplan {

/// unit: of the numbers of the column, which are all of one; Count where it has words.
struct RowColumn : Column {
  Unit unit = Unit::Count;
};

}  // namespace trainplan
