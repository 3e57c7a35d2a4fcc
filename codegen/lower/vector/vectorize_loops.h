#ifndef KILN_CODEGEN_LOWER_VECTOR_VECTORIZE_LOOPS_H_
#define KILN_CODEGEN_LOWER_VECTOR_VECTORIZE_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/base/machine.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Longer loops become a loop of vectors of this many lanes, and a shorter one.
inline constexpr int64_t kMaxLanes = 64;

// Turns vectorized loops of constant extent into vector operations:
//
//   for v in vectorized(16):               C[ramp(i*16, 1, 16)] =
//     C[i*16 + v] = A[v*2] * B[k]    →       A[ramp(0, 2, 16)] *
//     broadcast(B[k])
//
// Loads and stores get a vector as their index: a ramp where the index is
// affine in the loop variable, else any vector. What does not depend on the
// loop variable stays scalar. A buffer allocated inside gets an element for
// each lane. Of nested vectorized loops the innermost becomes vectors and the
// others unrolled loops.
//
// A statement that has no vector form (a branch that lanes take differently and
// that loads, a loop whose bounds differ, an external call, a store of a vector
// to one element) becomes a serial loop over the lanes, as does the whole loop
// when its iterations are not known to be independent.
absl::StatusOr<Function> VectorizeLoops(Function f,
                                        const Machine& machine = Machine());

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VECTOR_VECTORIZE_LOOPS_H_
