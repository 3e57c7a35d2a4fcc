// The first few elements of an axis in order. Internal to ir/ops/order.
#ifndef KILN_IR_OPS_ORDER_TOP_H_
#define KILN_IR_OPS_ORDER_TOP_H_

#include <cstdint>

#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/te/te.h"

namespace kiln {

// Whether the first k of n elements are found in much fewer comparisons than it
// takes to sort all. So it is taken to be where n is a variable.
bool IsFewOf(int64_t k, const Expr& n);

// Adds what finds the places of the first k elements along `axis` of `x`, in
// the order of AddSortedPlaces (sorted.h), and gives a tensor like x that holds
// them, of int64, with k along the axis. Where n, a variable, turns out to be
// less than k, the places behind the n-th are n. With k <= 2^t, n elements take
// about n * (t^2 / 4 + t) comparisons.
Buffer AddTopPlaces(const te::Tensor& x, int axis, int64_t k,
                    bool is_descending, NestBuilder& builder);

// An element that comes after all others of its type but equal ones: infinity,
// NaN, or an end of the range.
Expr LastInOrder(DType dtype, bool is_descending);

}  // namespace kiln

#endif  // KILN_IR_OPS_ORDER_TOP_H_
