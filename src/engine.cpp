#include "trainplan/cost/plan_cost.hpp"

namespace trainplan {

TRAINPLAN_ENGINE(, Eval)
TRAINPLAN_ENGINE(, Explain)

}  // namespace trainplan
