// What recorded mixed precision was asked for.
#ifndef KILN_TESTS_CONFORMANCE_PRECISION_OPTIONS_H_
#define KILN_TESTS_CONFORMANCE_PRECISION_OPTIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before` in mixed precision, with sums of the type and float16 parameters
// that `after` has. A result that is annotated with another shape than it has,
// which some recorded modules have, is found by inference.
absl::StatusOr<Module> MixPrecisionAsIn(const Module& before,
                                        const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_PRECISION_OPTIONS_H_
