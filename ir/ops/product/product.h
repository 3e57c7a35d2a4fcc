// The parts of the family of products.
#ifndef KILN_IR_OPS_PRODUCT_PRODUCT_H_
#define KILN_IR_OPS_PRODUCT_PRODUCT_H_

#include "absl/types/span.h"
#include "kiln/ir/ops/op.h"

namespace kiln {

absl::Span<const OpRow> MatmulOps();
absl::Span<const OpRow> EinsumOps();
absl::Span<const OpRow> AttentionOps();

}  // namespace kiln

#endif  // KILN_IR_OPS_PRODUCT_PRODUCT_H_
