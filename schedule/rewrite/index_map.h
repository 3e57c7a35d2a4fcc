// Maps from indices to indices: how a layout is described.
//
//   lambda i, j: (j // 16, i, j % 16)
#ifndef KILN_SCHEDULE_REWRITE_INDEX_MAP_H_
#define KILN_SCHEDULE_REWRITE_INDEX_MAP_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

struct IndexMap {
  std::vector<Var> inputs;
  std::vector<Expr> outputs;  // over the inputs
};

// Whether each output is the input at its place.
bool IsIdentity(const IndexMap& map);

// The outputs where the inputs are `indices`, simplified with what `analyzer`
// knows. An output that is one input alone gives that index untouched. There
// are as many indices as inputs.
std::vector<Expr> MapIndices(const IndexMap& map,
                             const std::vector<Expr>& indices,
                             Analyzer* analyzer);

// The extents of the smallest box from 0 that holds the outputs while the
// inputs run through `shape`. InvalidArgument where an output may be negative,
// has no bound or names a variable that is no input.
absl::StatusOr<std::vector<Expr>> MapShape(const IndexMap& map,
                                           const std::vector<Expr>& shape);

// The smallest box found that holds the outputs on the box `region`.
std::vector<Range> MapRanges(const IndexMap& map,
                             const std::vector<Range>& region,
                             Analyzer* analyzer);

// The way back from a point of the mapped box.
struct IndexMapInverse {
  std::vector<Expr> inputs;  // over the points
  Expr is_padding;           // a bool: the point is not in the image
};

// Inverts `map` over `shape` at `points`, one variable for each output.
// FailedPrecondition where two inputs may have the same outputs, or the
// inverse was not found. Understands outputs of the form (e + c) // a % b that
// take an index e apart into digits, where all e together are inputs or fused
// inputs, and anything that is bijective and affine.
absl::StatusOr<IndexMapInverse> InvertIndexMap(const IndexMap& map,
                                               const std::vector<Expr>& shape,
                                               const std::vector<Var>& points);
// The same where MapShape(map, shape) is known to be `extents`.
absl::StatusOr<IndexMapInverse> InvertIndexMap(const IndexMap& map,
                                               const std::vector<Expr>& shape,
                                               const std::vector<Expr>& extents,
                                               const std::vector<Var>& points);

}  // namespace kiln

#endif  // KILN_SCHEDULE_REWRITE_INDEX_MAP_H_
