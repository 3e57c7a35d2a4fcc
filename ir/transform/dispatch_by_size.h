// Several schedules of one function, each for calls of some sizes.
//
//   n up to 16: A     n up to 90: B     more: C
//
// becomes
//
//   if n <= 16: A
//   elif n <= 90: B
//   else: C
#ifndef KILN_IR_TRANSFORM_DISPATCH_BY_SIZE_H_
#define KILN_IR_TRANSFORM_DISPATCH_BY_SIZE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct SizeVariant {
  Function scheduled;
  // Of the product of the symbolic dimensions; not used of the last variant.
  int64_t at_most = std::numeric_limits<int64_t>::max();
};

// What a scheduled function prepares of constant arguments
// (ir/tensor/layout_free.h), as text that is the same for equal preparations;
// "" for none.
std::string PreparationText(const Function& f);

// One function for all sizes, of variants with ascending bounds that are
// schedules of one function: they share its parameters and dimensions. What is
// prepared of constant arguments stands outside of the branches, once.
// kInvalidArgument where the variants do not prepare the same, or there are
// none.
absl::StatusOr<Function> DispatchBySize(
    const std::vector<SizeVariant>& variants);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_DISPATCH_BY_SIZE_H_
