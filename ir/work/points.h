// Counting the points of a loop nest where conditions hold.
#ifndef KILN_IR_WORK_POINTS_H_
#define KILN_IR_WORK_POINTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln::work_internal {

// An iterator with the values min, ..., min + extent - 1.
struct Iter {
  Var var;
  int64_t min = 0;
  int64_t extent = 1;
};

// Where all `conditions` hold. They are bools over the iterators.
struct Domain {
  std::vector<Iter> iters;
  std::vector<Expr> conditions;
};

// The number of points; nullopt where a condition depends on something else,
// or where conditions tie too many iterators together to try all their values.
// Iterators that no condition ties together are counted apart.
std::optional<double> CountPoints(const Domain& domain);
// The number of points where conditions are left out.
double CountAll(const Domain& domain);

// Elements of a buffer, as all sums of one offset from each set. Those sums
// are all different.
using Offsets = std::vector<std::vector<int64_t>>;
double CountElements(const Offsets& offsets);

// The elements buffer[indices] of all points, in row-major order; nullopt as
// above. Every index is in bounds.
std::optional<Offsets> ElementsAt(const Domain& domain,
                                  const std::vector<Expr>& indices,
                                  const std::vector<int64_t>& shape);

// The number of elements in any of `patterns` of a buffer with so many
// elements; nullopt where it would take too long to mark them.
std::optional<double> CountUnion(std::vector<Offsets> patterns,
                                 double elements);

}  // namespace kiln::work_internal

#endif  // KILN_IR_WORK_POINTS_H_
