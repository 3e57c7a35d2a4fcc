// Gradients of pools by their data: R.grad.max_pool2d_backward and
// avg_pool2d_backward. An element gets from each window that it is in:
//
//   p = (y + padding - tap * dilation) / stride, where that is whole and there
//   y[n, c, y, x] = sum over taps of
//       grad[p] where this tap is the first with the largest element of p
//       grad[p] / the elements that window p counts
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/pooling/pooling.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

absl::StatusOr<StructInfo> InferPoolGradient(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, 2));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> grad,
      AxisExtentsOf(call, 0, pool.layouts.out, pool.layouts.names));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> data,
      AxisExtentsOf(call, 1, pool.layouts.data, pool.layouts.names));
  if (!grad || !data) return call.info(1);
  const Extents pooled = PooledAxes(pool, *data);
  for (size_t d = 0; d < pooled.size(); ++d) {
    if (!call.AreEqual(pooled[d], (*grad)[d])) {
      return call.ErrorAt(0, "it is not of the shape that the pool gives");
    }
  }
  return call.info(1);
}

std::vector<te::IterVar> Taps(const Pool& pool) {
  return {te::ReduceAxis(0, pool.size[0], "wh"),
          te::ReduceAxis(0, pool.size[1], "ww")};
}

// A window that has the element at `at` as its tap `tap`; whether it is one.
struct Window {
  Extents place;
  Expr exists;
};

Window WindowWith(const Pool& pool, const Extents& at, const Extents& tap,
                  const Extents& pooled) {
  Window window{{at[0], at[1]}, Expr()};
  const auto require = [&](const Expr& condition) {
    window.exists = window.exists ? And(window.exists, condition) : condition;
  };
  for (size_t d = 0; d < tap.size(); ++d) {
    const Windows& w = pool.windows;
    const Expr stride = Int(w.strides[d]);
    const Expr begin =
        Sub(Add(at[2 + d], Int(w.before[d])), Mul(tap[d], Int(w.dilation[d])));
    const Expr place = FloorDiv(begin, stride);
    require(LE(Int(0), begin));
    if (!IsOne(stride)) require(EQ(FloorMod(begin, stride), Int(0)));
    require(LT(place, pooled[2 + d]));
    window.place.push_back(place);
  }
  return window;
}

// The sum over all windows with an element of what each contributes.
using Part = std::function<Expr(const Extents& place, const Extents& tap)>;

Lowered Gathered(const Pool& pool, const te::Tensor& data,
                 const Extents& pooled, const Part& part) {
  const std::vector<te::IterVar> taps = Taps(pool);
  return te::Compute(
      data.shape(),
      [&](const Extents& i) -> te::Value {
        const Extents at = pool.layouts.data.AxisIndices(pool.layouts.names, i);
        const Extents tap = {taps[0], taps[1]};
        const Window window = WindowWith(pool, at, tap, pooled);
        const Expr value = part(window.place, tap);
        return te::Sum(Call(value.dtype(), Intrinsic::kIfThenElse,
                            {window.exists, value, Constant(0, value.dtype())}),
                       taps);
      },
      "T_pool_grad");
}

absl::StatusOr<Lowered> LowerAverageGradient(const OpCall& call,
                                             const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, 2));
  const PoolLayouts& layouts = pool.layouts;
  const Extents data = layouts.data.AxisExtents(layouts.names, in[1].shape());
  const Extents pooled = layouts.out.AxisExtents(layouts.names, in[0].shape());
  return Gathered(pool, in[1], pooled, [&](const Extents& p, const Extents&) {
    return Mean(in[0](layouts.out.Indices(layouts.names, p)),
                CountedElements(pool, p, data));
  });
}

Expr TapNumber(const Pool& pool, const Expr& row, const Expr& column) {
  return Add(Mul(row, Int(pool.size[1])), column);
}

// The element of a window, over axes "NC..".
Expr ElementOf(const Pool& pool, const te::Tensor& padded, const Extents& place,
               const std::vector<te::IterVar>& taps) {
  Extents at = place;
  for (size_t d = 0; d < taps.size(); ++d) {
    at[2 + d] = Add(Mul(place[2 + d], Int(pool.windows.strides[d])),
                    Mul(taps[d], Int(pool.windows.dilation[d])));
  }
  return padded(pool.layouts.data.Indices(pool.layouts.names, at));
}

// The number of the first tap with the largest element, for each window.
te::Tensor Winners(const Pool& pool, const te::Tensor& data,
                   const Extents& pooled) {
  const DType dtype = data.dtype();
  const te::Tensor padded =
      PadForPool(pool, data, Call(dtype, Intrinsic::kMinValue, {}));
  const std::vector<te::IterVar> taps = Taps(pool), again = Taps(pool);
  const te::Tensor largest = te::Compute(
      pooled,
      [&](const Extents& p) -> te::Value {
        return te::Max(ElementOf(pool, padded, p, taps), taps);
      },
      "maxpool_grad_max");
  return te::Compute(
      pooled,
      [&](const Extents& p) -> te::Value {
        const Expr own = ElementOf(pool, padded, p, again);
        const Expr number = TapNumber(pool, again[0], again[1]);
        const Expr none = Int(pool.size[0] * pool.size[1]);
        return te::Min(Select(EQ(own, largest(p)), number, none), again);
      },
      "maxpool_grad_argmax");
}

absl::StatusOr<Lowered> LowerMaxGradient(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Pool pool, PoolOf(call, 2));
  const PoolLayouts& layouts = pool.layouts;
  const Extents pooled = layouts.out.AxisExtents(layouts.names, in[0].shape());
  const te::Tensor winners = Winners(pool, in[1], pooled);
  return Gathered(
      pool, in[1], pooled, [&](const Extents& p, const Extents& tap) {
        const Expr wins = EQ(winners(p), TapNumber(pool, tap[0], tap[1]));
        const Expr grad = in[0](layouts.out.Indices(layouts.names, p));
        return Call(grad.dtype(), Intrinsic::kIfThenElse,
                    {wins, grad, Constant(0, grad.dtype())});
      });
}

constexpr OpRow kRows[] = {
    {"grad.avg_pool2d_backward", InferPoolGradient, LowerAverageGradient},
    {"grad.max_pool2d_backward", InferPoolGradient, LowerMaxGradient},
};

}  // namespace

absl::Span<const OpRow> PoolGradients() { return kRows; }

}  // namespace kiln
