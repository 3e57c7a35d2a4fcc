// The parts of the family of ops of the program rather than of its tensors.
#ifndef KILN_IR_OPS_PROGRAM_PROGRAM_H_
#define KILN_IR_OPS_PROGRAM_PROGRAM_H_

#include "absl/types/span.h"
#include "kiln/ir/ops/op.h"

namespace kiln {

absl::Span<const OpRow> CallOps();
absl::Span<const OpRow> ShapeValueOps();
absl::Span<const OpRow> MemoryOps();
absl::Span<const OpRow> DeviceOps();
absl::Span<const OpRow> InspectOps();

}  // namespace kiln

#endif  // KILN_IR_OPS_PROGRAM_PROGRAM_H_
