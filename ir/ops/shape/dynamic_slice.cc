// A slice whose begins, ends and steps are tensors becomes one of numbers:
//
//   y = R.dynamic_strided_slice(x, begin, end, strides)
//
//   s0 = R.tensor_to_shape(begin)
//   s1 = R.match_cast(s0, R.Shape([b0, b1]))      end and strides likewise
//   y = R.strided_slice(x, (0, 1), (b0, b1), (e0, e1), (t0, t1))
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;

absl::StatusOr<StructInfo> InferDynamicSlice(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  for (size_t arg = 1; arg < 4; ++arg) {
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* places, call.Tensor(arg));
    KILN_RETURN_IF_ERROR(CheckRank(call, arg, *places, 1));
    if (!places->dtype.is_void() && places->dtype != DType::Int(64)) {
      return call.ErrorAt(arg, "places are int64");
    }
    const Extents* count = KnownExtents(*places);
    if (count && x->rank != graph::kUnknownRank &&
        !call.AreEqual(count->front(), Int(x->rank))) {
      return call.ErrorAt(arg, absl::StrCat("there is not one for each of the ",
                                            x->rank, " dimensions of x"));
    }
  }
  return Like(*x, x->rank);
}

// The numbers of a tensor by names: those of a shape that it becomes.
graph::Expr Named(const graph::Expr& tensor, int count, const std::string& name,
                  std::vector<graph::Binding>& bindings) {
  Extents values;
  for (int k = 0; k < count; ++k) {
    values.push_back(Var(absl::StrCat(name, k)));
  }
  const graph::Var shape("shape");
  bindings.push_back({shape, graph::CallOp("tensor_to_shape", {tensor})});
  bindings.push_back({graph::Var(name), graph::Expr(new graph::MatchCastNode(
                                            shape, graph::Shape(values)))});
  return graph::ShapeOf(std::move(values));
}

absl::StatusOr<graph::Expr> ExpandDynamicSlice(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (x->rank == graph::kUnknownRank) {
    return absl::UnimplementedError("the rank is not known");
  }
  Extents axes;
  for (int d = 0; d < x->rank; ++d) axes.push_back(Int(d));
  std::vector<graph::Binding> bindings;
  std::vector<graph::Expr> args = {call.arg(0),
                                   graph::ShapeOf(std::move(axes))};
  const std::string names[] = {"begin", "end", "step"};
  for (size_t k = 0; k < 3; ++k) {
    args.push_back(Named(call.arg(k + 1), x->rank, names[k], bindings));
  }
  const graph::Var slice("slice");
  bindings.push_back(
      {slice, graph::CallOp("strided_slice", std::move(args),
                            {{"assume_inbound", Attr(Bool(false))}})});
  return graph::Seq({{false, std::move(bindings)}}, slice);
}

constexpr OpRow kRows[] = {
    {"dynamic_strided_slice", InferDynamicSlice, nullptr, ExpandDynamicSlice},
};

}  // namespace

absl::Span<const OpRow> DynamicSliceOps() { return kRows; }

}  // namespace kiln
