// The lowered form: what code generators may rely on.
#ifndef KILN_CODEGEN_LOWER_VERIFY_LOWERED_H_
#define KILN_CODEGEN_LOWER_VERIFY_LOWERED_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Gives `f` back if it is in the lowered form, else an INTERNAL error that
// names what is not. In the lowered form
//  - statements are serial and parallel loops (no parallel one in another),
//    Seq, Store, If, Let, Allocate and Evaluate; there are no blocks;
//  - every buffer, parameters included, has one dimension, no strides and no
//    offset; a load or store has one index: a scalar int64, or a vector of
//    int64, of which Ramp(base, 1, lanes) is contiguous;
//  - the value of a store has as many lanes as its index (times those of the
//    buffer's elements); conditions of If and bounds of loops are scalars;
//  - every variable and every buffer is declared around its use: by a
//    parameter, a symbolic dimension, a loop, a Let or an Allocate. Disjoint
//    scopes may declare the same one.
absl::StatusOr<Function> VerifyLowered(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_VERIFY_LOWERED_H_
