#include "kiln/ir/ops/product/product.h"

namespace kiln {

absl::Span<const OpRow> ProductOps() {
  static const auto& rows = *new std::vector<OpRow>(
      JoinRows({MatmulOps(), EinsumOps(), AttentionOps()}));
  return rows;
}

}  // namespace kiln
