#include "kiln/ir/ops/network/network.h"

namespace kiln {

absl::Span<const OpRow> NetworkOps() {
  static const auto& rows = *new std::vector<OpRow>(
      JoinRows({SoftmaxOps(), NormOps(), BatchNormOps(), LossOps(),
                GradientOps(), PadOps(), QuantizeOps()}));
  return rows;
}

}  // namespace kiln
