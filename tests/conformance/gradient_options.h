// What a recorded gradient was asked for.
#ifndef KILN_TESTS_CONFORMANCE_GRADIENT_OPTIONS_H_
#define KILN_TESTS_CONFORMANCE_GRADIENT_OPTIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before` with the adjoint function that `after` has: of the function, of the
// field of its result and by the variables that the names in `after` tell.
// Tensor functions that `before` lacks are gradients that were registered
// outside of the program: they are taken from `after`.
absl::StatusOr<Module> DifferentiateAsIn(const Module& before,
                                         const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_GRADIENT_OPTIONS_H_
