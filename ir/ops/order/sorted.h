// Elements of an axis in order. Internal to ir/ops/order.
#ifndef KILN_IR_OPS_ORDER_SORTED_H_
#define KILN_IR_OPS_ORDER_SORTED_H_

#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// Adds what sorts the places along `axis` of `x` by its elements, and gives a
// tensor like x that holds them, of int64: the k-th of an axis is the place of
// the k-th element. Equal elements stay in their order; NaN counts as larger
// than all numbers. n elements take about n * log2(n)^2 / 4 comparisons.
Buffer AddSortedPlaces(const te::Tensor& x, int axis, bool is_descending,
                       NestBuilder& builder);

}  // namespace kiln

#endif  // KILN_IR_OPS_ORDER_SORTED_H_
