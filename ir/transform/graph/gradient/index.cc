// Ops that pick elements by indices: what each pick contributes is added where
// it came from.
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
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
             {{"axis", call.attr("axis")}}),
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

// A slice in steps of one, by its place in the tensor.
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
  for (const Scalar& stride : slice.strides) {
    const int64_t* value = AsInt(stride);
    if (!value || *value != 1) {
      return call.Refuse("it takes steps other than 1");
    }
  }
  return slice;
}

// Zeros are put around it again.
absl::StatusOr<Partials> StridedSlice(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  KILN_ASSIGN_OR_RETURN(const Slice slice, SliceOf(call));
  std::vector<int64_t> begins(x->rank);
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    const int64_t* axis = AsInt(slice.axes[i]);
    const int64_t* begin = AsInt(slice.begins[i]);
    if (!axis || !begin) return call.Refuse("it begins at no constant");
    const int64_t at = *axis < 0 ? *axis + x->rank : *axis;
    const int64_t* extent = AsInt((*x->extents())[at]);
    if (*begin < 0 && !extent) return call.Refuse("it begins at no constant");
    begins[at] = *begin < 0 ? std::max<int64_t>(*begin + *extent, 0) : *begin;
  }
  AttrList widths;
  Analyzer analyzer;
  for (int i = 0; i < x->rank; ++i) {
    const Scalar after = analyzer.Simplify(
        Sub(Sub((*x->extents())[i], (*y->extents())[i]), Int(begins[i])));
    const int64_t* count = AsInt(after);
    if (!count) return call.Refuse("it ends at no constant distance");
    // Of a slice without elements, the place does not matter.
    widths.push_back(Int(begins[i] + std::min<int64_t>(*count, 0)));
    widths.push_back(Int(std::max<int64_t>(*count, 0)));
  }
  Partials partials(call.size());
  partials[0] = CallOp("nn.pad", {call.grad()},
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
