/// Independent pieces of work on several threads.
#pragma once

#include "trainplan/search/search.hpp"

namespace trainplan {

/// Runs the pieces on so many threads, the calling one among them; 0 means as many as the machine has. What a
/// piece throws is thrown again when all are done.
ForAll on_threads(unsigned threads);

}  // namespace trainplan
