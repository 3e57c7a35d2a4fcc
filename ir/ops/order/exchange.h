// Comparisons that put rows in order side by side. Internal to ir/ops/order.
#ifndef KILN_IR_OPS_ORDER_EXCHANGE_H_
#define KILN_IR_OPS_ORDER_EXCHANGE_H_

#include <cstdint>
#include <vector>

#include "kiln/ir/ops/nest_builder.h"
#include "kiln/ir/te/te.h"

namespace kiln {

inline constexpr int64_t kLanes = 16;  // rows side by side, at most

// Elements of rows with their places, of [group, place, lane]: the rows of a
// group are the lanes of vectors.
struct SideBySide {
  Buffer keys, places;
  int64_t lanes = kLanes;
  bool is_descending = false;

  // Puts the elements at `i` and at `other` in order, in all rows of a group.
  // Equal elements are in the order of their places, and NaN is larger than all
  // numbers.
  Stmt Exchange(NestBuilder& builder, const Expr& group, const Expr& i,
                const Expr& other) const;

  // Adds a tensor of `shape`, of int64, with the first places of each row along
  // `axis`; rows are counted in row-major order of the other axes.
  Buffer PlacesOfRows(NestBuilder& builder, const std::vector<Expr>& shape,
                      int axis) const;
};

// The element at `place` of a row along `axis`; rows are counted in row-major
// order of the other axes.
Expr ElementOfRow(const te::Tensor& x, int axis, const Expr& row,
                  const Expr& place);

// Of places up to n, as they are compared: vectors hold more numbers of 32
// bits.
DType PlaceType(const Expr& n);

// ceil(log2(n)), at least 1 where n is a variable.
Expr Rounds(const Expr& n);

// A comparison of Batcher's merge exchange of n elements.
struct Comparison {
  Expr s, u;  // the round: each less than Rounds(n)
  Expr q;     // of n / 2
};

// What `exchange` does with the two places that are compared, if there are two.
// The comparisons in the order of (s, u) sort the elements, whatever the order
// in a round is.
Stmt MergeExchange(const Comparison& comparison, const Expr& n,
                   FunctionRef<Stmt(const Expr&, const Expr&)> exchange);

}  // namespace kiln

#endif  // KILN_IR_OPS_ORDER_EXCHANGE_H_
