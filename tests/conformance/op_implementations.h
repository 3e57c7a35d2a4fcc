// Which tensor functions a recorded pass put in place of others, and in which
// layouts.
#ifndef KILN_TESTS_CONFORMANCE_OP_IMPLEMENTATIONS_H_
#define KILN_TESTS_CONFORMANCE_OP_IMPLEMENTATIONS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// `before`, with the functions that `after` has besides in place of those of
// the same op.
absl::StatusOr<Module> AlterOpImplAsIn(const Module& before,
                                       const Module& after);

}  // namespace kiln

#endif  // KILN_TESTS_CONFORMANCE_OP_IMPLEMENTATIONS_H_
