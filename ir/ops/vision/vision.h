// The parts of the family of vision: what finds boxes in images, and reads
// images under boxes.
#ifndef KILN_IR_OPS_VISION_VISION_H_
#define KILN_IR_OPS_VISION_VISION_H_

#include "absl/types/span.h"
#include "kiln/ir/ops/op.h"

namespace kiln {

absl::Span<const OpRow> BoxOps();
absl::Span<const OpRow> RegionOps();

// What the calls give (box_info.cc).
absl::StatusOr<graph::StructInfo> InferValidCounts(const OpCall& call);
absl::StatusOr<graph::StructInfo> InferSuppression(const OpCall& call);
absl::StatusOr<graph::StructInfo> InferAllClassSuppression(const OpCall& call);
absl::StatusOr<graph::StructInfo> InferMultibox(const OpCall& call);

// How they are computed (suppression.cc).
absl::StatusOr<Lowered> LowerSuppression(const OpCall& call,
                                         const std::vector<te::Tensor>& inputs);
absl::StatusOr<Lowered> LowerAllClassSuppression(
    const OpCall& call, const std::vector<te::Tensor>& inputs);

}  // namespace kiln

#endif  // KILN_IR_OPS_VISION_VISION_H_
