// The regions that an expression reads.
#ifndef KILN_IR_TE_REGION_H_
#define KILN_IR_TE_REGION_H_

#include <vector>

#include "kiln/ir/tensor/stmt.h"

namespace kiln::te {

// For each buffer that `e` loads, in order of first appearance, the box of all
// its loads. Indices of one dimension that differ by constants give the range
// between them; others, and those that depend on loads, the whole dimension.
std::vector<BufferRegion> ReadRegions(const Expr& e);

}  // namespace kiln::te

#endif  // KILN_IR_TE_REGION_H_
