// Wrong on purpose: render and io do not see each other.
#include "trainplan/io/load.hpp"
