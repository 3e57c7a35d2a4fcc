#ifndef KILN_CODEGEN_LOWER_BLOCKS_CHECK_LOOPS_H_
#define KILN_CODEGEN_LOWER_BLOCKS_CHECK_LOOPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Refuses what this pipeline cannot lower: loops bound to threads of a device,
// and a parallel loop inside another one (the message names both).
absl::StatusOr<Function> CheckLoops(Function f);

}  // namespace kiln

#endif  // KILN_CODEGEN_LOWER_BLOCKS_CHECK_LOOPS_H_
