// The order in which float reductions take their terms.
#ifndef KILN_SCHEDULE_ANALYSIS_SUM_ORDER_H_
#define KILN_SCHEDULE_ANALYSIS_SUM_ORDER_H_

#include <string_view>

#include "absl/status/status.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether each float reduction of `after`, which `primitive` made of `before`,
// takes the terms of an element in the order of before; else a refusal that
// names the block. Told apart by the digits of reduction iterators, outermost
// first, and, of blocks with new ids, by the names of these. Where the order
// cannot be told (bindings that are no sums of digits of loops), the loops
// around the block have to be the same ones.
absl::Status CheckSumOrder(const Function& before, const Function& after,
                           std::string_view primitive);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_SUM_ORDER_H_
