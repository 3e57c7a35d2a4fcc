// What the files of this family share.
#ifndef KILN_IR_OPS_POOLING_POOLING_H_
#define KILN_IR_OPS_POOLING_POOLING_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/ops/layout.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/ops/window.h"

namespace kiln {

// The layouts of a call of a pool, by `layout` and `out_layout`.
struct PoolLayouts {
  Layout data, out;
  std::string names;  // "NCHW"
};

absl::StatusOr<PoolLayouts> PoolLayoutsOf(const OpCall& call, size_t spatial);

// A pool whose windows slide.
struct Pool {
  PoolLayouts layouts;
  Windows windows;
  std::vector<int64_t> size;
  bool rounds_up, counts_padding;
};
absl::StatusOr<Pool> PoolOf(const OpCall& call, size_t spatial);

// The extents "NC.." of the result, by those of the data.
Extents PooledAxes(const Pool& pool, const Extents& data);

// How many elements of axis `d` the window at `place` has that count for an
// average, at least 1 over all axes.
Expr CountedElements(const Pool& pool, const Extents& places,
                     const Extents& data);

// The data with `value` wherever a window reaches.
te::Tensor PadForPool(const Pool& pool, const te::Tensor& x, const Expr& value);

// A tensor like argument 0 whose axes have extents, or only the rank of its
// layout.
absl::StatusOr<graph::StructInfo> PooledInfo(
    const OpCall& call, const PoolLayouts& layouts,
    const std::optional<Extents>& axes);

// What tells schedulers the kind of a pool's block.
te::ComputeOptions ScheduledAs(const std::string& kind);

// sum / count; of integers the quotient towards zero.
Expr Mean(const Expr& sum, const Expr& count);

absl::Span<const OpRow> SlidingPools();
absl::Span<const OpRow> AdaptivePools();
absl::Span<const OpRow> PoolGradients();

}  // namespace kiln

#endif  // KILN_IR_OPS_POOLING_POOLING_H_
