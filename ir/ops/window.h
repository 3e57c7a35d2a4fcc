// What convolutions and pools have in common: windows that slide over the
// spatial axes of tensors in some data layout.
#ifndef KILN_IR_OPS_WINDOW_H_
#define KILN_IR_OPS_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/ops/layout.h"
#include "kiln/ir/ops/op_call.h"
#include "kiln/ir/te/te.h"

namespace kiln {

using Extents = std::vector<Expr>;

// How windows slide, for each spatial axis.
struct Windows {
  std::vector<int64_t> strides, dilation, before, after;
  bool has_padding() const;
};

// By the attributes `strides`, `dilation` and `padding`: one number, one for
// each axis, or all of those before and then all of those after. Refuses
// strides and dilations below 1 and padding below 0.
absl::StatusOr<Windows> WindowsOf(const OpCall& call, size_t spatial);

// "W", "HW", "DHW".
std::string_view SpatialAxes(size_t spatial);
// `prefix` and the spatial axes: "NC" and 2 make "NCHW".
std::string AxesOf(std::string_view prefix, size_t spatial);

// The layout that an attribute names, with the axes `names`; None is
// `otherwise`.
absl::StatusOr<Layout> LayoutOf(const OpCall& call, std::string_view attr,
                                std::string_view names);
absl::StatusOr<Layout> LayoutOr(const OpCall& call, std::string_view attr,
                                std::string_view names,
                                const Layout& otherwise);

// The extents of the axes `names` of argument `arg`; nullopt where they are not
// known. Refuses a rank and blocks that are not those of the layout.
absl::StatusOr<std::optional<Extents>> AxisExtentsOf(const OpCall& call,
                                                     size_t arg,
                                                     const Layout& layout,
                                                     std::string_view names);

// Each in its simplest form. InvalidArgument for a negative one, and for more
// elements than can be counted.
absl::StatusOr<Extents> SimplifiedExtents(const OpCall& call, Extents extents);

// `x` in `layout` with `value` around its last axes of `names`, as many as
// `windows` has; a copy without padding. `more` is added after.
te::Tensor PadWindows(const te::Tensor& x, const Layout& layout,
                      std::string_view names, const Windows& windows,
                      const Expr& value, const Extents& more = {});

}  // namespace kiln

#endif  // KILN_IR_OPS_WINDOW_H_
