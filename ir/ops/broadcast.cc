// Extents meet from the last one on; a missing one counts as 1:
//
//   (n, 1, 3) and (4, 1)   (n, 4, 3)
//   (n, 3) and (m, 3)      rank 2, since n and m may be equal or not
//   (2, 3) and (4,)        refused
#include "kiln/ir/ops/broadcast.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using Extents = std::vector<Expr>;

// What is known of an argument's extents: none of a number.
struct Known {
  const Extents* extents = nullptr;  // null: not one by one
  int rank = 0;
};

Known KnownOf(const graph::StructInfo& info) {
  static const Extents& none = *new Extents();
  const auto* tensor = info.As<graph::TensorInfo>();
  if (!tensor) return {&none, 0};
  return {tensor->extents(), tensor->rank};
}

// `a` and `b` as one extent; null where it is not known.
absl::StatusOr<Expr> Met(const OpCall& call, size_t arg, const Expr& a,
                         const Expr& b) {
  if (IsOne(a)) return b;
  if (IsOne(b) || call.analyzer().CanProveEqual(a, b)) return a;
  const int64_t* left = AsInt(a);
  const int64_t* right = AsInt(b);
  if (left && right) {
    return call.ErrorAt(arg, absl::StrCat("extents ", *left, " and ", *right,
                                          " do not meet; they are equal, or "
                                          "one of them is 1"));
  }
  return Expr();
}

// `shape` met by another one; false where not all extents are known.
absl::StatusOr<bool> Meet(const OpCall& call, size_t arg, const Extents& other,
                          Extents& shape) {
  if (other.size() > shape.size()) {
    shape.insert(shape.begin(), other.size() - shape.size(), Int(1));
  }
  const size_t skipped = shape.size() - other.size();
  bool is_known = true;
  for (size_t d = 0; d < other.size(); ++d) {
    KILN_ASSIGN_OR_RETURN(Expr extent,
                          Met(call, arg, shape[skipped + d], other[d]));
    is_known = is_known && extent;
    if (extent) shape[skipped + d] = std::move(extent);
  }
  return is_known;
}

// A variable that holds the shape of all tensors, or null.
graph::Expr SharedShape(const OpCall& call) {
  graph::Expr shape;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto* tensor = call.info(i).As<graph::TensorInfo>();
    if (!tensor) continue;
    if (!tensor->shape || (shape && shape.get() != tensor->shape.get())) {
      return {};
    }
    shape = tensor->shape;
  }
  return shape;
}

}  // namespace

absl::StatusOr<DType> CommonType(const OpCall& call) {
  std::optional<DType> common;
  bool is_known = true;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto* tensor = call.info(i).As<graph::TensorInfo>();
    const auto* number = call.info(i).As<graph::PrimInfo>();
    if (!tensor && !number) {
      return call.ErrorAt(i, absl::StrCat("`", call.ArgName(i),
                                          "` has to be a tensor or a number"));
    }
    const DType dtype = tensor ? tensor->dtype : number->dtype;
    is_known = is_known && !dtype.is_void();
    if (dtype.is_void()) continue;
    if (common && *common != dtype) {
      return call.ErrorAt(
          i, absl::StrCat("the types differ, ", common->ToString(), " and ",
                          dtype.ToString(), "; convert one by R.astype"));
    }
    common = dtype;
  }
  return is_known && common ? *common : DType::Void();
}

absl::StatusOr<graph::StructInfo> BroadcastInfo(const OpCall& call,
                                                DType dtype) {
  if (call.size() < 2) return call.Error("an operand is missing");
  int rank = 0;
  bool is_known = true, is_tensor = false;
  Extents shape;
  std::string device;
  for (size_t i = 0; i < call.size(); ++i) {
    const auto* tensor = call.info(i).As<graph::TensorInfo>();
    if (tensor && device.empty()) device = tensor->device;
    is_tensor = is_tensor || tensor;
    const Known known = KnownOf(call.info(i));
    rank = rank == graph::kUnknownRank || known.rank == graph::kUnknownRank
               ? graph::kUnknownRank
               : std::max(rank, known.rank);
    is_known = is_known && known.extents;
    if (!known.extents) continue;
    KILN_ASSIGN_OR_RETURN(const bool meets,
                          Meet(call, i, *known.extents, shape));
    is_known = is_known && meets;
  }
  if (!is_tensor) return graph::Prim(dtype);
  if (is_known) return graph::Tensor(std::move(shape), dtype, device);
  if (graph::Expr shared = SharedShape(call)) {
    return graph::StructInfo(
        new graph::TensorInfo(std::move(shared), rank, dtype, device));
  }
  return graph::TensorOfRank(rank, dtype, device);
}

std::vector<Expr> BroadcastExtents(const std::vector<te::Tensor>& tensors) {
  std::vector<Expr> shape;
  for (const te::Tensor& tensor : tensors) {
    const std::vector<Expr>& other = tensor.shape();
    if (other.size() > shape.size()) {
      shape.insert(shape.begin(), other.size() - shape.size(), Int(1));
    }
    const size_t skipped = shape.size() - other.size();
    for (size_t d = 0; d < other.size(); ++d) {
      if (IsOne(shape[skipped + d])) shape[skipped + d] = other[d];
    }
  }
  return shape;
}

Expr ElementAt(const te::Tensor& tensor, const std::vector<Expr>& common,
               const std::vector<Expr>& indices) {
  const std::vector<Expr>& shape = tensor.shape();
  const size_t skipped = indices.size() - shape.size();
  std::vector<Expr> own;
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool repeats = IsOne(shape[d]) && !IsOne(common[skipped + d]);
    own.push_back(repeats ? Int(0) : indices[skipped + d]);
  }
  return tensor(std::move(own));
}

}  // namespace kiln
