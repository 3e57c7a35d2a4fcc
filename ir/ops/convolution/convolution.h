// What the files of this family share.
#ifndef KILN_IR_OPS_CONVOLUTION_CONVOLUTION_H_
#define KILN_IR_OPS_CONVOLUTION_CONVOLUTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/ops/layout.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/ops/window.h"

namespace kiln {

// Layouts and windows of a call of a convolution, transposed or not.
struct Convolution {
  size_t spatial;            // 1 to 3
  Layout data, kernel, out;  // over "NC.." , "OI..", "NC.."
  Windows windows;
  int64_t groups;
};

absl::StatusOr<Convolution> ConvolutionOf(const OpCall& call, size_t spatial);

// The attribute `out_dtype`, or the type of data and weight; void where that is
// not known.
absl::StatusOr<DType> ConvolvedType(const OpCall& call);

// A result whose axes "NC.." have extents, or only the rank of its layout.
absl::StatusOr<graph::StructInfo> ConvolvedInfo(
    const OpCall& call, const Convolution& conv,
    const std::optional<Extents>& axes);

// Refuses a count of channels that is no multiple of the groups.
absl::Status CheckGroups(const OpCall& call, size_t arg, const Expr& channels,
                         int64_t groups);

// The channels of one group.
Expr PerGroup(const Expr& channels, int64_t groups);

// The axes of the sum: channels of a group, then the taps of the kernel.
std::vector<te::IterVar> SumAxes(const Expr& channels, const Extents& kernel);

absl::Span<const OpRow> PlainConvolutions();
absl::Span<const OpRow> TransposedConvolutions();

}  // namespace kiln

#endif  // KILN_IR_OPS_CONVOLUTION_CONVOLUTION_H_
