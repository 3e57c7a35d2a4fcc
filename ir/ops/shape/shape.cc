// Ops that move elements and change none:
//
//   R.permute_dims(x, axes=[1, 0])    y[i, j] = x[j, i]
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// The axes of x in the order of the result; reversed for None.
absl::StatusOr<std::vector<int>> Order(const OpCall& call, int rank) {
  KILN_ASSIGN_OR_RETURN(const auto axes, call.Axes("axes", rank));
  std::vector<int> order(rank);
  for (int d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  if (!axes) return order;
  if (static_cast<int>(axes->size()) == rank) return *axes;
  return call.ErrorAt(0, absl::StrCat("`axes` names ", axes->size(), " of ",
                                      rank, " dimensions"));
}

absl::StatusOr<StructInfo> InferPermute(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  const int rank = x->rank;
  if (rank == graph::kUnknownRank) {
    if (call.IsNone("axes")) {
      return graph::TensorOfRank(rank, x->dtype, x->device);
    }
    return call.ErrorAt(
        0,
        "`axes` are those of a tensor whose rank is known; R.match_cast "
        "tells it");
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<int> order, Order(call, rank));
  const bool is_same = std::is_sorted(order.begin(), order.end());
  if (is_same) return call.info(0);
  const auto* extents = x->extents();
  if (!extents) return graph::TensorOfRank(rank, x->dtype, x->device);
  std::vector<Expr> shape;
  for (const int axis : order) shape.push_back((*extents)[axis]);
  return graph::Tensor(std::move(shape), x->dtype, x->device);
}

absl::StatusOr<Lowered> LowerPermute(const OpCall& call, const Inputs& in) {
  const te::Tensor& x = in[0];
  const int rank = static_cast<int>(x.shape().size());
  KILN_ASSIGN_OR_RETURN(const std::vector<int> order, Order(call, rank));
  std::vector<Expr> shape;
  for (const int axis : order) shape.push_back(x.shape()[axis]);
  return Lowered(te::Compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) -> te::Value {
        std::vector<Expr> indices(rank);
        for (int d = 0; d < rank; ++d) indices[order[d]] = i[d];
        return x(std::move(indices));
      },
      "transpose"));
}

constexpr OpRow kRows[] = {
    {"permute_dims", InferPermute, LowerPermute},
};

}  // namespace

absl::Span<const OpRow> ShapeOps() { return kRows; }

}  // namespace kiln
