// Shapes as values: read off tensors, and turned into tensors and back.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/program/program.h"
#include "kiln/ir/ops/tensors.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

absl::StatusOr<StructInfo> InferShapeOf(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (const auto* extents = x->extents()) return graph::Shape(*extents);
  return graph::ShapeOfRank(x->rank);
}

absl::StatusOr<StructInfo> InferSize(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  return graph::Tensor({}, DType::Index(), x->device);
}

absl::StatusOr<Lowered> LowerSize(const OpCall&, const Inputs& in) {
  Expr count = Int(1);
  for (const Expr& extent : in[0].shape()) count = Mul(count, extent);
  return Lowered(te::Compute(
      {}, [&](const Extents&) -> te::Value { return count; }, "size"));
}

absl::StatusOr<StructInfo> InferShapeToTensor(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(0));
  if (shape->rank == graph::kUnknownRank) {
    return graph::TensorOfRank(1, DType::Index());
  }
  return graph::Tensor({Int(shape->rank)}, DType::Index());
}

absl::StatusOr<Lowered> LowerShapeToTensor(const OpCall& call, const Inputs&) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(0));
  if (!shape->values) return absl::UnimplementedError("an unknown shape");
  const Extents& values = *shape->values;
  return Lowered(te::Compute(
      {Int(shape->rank)},
      [&](const Extents& i) -> te::Value {
        Expr value = Int(0);
        for (size_t d = values.size(); d-- > 0;) {
          const Expr here = EQ(i[0], Int(static_cast<int64_t>(d)));
          value = Call(DType::Index(), Intrinsic::kIfThenElse,
                       {here, values[d], value});
        }
        return value;
      },
      "shape_to_tensor"));
}

absl::StatusOr<StructInfo> InferTensorToShape(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, RankedTensor(call, 0, 1));
  if (!x->dtype.is_void() && x->dtype != DType::Index()) {
    return call.ErrorAt(0, "extents are of int64");
  }
  const Expr extent = ExtentOf(call, 0, 0);
  const int64_t* rank = extent ? AsInt(extent) : nullptr;
  if (!rank || *rank > INT32_MAX) return graph::ShapeOfRank(-1);
  return graph::ShapeOfRank(static_cast<int>(*rank));
}

absl::StatusOr<graph::Expr> ExpandTensorToShape(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(StructInfo result, InferTensorToShape(call));
  return graph::CallOp(
      "call_pure_packed",
      {graph::Extern("kiln.builtin.tensor_to_shape"), call.arg(0)}, {},
      {std::move(result)});
}

constexpr OpRow kRows[] = {
    {"shape_of", InferShapeOf},
    {"shape_to_tensor", InferShapeToTensor, LowerShapeToTensor},
    {"size", InferSize, LowerSize},
    {"tensor_to_shape", InferTensorToShape, nullptr, ExpandTensorToShape},
};

}  // namespace

absl::Span<const OpRow> ShapeValueOps() { return kRows; }

}  // namespace kiln
