#include "kiln/ir/ops/extents.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/info/info.h"

namespace kiln {

using graph::StructInfo;

const std::vector<Expr>* KnownExtents(const graph::TensorInfo& tensor) {
  if (const std::vector<Expr>* extents = tensor.extents()) return extents;
  const auto* var = tensor.shape.As<graph::VarNode>();
  const auto* shape = var ? var->info.As<graph::ShapeInfo>() : nullptr;
  const bool is_known = shape && shape->values && shape->rank == tensor.rank;
  return is_known ? &*shape->values : nullptr;
}

StructInfo WithType(const graph::TensorInfo& tensor, DType dtype) {
  return StructInfo(
      new graph::TensorInfo(tensor.shape, tensor.rank, dtype, tensor.device));
}

StructInfo Like(const graph::TensorInfo& tensor, std::vector<Expr> extents) {
  return graph::Tensor(std::move(extents), tensor.dtype, tensor.device);
}

StructInfo Like(const graph::TensorInfo& tensor, int rank) {
  if (rank == 0) return Like(tensor, std::vector<Expr>());
  return graph::TensorOfRank(rank, tensor.dtype, tensor.device);
}

absl::StatusOr<StructInfo> TensorOfShapeArg(const OpCall& call, size_t arg,
                                            DType dtype, std::string device) {
  KILN_ASSIGN_OR_RETURN(const graph::ShapeInfo* shape, call.Shape(arg));
  const auto* var = call.arg(arg).As<graph::VarNode>();
  if (var && var->info.As<graph::ShapeInfo>()) {
    return StructInfo(new graph::TensorInfo(call.arg(arg), shape->rank, dtype,
                                            std::move(device)));
  }
  if (shape->values) {
    return graph::Tensor(*shape->values, dtype, std::move(device));
  }
  return graph::TensorOfRank(shape->rank, dtype, std::move(device));
}

Expr Product(const std::vector<Expr>& extents) {
  Expr product = Int(1);
  for (const Expr& extent : extents) {
    product = IsOne(product)  ? extent
              : IsOne(extent) ? product
                              : Mul(product, extent);
  }
  return product;
}

Expr FlatIndex(const std::vector<Expr>& shape, const std::vector<Expr>& index) {
  Expr flat = Int(0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (IsOne(shape[d])) continue;
    flat = IsZero(flat) ? index[d] : Add(Mul(flat, shape[d]), index[d]);
  }
  return flat;
}

std::vector<Expr> IndexOfFlat(const std::vector<Expr>& shape,
                              const Expr& flat) {
  std::vector<Expr> index(shape.size());
  Expr stride = Int(1);
  for (size_t d = shape.size(); d-- > 0;) {
    // There is no element where an extent is 0.
    if (IsOne(shape[d]) || IsZero(shape[d]) || IsZero(stride)) {
      index[d] = Int(0);
      continue;
    }
    const Expr place = IsOne(stride) ? flat : FloorDiv(flat, stride);
    index[d] = d == 0 ? place : FloorMod(place, shape[d]);
    stride = Mul(stride, shape[d]);
  }
  return index;
}

Expr IfThenElse(const Expr& condition, const Expr& a, const Expr& b) {
  return Call(a.dtype(), Intrinsic::kIfThenElse, {condition, a, b});
}

Expr FromFront(const Expr& place, const Expr& extent) {
  const Expr index = Cast(DType::Index(), place);
  return IfThenElse(LT(index, Int(0)), Add(index, extent), index);
}

Expr Plus(const Expr& a, int64_t b) {
  const auto* sum = a.As<BinaryNode>();
  const int64_t* last = sum ? AsInt(sum->b) : nullptr;
  int64_t both;
  if (last && a.kind() == ExprKind::kAdd &&
      FoldInt(ExprKind::kAdd, *last, b, &both)) {
    return Plus(sum->a, both);
  }
  if (b == 0) return a;
  return b > 0 || b == INT64_MIN ? Add(a, Int(b)) : Sub(a, Int(-b));
}

absl::Status CheckIntegers(const OpCall& call, size_t arg,
                           const graph::TensorInfo& tensor) {
  const DType dtype = tensor.dtype;
  if (dtype.is_void() || (dtype.is_integral() && !dtype.is_bool())) {
    return absl::OkStatus();
  }
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` has to hold integers"));
}

absl::Status CheckRank(const OpCall& call, size_t arg,
                       const graph::TensorInfo& tensor, int rank) {
  if (tensor.rank == rank || tensor.rank == graph::kUnknownRank) {
    return absl::OkStatus();
  }
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` has to have ", rank,
                        " dimensions and has ", tensor.rank));
}

absl::Status CheckKnownRank(const OpCall& call, size_t arg,
                            const graph::TensorInfo& tensor, int rank) {
  if (tensor.rank != graph::kUnknownRank) {
    return CheckRank(call, arg, tensor, rank);
  }
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` has to have ", rank,
                        " dimensions; state its rank by R.match_cast"));
}

}  // namespace kiln
