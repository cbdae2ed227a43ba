/// Wrong on purpose: a lower layer includes a higher one, a library and a stream.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

#include "trainplan/cost/memory.hpp"
