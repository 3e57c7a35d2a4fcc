// Ops whose results are as long as the data makes them. They become calls of
// packed functions, which allocate what they give:
//
//   R.unique(x, ...)   kiln.builtin.unique(x, sorted, return_index,
//                      return_inverse, return_counts[, axis])
//   R.nonzero(x)       kiln.builtin.nonzero(x)
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;

absl::StatusOr<graph::Expr> Packed(const OpCall& call, std::string function,
                                   StructInfo result) {
  std::vector<graph::Expr> args = {graph::Extern(std::move(function))};
  args.insert(args.end(), call.node().args.begin(), call.node().args.end());
  return graph::CallOp("call_pure_packed", std::move(args), {},
                       {std::move(result)});
}

// --- unique: the distinct elements of x, or the distinct slices of an axis of
// it; and on demand, of int64: where each stands first, which of them each
// element is, and how often each occurs.

absl::StatusOr<StructInfo> InferUnique(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  int rank = 1;
  if (call.Has(5)) {
    KILN_ASSIGN_OR_RETURN(const int64_t axis, call.IntArg(5));
    KILN_RETURN_IF_ERROR(call.NormalAxis(axis, x->rank).status());
    rank = x->rank;
  }
  std::vector<StructInfo> results = {
      graph::TensorOfRank(rank, x->dtype, x->device)};
  // Argument 1 says only in which order they come.
  for (size_t i = 1; i < 5 && call.Has(i); ++i) {
    KILN_ASSIGN_OR_RETURN(const bool is_wanted, call.BoolArg(i));
    if (i == 1 || !is_wanted) continue;
    results.push_back(graph::TensorOfRank(1, DType::Int(64), x->device));
  }
  if (results.size() == 1) return results[0];
  return graph::Tuple(std::move(results));
}

absl::StatusOr<graph::Expr> ExpandUnique(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(StructInfo result, InferUnique(call));
  return Packed(call, "kiln.builtin.unique", std::move(result));
}

// --- nonzero: a row for each dimension of x, with the places of the elements
// that are not 0 in row-major order.

absl::StatusOr<StructInfo> InferNonzero(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  return graph::TensorOfRank(2, DType::Int(64), x->device);
}

absl::StatusOr<graph::Expr> ExpandNonzero(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(StructInfo result, InferNonzero(call));
  return Packed(call, "kiln.builtin.nonzero", std::move(result));
}

constexpr OpRow kRows[] = {
    {"nonzero", InferNonzero, nullptr, ExpandNonzero},
    {"unique", InferUnique, nullptr, ExpandUnique},
};

}  // namespace

absl::Span<const OpRow> DistinctOps() { return kRows; }

}  // namespace kiln
