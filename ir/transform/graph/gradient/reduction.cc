// Reductions: the adjoint is stretched back along the axes that were reduced.
//
//   y = R.sum(x, axis=[1])     R.broadcast_to(R.expand_dims(grad, [1]), shape)
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

constexpr GradientRow kRows[] = {
    {"cumsum", Cumsum}, {"max", Extreme}, {"mean", Mean},
    {"min", Extreme},   {"sum", Sum},
};

}  // namespace

absl::Span<const GradientRow> ReductionGradients() { return kRows; }

}  // namespace kiln
