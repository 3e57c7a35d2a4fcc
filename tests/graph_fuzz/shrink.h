// Random modules made short while they fail in the same way.
#ifndef KILN_TESTS_GRAPH_FUZZ_SHRINK_H_
#define KILN_TESTS_GRAPH_FUZZ_SHRINK_H_

#include <string>

#include "absl/status/status.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {

// Takes lines out of `text`, and results out of its functions, while `check`
// fails with the same words ahead of the first colon.
std::string ShrinkGraphProgram(
    const std::string& text,
    FunctionRef<absl::Status(const std::string&)> check);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_SHRINK_H_
