// Reductions: the adjoint is stretched back along the axes that were reduced.
//
//   y = R.sum(x, axis=[1])     R.broadcast_to(R.expand_dims(grad, [1]), shape)
//
// Products of all elements but one are made of products before and behind it,
// since what divides by an element does not hold where it is zero.
#include <algorithm>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

// `e`, of the shape of the result, with the reduced axes as extents of 1; a
// number has none to speak of.
Expr Reduced(const GradientCall& call, const Expr& e) {
  if (call.IsTrue("keepdims") || call.attr("axis").is_none()) return e;
  return CallOp("expand_dims", {e}, {{"axis", call.attr("axis")}});
}

// `e` stretched to the shape of the argument.
absl::StatusOr<Expr> Stretched(const GradientCall& call, const Expr& e) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  return CallOp("broadcast_to", {Reduced(call, e), ShapeOfInfo(*x)});
}

// How many elements a result is reduced from: a constant where it is known.
absl::StatusOr<Expr> CountOf(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axis", x->rank));
  double count = 1;
  std::vector<graph::Scalar> extents;
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= x->rank) return call.Refuse("it has no such axis");
    extents.push_back((*x->extents())[axis]);
    const int64_t* extent = AsInt(extents.back());
    count = extent && count >= 0 ? count * static_cast<double>(*extent) : -1;
  }
  if (count >= 0) return NumberLike(count, call.arg(0));
  const Expr ones = CallOp("ones", {graph::ShapeOf(extents)},
                           {{"dtype", x->dtype.ToString()}});
  return CallOp("sum", {ones}, {{"axis", Attr()}, {"keepdims", Bool(false)}});
}

absl::StatusOr<Partials> Sum(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(Expr partial, Stretched(call, call.grad()));
  return Partials{std::move(partial)};
}

absl::StatusOr<Partials> Mean(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Expr count, CountOf(call));
  KILN_ASSIGN_OR_RETURN(Expr partial,
                        Stretched(call, Over(call.grad(), count)));
  return Partials{std::move(partial)};
}

// All elements that are the extreme one share in the adjoint.
absl::StatusOr<Partials> Extreme(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const Expr best, Stretched(call, call.result()));
  const Expr mask =
      call.Emit(CallOp("astype", {Binary("equal", call.arg(0), best)},
                       {{"dtype", x->dtype.ToString()}}));
  const Expr sharing = CallOp("sum", {mask},
                              {{"axis", call.attr("axis")},
                               {"keepdims", Bool(call.IsTrue("keepdims"))}});
  KILN_ASSIGN_OR_RETURN(const Expr own,
                        Stretched(call, Over(call.grad(), sharing)));
  return Partials{Times(own, mask)};
}

// The distance of each element from the mean of those it is reduced with.
Expr Distance(const GradientCall& call) {
  const Expr& x = call.arg(0);
  return Minus(x,
               CallOp("mean", {x},
                      {{"axis", call.attr("axis")}, {"keepdims", Bool(true)}}));
}

// grad * factor * distance / count; of the deviation, grad is over it first.
absl::StatusOr<Partials> OfSquares(const GradientCall& call, const Expr& grad,
                                   double factor) {
  KILN_ASSIGN_OR_RETURN(const Expr count, CountOf(call));
  const Expr scale = Over(NumberLike(factor, call.arg(0)), count);
  KILN_ASSIGN_OR_RETURN(const Expr own, Stretched(call, Times(grad, scale)));
  return Partials{Times(own, Distance(call))};
}

absl::StatusOr<Partials> Variance(const GradientCall& call) {
  return OfSquares(call, call.grad(), 2);
}

absl::StatusOr<Partials> Deviation(const GradientCall& call) {
  return OfSquares(call, Over(call.grad(), call.result()), 1);
}

Expr Flipped(const Expr& e, int64_t axis) {
  return CallOp("flip", {e}, {{"axis", Int(axis)}});
}

// Each element adds to all sums from its own on: sums from the other end.
absl::StatusOr<Partials> Cumsum(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  const bool is_flat = call.attr("axis").is_none();
  int64_t axis = 0;
  if (!is_flat) {
    KILN_ASSIGN_OR_RETURN(axis, call.Axis("axis", x->rank));
  }
  Expr partial =
      Flipped(CallOp("cumsum", {Flipped(call.grad(), axis)},
                     {{"axis", Int(axis)},
                      {"dtype", Attr()},
                      {"exclusive", Bool(call.IsTrue("exclusive"))}}),
              axis);
  if (is_flat) partial = CallOp("reshape", {partial, ShapeOfInfo(*x)});
  return Partials{partial};
}

Expr ProductsBefore(const Expr& e, int64_t axis, bool is_exclusive) {
  return CallOp("cumprod", {e},
                {{"axis", Int(axis)},
                 {"dtype", Attr()},
                 {"exclusive", Bool(is_exclusive)}});
}

// `e` of the argument's shape, with the axes in this order.
struct Order {
  std::vector<int64_t> there, back;
};

// The axes at the end.
Order ToTheEnd(const std::vector<int64_t>& axes, int rank) {
  Order order;
  for (int64_t d = 0; d < rank; ++d) {
    const bool ends = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (!ends) order.there.push_back(d);
  }
  order.there.insert(order.there.end(), axes.begin(), axes.end());
  order.back.resize(order.there.size());
  for (size_t i = 0; i < order.there.size(); ++i) {
    order.back[order.there[i]] = static_cast<int64_t>(i);
  }
  return order;
}

// The products of all elements but one: of those before it and of those behind
// it, which also holds where elements are zero.
absl::StatusOr<Partials> Product(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axis", x->rank));
  KILN_ASSIGN_OR_RETURN(const Expr grad, Stretched(call, call.grad()));
  const Order order = ToTheEnd(axes, x->rank);
  std::vector<graph::Scalar> moved, joined = {Int(1), Int(1)};
  for (const int64_t axis : order.there) {
    moved.push_back((*x->extents())[axis]);
    graph::Scalar& part = joined[moved.size() > x->rank - axes.size()];
    part = Mul(part, moved.back());
  }
  const Expr rows =
      call.Emit(CallOp("reshape", {Permuted(call.arg(0), order.there),
                                   graph::ShapeOf(std::move(joined))}));
  const Expr others =
      Times(ProductsBefore(rows, 1, true),
            Flipped(ProductsBefore(Flipped(rows, 1), 1, true), 1));
  const Expr shaped = CallOp("reshape", {others, graph::ShapeOf(moved)});
  return Partials{Times(grad, Permuted(shaped, order.back))};
}

Expr Triangle(const char* op, const Expr& e, int64_t k) {
  return CallOp(op, {e, graph::Number(Int(k))});
}

// Of the product y[i] of x[0] to x[i], x[k] has the partial
//
//   (x[0] ... x[k - 1]) * (x[k + 1] ... x[i])    where k <= i
//
// The second factor is a product along i of a matrix that has x[i] where i > k
// and ones elsewhere; so nothing is divided by an element that may be zero.
absl::StatusOr<Partials> Cumprod(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  if (x->dtype != y->dtype) return call.Refuse("its result is of another type");
  const bool is_flat = call.attr("axis").is_none();
  const bool is_exclusive = call.IsTrue("exclusive");
  int64_t axis = 0;
  if (!is_flat) {
    KILN_ASSIGN_OR_RETURN(axis, call.Axis("axis", x->rank));
  }
  const Order order = ToTheEnd({axis}, y->rank);
  const Expr flat =
      is_flat ? CallOp("reshape", {call.arg(0), ShapeOfInfo(*y)}) : call.arg(0);
  const Expr rows = call.Emit(Permuted(flat, order.there));
  std::vector<graph::Scalar> square;
  for (const int64_t d : order.there) square.push_back((*y->extents())[d]);
  square.push_back(square.back());
  const Attr before_last = AxesAttr({y->rank - 1});
  const Expr wide = CallOp(
      "broadcast_to", {CallOp("expand_dims", {rows}, {{"axis", before_last}}),
                       graph::ShapeOf(square)});
  const Expr ones = CallOp("ones", {graph::ShapeOf(square)},
                           {{"dtype", x->dtype.ToString()}});
  const Expr behind =
      Plus(Triangle("triu", wide, 1), Triangle("tril", ones, 0));
  const Expr factors = Triangle(
      "triu", ProductsBefore(behind, y->rank, is_exclusive), is_exclusive);
  const Expr grad = CallOp("expand_dims", {Permuted(call.grad(), order.there)},
                           {{"axis", before_last}});
  const Expr sum =
      CallOp("sum", {Times(factors, grad)},
             {{"axis", AxesAttr({y->rank})}, {"keepdims", Bool(false)}});
  const Expr partial =
      Permuted(Times(sum, ProductsBefore(rows, y->rank - 1, true)), order.back);
  return Partials{is_flat ? CallOp("reshape", {partial, ShapeOfInfo(*x)})
                          : partial};
}

constexpr GradientRow kRows[] = {
    {"cumprod", Cumprod}, {"cumsum", Cumsum}, {"max", Extreme},
    {"mean", Mean},       {"min", Extreme},   {"prod", Product},
    {"std", Deviation},   {"sum", Sum},       {"variance", Variance},
};

}  // namespace

absl::Span<const GradientRow> ReductionGradients() { return kRows; }

}  // namespace kiln
