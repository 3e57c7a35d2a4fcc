#include "kiln/ir/ops/tensors.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

graph::StructInfo TensorLike(const graph::TensorInfo& like, int rank,
                             const std::vector<Expr>* extents) {
  if (extents) return graph::Tensor(*extents, like.dtype, like.device);
  return graph::TensorOfRank(rank, like.dtype, like.device);
}

absl::StatusOr<const graph::TensorInfo*> FloatTensor(const OpCall& call,
                                                     size_t arg) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(arg));
  if (x->dtype.is_void() || x->dtype.is_float()) return x;
  return call.ErrorAt(arg, absl::StrCat("`", call.ArgName(arg),
                                        "` has to be of floats and is of ",
                                        x->dtype.ToString()));
}

absl::StatusOr<const graph::TensorInfo*> RankedTensor(const OpCall& call,
                                                      size_t arg, int rank) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(arg));
  if (x->rank == rank || x->rank == graph::kUnknownRank) return x;
  return call.ErrorAt(
      arg, absl::StrCat("`", call.ArgName(arg), "` has to have ", rank,
                        " dimensions and has ", x->rank));
}

absl::Status CheckCount(const OpCall& call, size_t count) {
  if (call.size() >= count) return absl::OkStatus();
  return call.Error(
      absl::StrCat("it takes ", count, " arguments and has ", call.size()));
}

Expr ExtentOf(const OpCall& call, size_t arg, int d) {
  const auto* tensor =
      call.Has(arg) ? call.info(arg).As<graph::TensorInfo>() : nullptr;
  const auto* extents = tensor ? tensor->extents() : nullptr;
  if (!extents || d < 0 || d >= tensor->rank) return Expr();
  return (*extents)[d];
}

absl::Status CheckExtent(const OpCall& call, size_t arg, int d,
                         const Expr& wanted, std::string_view what) {
  const Expr extent = ExtentOf(call, arg, d);
  if (!extent || !wanted || call.AreEqual(extent, wanted)) {
    return absl::OkStatus();
  }
  return call.ErrorAt(
      arg, absl::StrCat("dimension ", d, " of `", call.ArgName(arg), "` is ",
                        PrintExpr(extent), ", and ", std::string(what), " ",
                        PrintExpr(wanted)));
}

DType SumType(DType dtype) {
  return dtype.is_float() && dtype.bits() < 32 ? DType::Float(32) : dtype;
}

}  // namespace kiln
