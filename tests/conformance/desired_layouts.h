// What layouts a recorded pass gave convolutions.
#ifndef KILN_TESTS_CONFORMANCE_DESIRED_LAYOUTS_H_
#define KILN_TESTS_CONFORMANCE_DESIRED_LAYOUTS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before`, with its convolutions in the layouts of the first one of each op in
// `after` that is not as in `before`.
absl::StatusOr<Module> ConvertLayoutAsIn(const Module& before,
                                         const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_DESIRED_LAYOUTS_H_
