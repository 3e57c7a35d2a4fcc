#ifndef KILN_CODEGEN_LOWER_UNROLL_LOOPS_H_
#define KILN_CODEGEN_LOWER_UNROLL_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// A function is unrolled to at most this many statements; a loop that would
// pass the limit stays a loop.
inline constexpr int64_t kMaxUnrolledStatements = 4096;

// Repeats the bodies of unrolled loops, and brings all index expressions into
// the normal form of linear.h with the values of the iteration folded in.
// Loops of one iteration go.
//
// Unrolled: loops of kind unrolled and constant extent; and serial loops of
// constant extent inside (or at) a loop annotated with
// `pragma_auto_unroll_max_step`, when they hold no loop that stays and their
// stores and calls, repeated, are at most that many. The value of
// `pragma_unroll_explicit` makes no difference: nothing later unrolls.
absl::StatusOr<Function> UnrollLoops(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_UNROLL_LOOPS_H_
