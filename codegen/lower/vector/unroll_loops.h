#ifndef KILN_CODEGEN_LOWER_VECTOR_UNROLL_LOOPS_H_
#define KILN_CODEGEN_LOWER_VECTOR_UNROLL_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Repeats the bodies of unrolled loops, and brings all index expressions into
// the normal form of linear.h with the values of the iteration folded in.
// Loops of one iteration go.
//
// Unrolled: loops of kind unrolled and constant extent; and serial loops of
// constant extent that hold no loop that stays and whose stores and calls,
// repeated, are at most kImplicitSteps (base/lowering_policy.h; none where `f`
// is not automatic, ir/tensor/automatic.h), or at most what the annotation
// `pragma_auto_unroll_max_step` on them or around them says. The value of
// `pragma_unroll_explicit` makes no difference: nothing later unrolls. Of a
// serial loop that stays, whose body is a few stores, several iterations become
// one (kStepsSideBySide; not where `f` is not automatic).
absl::StatusOr<Function> UnrollLoops(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_UNROLL_LOOPS_H_
