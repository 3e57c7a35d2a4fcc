// Whether blocks touch what they say. Internal to ir/verify.
#ifndef KILN_IR_VERIFY_REGIONS_H_
#define KILN_IR_VERIFY_REGIONS_H_

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln::verify_internal {

// Refuses a function with a block whose reads and writes are not known to hold
// all that it touches; see verify.h for the rule. `f` is well formed and its
// accesses are in bounds.
absl::Status CheckRegions(const Function& f);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_REGIONS_H_
