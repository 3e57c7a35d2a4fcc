// Whether an index takes every value between its least and its greatest.
#ifndef KILN_SCHEDULE_ANALYSIS_DENSE_H_
#define KILN_SCHEDULE_ANALYSIS_DENSE_H_

#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// True when `e` is a sum of multiples of the variables of `loops` (and of what
// stands still), and leaves no gap while the loops run: in order of size, no
// multiple is larger than the stretch that the smaller ones fill. Overlap does
// not matter: i*4 + j is dense for j in [0, 6). Loops of unknown extent count
// as one iteration. False also means "cannot tell", and is the answer where how
// far one of the loops runs depends on another.
bool IsDense(const Expr& e, const std::vector<const ForNode*>& loops);

// The same for the values in [e, e + width).
bool IsDense(const Expr& e, int64_t width,
             const std::vector<const ForNode*>& loops);

}  // namespace kiln

#endif  // KILN_SCHEDULE_ANALYSIS_DENSE_H_
