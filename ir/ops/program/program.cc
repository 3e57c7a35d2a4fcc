// Ops of the program rather than of its tensors: calls of functions, which say
// what they give.
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;

absl::StatusOr<StructInfo> InferStated(const OpCall& call) {
  const std::vector<StructInfo>& infos = call.node().infos;
  if (infos.empty()) return graph::Object();
  return infos.size() == 1 ? infos[0] : graph::Tuple(infos);
}

absl::StatusOr<StructInfo> InferShapeOf(const OpCall& call) {
  const absl::StatusOr<const graph::TensorInfo*> x = call.Tensor(0);
  if (!x.ok()) return x.status();
  if (const auto* extents = (*x)->extents()) return graph::Shape(*extents);
  return graph::ShapeOfRank((*x)->rank);
}

constexpr OpRow kRows[] = {
    {"call_dps_packed", InferStated},
    {"call_inplace_packed", InferStated, nullptr, nullptr, false},
    {"call_pure_packed", InferStated},
    {"call_tir", InferStated},
    {"call_tir_inplace", InferStated},
    {"call_tir_with_grad", InferStated},
    {"invoke_closure", InferStated, nullptr, nullptr, false},
    {"invoke_pure_closure", InferStated},
    {"shape_of", InferShapeOf},
};

}  // namespace

absl::Span<const OpRow> ProgramOps() { return kRows; }

}  // namespace kiln
