// must: cannot convert|no viable conversion
#include "trainplan/base/quantity.hpp"

using namespace trainplan;

double number = Bytes<>{5.0};
