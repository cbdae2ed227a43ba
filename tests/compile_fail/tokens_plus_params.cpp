// must: no match for 'operator\+'|invalid operands to binary expression
#include "trainplan/base/quantity.hpp"

using namespace trainplan;

auto sum = Params<>{2.0} + Tokens<>{3.0};
