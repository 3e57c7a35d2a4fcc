// Ops that pick elements by indices: what each pick contributes is added where
// it came from. A slice is a pick of a range: zeros are put around the adjoint,
//
//   R.strided_slice(x, [0], [1], [3])          R.nn.pad(grad, [1, n - 3])
//
// and where it takes steps, it is a pick of places 1, 3, 5.
#include <algorithm>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;
using graph::Scalar;

absl::StatusOr<Partials> Take(const GradientCall& call) {
  if (call.arg(1).As<graph::PrimNode>()) {
    return call.Refuse("its index has to be a tensor");
  }
  return Partials{
      CallOp("grad.take_backward", {call.grad(), call.arg(0), call.arg(1)},
             {{"axis", call.attr("axis")}, {"mode", call.attr("mode")}}),
      Expr()};
}

absl::StatusOr<Partials> GatherElements(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  return Partials{
      CallOp("scatter_elements", {ZerosLike(*x), call.arg(1), call.grad()},
             {{"axis", call.attr("axis")}, {"reduction", std::string("add")}}),
      Expr()};
}

// Constants in a tuple of numbers, or a shape.
bool AddNumbers(const Expr& e, std::vector<Scalar>& numbers) {
  if (const auto* shape = e.As<graph::ShapeNode>()) {
    numbers = shape->values;
    return true;
  }
  const auto* tuple = e.As<graph::TupleNode>();
  for (size_t i = 0; tuple && i < tuple->fields.size(); ++i) {
    const auto* number = tuple->fields[i].As<graph::PrimNode>();
    if (!number) return false;
    numbers.push_back(number->value);
  }
  return tuple;
}

// A slice, by its place in the tensor.
struct Slice {
  std::vector<Scalar> axes, begins, ends, strides;
};

absl::StatusOr<Slice> SliceOf(const GradientCall& call) {
  Slice slice;
  const bool is_known =
      AddNumbers(call.arg(1), slice.axes) &&
      AddNumbers(call.arg(2), slice.begins) &&
      AddNumbers(call.arg(3), slice.ends) &&
      (!call.Has(4) || AddNumbers(call.arg(4), slice.strides));
  if (!is_known || slice.axes.size() != slice.begins.size()) {
    return call.Refuse("where it begins has to be known");
  }
  return slice;
}

// One axis of a slice: where it begins, and its step.
struct Cut {
  int64_t axis, begin, step;
};

// With axes from the front, and begins in the tensor.
absl::StatusOr<std::vector<Cut>> CutsOf(const GradientCall& call,
                                        const graph::TensorInfo& x) {
  KILN_ASSIGN_OR_RETURN(const Slice slice, SliceOf(call));
  std::vector<Cut> cuts;
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    const int64_t* axis = AsInt(slice.axes[i]);
    const int64_t* begin = AsInt(slice.begins[i]);
    if (!axis || !begin) return call.Refuse("it begins at no constant");
    Cut cut{*axis < 0 ? *axis + x.rank : *axis, *begin, 1};
    if (i < slice.strides.size()) {
      const int64_t* step = AsInt(slice.strides[i]);
      if (!step || *step == 0) return call.Refuse("its steps are no constants");
      cut.step = *step;
    }
    const int64_t* extent = AsInt((*x.extents())[cut.axis]);
    if (!extent && (cut.begin < 0 || cut.step < 0)) {
      return call.Refuse("it begins at no constant");
    }
    if (cut.begin < 0) cut.begin += *extent;
    if (cut.step < 0) cut.begin = std::min(cut.begin, *extent - 1);
    if (cut.step > 0) cut.begin = std::max<int64_t>(cut.begin, 0);
    cuts.push_back(cut);
  }
  return cuts;
}

// `e`, of the extents, with what was taken in steps along the axis where it
// came from, among zeros; `extents` are those behind it.
absl::StatusOr<Expr> Spread(const GradientCall& call, const Expr& e,
                            const Cut& cut, const Scalar& whole,
                            std::vector<Scalar>& extents) {
  const int64_t* count = AsInt(extents[cut.axis]);
  if (!count) return call.Refuse("it takes steps to no constant end");
  std::vector<Scalar> places;
  for (int64_t i = 0; i < *count; ++i) {
    places.push_back(Int(cut.begin + i * cut.step));
  }
  KILN_ASSIGN_OR_RETURN(const Expr indices,
                        graph::MakeConstant(DType::Int(64), {*count}, places));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  extents[cut.axis] = whole;
  const Expr zeros = CallOp("zeros", {graph::ShapeOf(extents)},
                            {{"dtype", y->dtype.ToString()}});
  return CallOp("grad.take_backward", {e, zeros, indices},
                {{"axis", Int(cut.axis)}});
}

// Zeros are put around it again, and between where it takes steps.
absl::StatusOr<Partials> StridedSlice(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  KILN_ASSIGN_OR_RETURN(const std::vector<Cut> cuts, CutsOf(call, *x));
  Expr grad = call.grad();
  std::vector<Scalar> extents = *y->extents();
  std::vector<int64_t> begins(x->rank);
  for (const Cut& cut : cuts) {
    if (cut.step == 1) {
      begins[cut.axis] = cut.begin;
    } else if (!IsZero(extents[cut.axis])) {
      KILN_ASSIGN_OR_RETURN(
          grad, Spread(call, grad, cut, (*x->extents())[cut.axis], extents));
    }
  }
  AttrList widths;
  Analyzer analyzer;
  bool is_whole = true;
  for (int i = 0; i < x->rank; ++i) {
    const Scalar after = analyzer.Simplify(
        Sub(Sub((*x->extents())[i], extents[i]), Int(begins[i])));
    const int64_t* count = AsInt(after);
    if (!count) return call.Refuse("it ends at no constant distance");
    // Of a slice without elements, the place does not matter.
    widths.push_back(Int(begins[i] + std::min<int64_t>(*count, 0)));
    widths.push_back(Int(std::max<int64_t>(*count, 0)));
    is_whole = is_whole && begins[i] == 0 && *count == 0;
  }
  Partials partials(call.size());
  partials[0] = grad;
  if (is_whole && grad.get() != call.grad().get()) return partials;
  partials[0] = CallOp("nn.pad", {grad},
                       {{"pad_width", std::move(widths)},
                        {"pad_value", Float(0)},
                        {"pad_mode", std::string("constant")}});
  return partials;
}

constexpr GradientRow kRows[] = {
    {"gather_elements", GatherElements},
    {"strided_slice", StridedSlice},
    {"take", Take},
};

}  // namespace

absl::Span<const GradientRow> IndexGradients() { return kRows; }

}  // namespace kiln
