// must: is private within this context|calling a private constructor
#include "trainplan/spec/checked.hpp"
#include "trainplan/spec/model.hpp"

using namespace trainplan;

Checked<ModelSpec> model{ModelSpec{}};
