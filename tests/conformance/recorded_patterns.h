// Patterns that a recorded pass was given, as far as they follow from what it
// made.
#ifndef KILN_TESTS_CONFORMANCE_RECORDED_PATTERNS_H_
#define KILN_TESTS_CONFORMANCE_RECORDED_PATTERNS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before` with what became the composite functions of `after` fused: the body
// of each, over anything as parameters, is a pattern under the name that the
// function's attribute gives; larger ones come first.
absl::StatusOr<Module> FuseAsIn(const Module& before, const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_RECORDED_PATTERNS_H_
