// must: no match for 'operator\+'|invalid operands to binary expression
#include "trainplan/base/quantity.hpp"

using namespace trainplan;

auto sum = Bytes<>{2.0} + Seconds<>{3.0};
