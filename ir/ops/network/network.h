// The parts of the family of what networks are made of: normalization, losses,
// padding, quantization.
#ifndef KILN_IR_OPS_NETWORK_NETWORK_H_
#define KILN_IR_OPS_NETWORK_NETWORK_H_

#include "absl/types/span.h"
#include "kiln/ir/ops/op.h"

namespace kiln {

absl::Span<const OpRow> SoftmaxOps();
absl::Span<const OpRow> NormOps();
absl::Span<const OpRow> BatchNormOps();
absl::Span<const OpRow> LossOps();
absl::Span<const OpRow> GradientOps();
absl::Span<const OpRow> PadOps();
absl::Span<const OpRow> QuantizeOps();

}  // namespace kiln

#endif  // KILN_IR_OPS_NETWORK_NETWORK_H_
