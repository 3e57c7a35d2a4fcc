// What a recorded pass bound parameters and dimensions to.
#ifndef KILN_TESTS_CONFORMANCE_BOUND_VALUES_H_
#define KILN_TESTS_CONFORMANCE_BOUND_VALUES_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before`, with the first function's parameters that `after` lacks bound to
// the constants that `after` has, in order (where `binds_params`), and the
// dimensions that `after` knows to be constants bound to those.
absl::StatusOr<Module> BindAsIn(const Module& before, const Module& after,
                                bool binds_params);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_BOUND_VALUES_H_
