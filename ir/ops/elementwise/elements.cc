#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/elementwise/elementwise.h"

namespace kiln {
namespace {

using graph::StructInfo;

// Null for a tensor.
absl::StatusOr<Expr> NumberOf(const OpCall& call, size_t i) {
  if (call.info(i).As<graph::TensorInfo>()) return Expr();
  KILN_ASSIGN_OR_RETURN(Expr number, call.Number(i));
  if (number) return number;
  return absl::UnimplementedError("the number is not known");
}

absl::Status CheckOneType(const std::vector<Expr>& elements, size_t begin) {
  for (size_t i = begin; i < elements.size(); ++i) {
    if (elements[i].dtype() != elements[begin].dtype()) {
      return absl::UnimplementedError("operands of two types");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StructInfo> InferLike(const OpCall& call) {
  KILN_RETURN_IF_ERROR(call.Tensor(0).status());
  return call.info(0);
}

absl::StatusOr<StructInfo> InferLikeFloat(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  if (!x->dtype.is_void() && !x->dtype.is_float()) {
    return call.ErrorAt(
        0, absl::StrCat("the op is one of floats, and `", call.ArgName(0),
                        "` is one of ", x->dtype.ToString()));
  }
  return call.info(0);
}

absl::Status CheckTwo(const OpCall& call) {
  if (call.Has(0) && call.Has(1)) return absl::OkStatus();
  return call.Error(
      absl::StrCat("`", call.ArgName(call.size()), "` is missing"));
}

absl::StatusOr<StructInfo> InferBinary(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckTwo(call));
  KILN_ASSIGN_OR_RETURN(const DType dtype, CommonType(call));
  return BroadcastInfo(call, dtype);
}

Lowered OneByOne(const te::Tensor& x, FunctionRef<Expr(const Expr&)> map) {
  return te::Compute(
      x.shape(),
      [&](const std::vector<Expr>& i) -> te::Value { return map(x(i)); },
      "compute");
}

absl::StatusOr<Lowered> Together(
    const OpCall& call, const std::vector<te::Tensor>& in,
    FunctionRef<Expr(const std::vector<Expr>&)> map, bool has_condition) {
  std::vector<Expr> numbers;
  for (size_t i = 0; i < call.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(numbers.emplace_back(), NumberOf(call, i));
  }
  const std::vector<Expr> shape = BroadcastExtents(in);
  const auto elements = [&](const std::vector<Expr>& i) {
    std::vector<Expr> all;
    size_t next = 0;
    for (const Expr& number : numbers) {
      all.push_back(number ? number : ElementAt(in[next++], shape, i));
    }
    return all;
  };
  KILN_RETURN_IF_ERROR(CheckOneType(
      elements(std::vector<Expr>(shape.size(), Int(0))), has_condition));
  return Lowered(te::Compute(
      shape,
      [&](const std::vector<Expr>& i) -> te::Value { return map(elements(i)); },
      "compute"));
}

}  // namespace kiln
