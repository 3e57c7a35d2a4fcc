// How a run of the interpreter may be bounded and checked.
#ifndef KILN_IR_INTERP_OPTIONS_H_
#define KILN_IR_INTERP_OPTIONS_H_

#include <cstdint>

namespace kiln {

struct InterpOptions {
  // Loop iterations that a run may take.
  int64_t max_steps = int64_t{1} << 32;
  // Whether reading what nothing wrote is an error. Arguments count as
  // written.
  bool check_uninitialized = true;
  // Runs parallel loops from the last iteration to the first: a legal program
  // gives the same.
  bool reverse_parallel = false;
};

}  // namespace kiln

#endif  // KILN_IR_INTERP_OPTIONS_H_
