// A schedule found at one size, carried over to all sizes.
//
//   i in range(128):  v1, v2 = sample_perfect_tile(i, n=2, decision=[32, 4])
//   i in range(n):    v1, v2 = sample_perfect_tile(i, n=2, decision=[-1, 4])
//
// What a step chose for a loop of known extent stays for one of symbolic
// extent, but for the outermost factor, which is as large as it has to be.
#ifndef KILN_SCHEDULE_TRACE_CARRY_OVER_H_
#define KILN_SCHEDULE_TRACE_CARRY_OVER_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/schedule/trace/state.h"
#include "kiln/schedule/trace/trace.h"

namespace kiln {

struct CarriedOver {
  Trace trace;  // leads from the start to the state
  State state;
};

// `trace` is of the function at `start` with numbers for its symbolic
// dimensions. The error is the refusal of a step.
absl::StatusOr<CarriedOver> CarryOver(const Trace& trace, const State& start);

// The same for a trace as text (print.h) of a function in `at_size`, which is
// `module` with numbers for the dimensions.
absl::StatusOr<CarriedOver> CarryOver(const std::string& trace,
                                      const Module& at_size,
                                      const Module& module);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_CARRY_OVER_H_
