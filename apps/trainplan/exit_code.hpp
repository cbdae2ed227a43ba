/// Exit statuses of the program; part of its interface.
#pragma once

namespace trainplan {

enum ExitCode : int {
  Fits = 0,        // the plan fits, the check passed, the answer was printed
  DoesNotFit = 1,  // the plan does not fit, or a limit is broken
  BadInput = 2,    // the input or the command line is wrong, or the output cannot be written
  Defect = 3,      // a mistake of the program itself
  Interrupted = 130,
};

}  // namespace trainplan
