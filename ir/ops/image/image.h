// The parts of the family of images, and how pixels between pixels are read.
#ifndef KILN_IR_OPS_IMAGE_IMAGE_H_
#define KILN_IR_OPS_IMAGE_IMAGE_H_

#include <vector>

#include "absl/types/span.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/op.h"

namespace kiln {

// A pixel along one axis and how much it counts.
struct Tap {
  Expr index;   // an Index, anywhere
  Expr weight;  // null: 1
};

// The pixels around a place, which is a float: floor and the one behind; and
// the four of a cubic spline with this parameter.
std::vector<Tap> LinearTaps(const Expr& place);
std::vector<Tap> CubicTaps(const Expr& place, double alpha);

// The sum over all combinations of taps, one of each axis.
Expr SumOfTaps(const std::vector<std::vector<Tap>>& axes,
               FunctionRef<Expr(const std::vector<Expr>&)> pixel);

// `index` brought into 0 to extent - 1.
Expr ClampedIndex(const Expr& index, const Expr& extent);

absl::Span<const OpRow> ResizeOps();
absl::Span<const OpRow> GridOps();

}  // namespace kiln

#endif  // KILN_IR_OPS_IMAGE_IMAGE_H_
