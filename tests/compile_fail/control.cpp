// must: compile
// The right way of everything that the other files get wrong.
#include "trainplan/base/quantity.hpp"
#include "trainplan/spec/checked.hpp"
#include "trainplan/spec/model.hpp"
#include "trainplan/spec/validate.hpp"

using namespace trainplan;

auto sum = Bytes<>{2.0} + Bytes<>{3.0};
auto params = Params<>{2.0} + as<kParams>(Tokens<>{3.0});
Bytes<> bytes{5.0};
auto work = FlopsPerToken<>{6.0} * Tokens<>{4.0} + Flops<>{1.0};

std::optional<Checked<ModelSpec>> checked(Issues& issues) { return Checked<ModelSpec>::make(ModelSpec{}, issues); }
