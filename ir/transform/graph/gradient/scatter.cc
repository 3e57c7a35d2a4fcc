// Ops that write elements to places, and those whose places are of several
// numbers. Of y = scatter(x, i, u):
//
//   of u: what gather finds at i in grad
//   of x: grad, and where u replaced x, zero
//
// Of updates that replace each other at one place only the last one counts: it
// is found by scattering their numbers in place of them.
#include <string>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

// Both ways of saying where: along an axis, or by all leading ones.
class Places {
 public:
  explicit Places(const GradientCall& call)
      : is_along_(call.node().IsOp("scatter_elements")),
        axis_(call.attr("axis")),
        indices_(call.arg(1)) {}

  Expr Gathered(const Expr& e) const {
    return is_along_
               ? CallOp("gather_elements", {e, indices_}, {{"axis", axis_}})
               : CallOp("gather_nd", {e, indices_}, {{"batch_dims", Int(0)}});
  }
  Expr Scattered(const Expr& data, const Expr& updates) const {
    AttrMap attrs = {{"reduction", Attr(std::string("update"))}};
    if (is_along_) attrs["axis"] = axis_;
    return CallOp(is_along_ ? "scatter_elements" : "scatter_nd",
                  {data, indices_, updates}, std::move(attrs));
  }

 private:
  const bool is_along_;
  const Attr axis_;
  const Expr indices_;
};

Expr Filled(const char* op, const graph::TensorInfo& info, DType dtype) {
  return CallOp(op, {ShapeOfInfo(info)}, {{"dtype", dtype.ToString()}});
}

// One for each update that stays, zero for those that are replaced.
Expr Staying(const GradientCall& call, const Places& places,
             const graph::TensorInfo& x, const graph::TensorInfo& updates) {
  const DType number = DType::Int(64);
  const Expr counted =
      CallOp("cumsum", {Filled("ones", updates, number)},
             {{"axis", Attr()}, {"dtype", Attr()}, {"exclusive", Bool(false)}});
  const Expr numbers =
      call.Emit(CallOp("reshape", {counted, ShapeOfInfo(updates)}));
  const Expr last =
      places.Gathered(places.Scattered(Filled("zeros", x, number), numbers));
  return CallOp("astype", {Binary("equal", last, numbers)},
                {{"dtype", updates.dtype.ToString()}});
}

absl::StatusOr<Partials> Scatter(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* updates, call.Tensor(2));
  const std::string* reduction = call.attr("reduction").string();
  const Places places(call);
  const Expr found = places.Gathered(call.grad());
  if (reduction && *reduction == "add") {
    return Partials{call.grad(), Expr(), found};
  }
  if (!reduction || *reduction != "update") {
    return call.Refuse("updates that add or replace have a gradient");
  }
  return Partials{places.Scattered(call.grad(), ZerosLike(*updates)), Expr(),
                  Times(found, Staying(call, places, *x, *updates))};
}

absl::StatusOr<Partials> GatherNd(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t batch, call.Int("batch_dims"));
  if (batch != 0) return call.Refuse("it has one without `batch_dims`");
  return Partials{
      CallOp("scatter_nd", {ZerosLike(*x), call.arg(1), call.grad()},
             {{"reduction", Attr(std::string("add"))}}),
      Expr()};
}

absl::StatusOr<Partials> Sort(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  const Expr order = CallOp("argsort", {call.arg(0)},
                            {{"axis", call.attr("axis")},
                             {"descending", call.attr("descending")},
                             {"dtype", DType::Int(64).ToString()}});
  return Partials{CallOp(
      "scatter_elements", {ZerosLike(*x), order, call.grad()},
      {{"axis", call.attr("axis")}, {"reduction", Attr(std::string("add"))}})};
}

constexpr GradientRow kRows[] = {
    {"gather_nd", GatherNd},
    {"scatter_elements", Scatter},
    {"scatter_nd", Scatter},
    {"sort", Sort},
};

}  // namespace

absl::Span<const GradientRow> ScatterGradients() { return kRows; }

}  // namespace kiln
