// Attributes are read for each spatial axis, extents for each axis of the
// layout that the call names: of "NCHW16c" the channels are 16 times dimension
// 1. Padding is a stage of its own, in the layout of the data:
//
//   pad_temp[n, c, h, w] = x[n, c, h - 1, w - 1] if 1 <= h < 29 and ... else 0
#include "kiln/ir/ops/window.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

absl::Status CheckAtLeast(const OpCall& call, std::string_view attr,
                          const std::vector<int64_t>& values, int64_t least) {
  for (const int64_t value : values) {
    if (value >= least && value <= INT32_MAX) continue;
    return call.Error(absl::StrCat("`", std::string(attr), "` has ", value,
                                   "; it is at least ", least,
                                   " and at most 2^31 - 1"));
  }
  return absl::OkStatus();
}

absl::Status SetPadding(const OpCall& call, size_t spatial, Windows& windows) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> padding, call.Ints("padding"));
  KILN_RETURN_IF_ERROR(CheckAtLeast(call, "padding", padding, 0));
  if (padding.size() == 1) padding.resize(spatial, padding[0]);
  if (padding.size() == spatial) {
    windows.before = windows.after = padding;
    return absl::OkStatus();
  }
  if (padding.size() != 2 * spatial) {
    return call.Error(absl::StrCat("`padding` has ", padding.size(),
                                   " numbers; it has 1, ", spatial, " or ",
                                   2 * spatial));
  }
  windows.before.assign(padding.begin(), padding.begin() + spatial);
  windows.after.assign(padding.begin() + spatial, padding.end());
  return absl::OkStatus();
}

absl::Status CheckBlocks(const OpCall& call, size_t arg, const Layout& layout,
                         const Extents& extents) {
  for (int d = 0; d < layout.rank(); ++d) {
    const int64_t factor = layout.dims()[d].factor;
    const int64_t* extent = AsInt(extents[d]);
    if (factor == 0 || !extent || *extent == factor) continue;
    return call.ErrorAt(
        arg, absl::StrCat("dimension ", d, " has ", *extent,
                          " elements, and blocks of the layout ", factor));
  }
  return absl::OkStatus();
}

}  // namespace

bool Windows::has_padding() const {
  const auto is_set = [](int64_t value) { return value != 0; };
  return std::any_of(before.begin(), before.end(), is_set) ||
         std::any_of(after.begin(), after.end(), is_set);
}

absl::StatusOr<Windows> WindowsOf(const OpCall& call, size_t spatial) {
  Windows windows;
  KILN_ASSIGN_OR_RETURN(windows.strides, call.Ints("strides", spatial));
  KILN_RETURN_IF_ERROR(CheckAtLeast(call, "strides", windows.strides, 1));
  KILN_ASSIGN_OR_RETURN(windows.dilation, call.Ints("dilation", spatial));
  KILN_RETURN_IF_ERROR(CheckAtLeast(call, "dilation", windows.dilation, 1));
  KILN_RETURN_IF_ERROR(SetPadding(call, spatial, windows));
  return windows;
}

std::string_view SpatialAxes(size_t spatial) {
  return std::string_view("DHW").substr(3 - spatial);
}

std::string AxesOf(std::string_view prefix, size_t spatial) {
  return std::string(prefix) + std::string(SpatialAxes(spatial));
}

absl::StatusOr<Layout> LayoutOf(const OpCall& call, std::string_view attr,
                                std::string_view names) {
  KILN_ASSIGN_OR_RETURN(const std::string text, call.String(attr));
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  if (!layout.ok()) {
    return call.Error(
        absl::StrCat("`", std::string(attr), "`: ", layout.status().message()));
  }
  if (layout->HasAxes(names)) return layout;
  return call.Error(absl::StrCat("`", std::string(attr), "` is ", text,
                                 ", whose axes are not those of ",
                                 std::string(names)));
}

absl::StatusOr<Layout> LayoutOr(const OpCall& call, std::string_view attr,
                                std::string_view names,
                                const Layout& otherwise) {
  const std::string* text = call.attr(attr).string();
  if (call.IsNone(attr) || (text && text->empty())) return otherwise;
  return LayoutOf(call, attr, names);
}

absl::StatusOr<std::optional<Extents>> AxisExtentsOf(const OpCall& call,
                                                     size_t arg,
                                                     const Layout& layout,
                                                     std::string_view names) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* tensor, call.Tensor(arg));
  if (tensor->rank != graph::kUnknownRank && tensor->rank != layout.rank()) {
    return call.ErrorAt(
        arg, absl::StrCat("a tensor of its layout has ", layout.rank(),
                          " dimensions, not ", tensor->rank));
  }
  if (!tensor->extents()) return std::optional<Extents>();
  KILN_RETURN_IF_ERROR(CheckBlocks(call, arg, layout, *tensor->extents()));
  return std::optional<Extents>(layout.AxisExtents(names, *tensor->extents()));
}

absl::StatusOr<Extents> SimplifiedExtents(const OpCall& call, Extents extents) {
  int64_t elements = 8;  // of at most as many bytes
  for (Expr& extent : extents) {
    extent = call.analyzer().Simplify(extent);
    const int64_t* value = AsInt(extent);
    if (value && *value < 0) {
      return call.Error(absl::StrCat("the result has an extent of ", *value,
                                     "; a window has to fit into the data"));
    }
    if (value && __builtin_mul_overflow(elements, std::max<int64_t>(*value, 1),
                                        &elements)) {
      return call.Error("the result has more bytes than an int64 can count");
    }
  }
  return extents;
}

te::Tensor PadWindows(const te::Tensor& x, const Layout& layout,
                      std::string_view names, const Windows& windows,
                      const Expr& value, const Extents& more) {
  const Extents axes = layout.AxisExtents(names, x.shape());
  const size_t first = names.size() - windows.before.size();
  // Blocks that are not full, or more behind than `after`.
  const bool has_more =
      !more.empty() || static_cast<size_t>(layout.rank()) != names.size();
  Extents padded = axes;
  for (size_t d = 0; d < windows.before.size(); ++d) {
    Expr& extent = padded[first + d];
    extent = Add(extent, Int(windows.before[d] + windows.after[d]));
    if (!more.empty()) extent = Add(extent, more[d]);
  }
  const auto element = [&](const Extents& i) -> te::Value {
    Extents at = layout.AxisIndices(names, i);
    Expr inside;
    const auto require = [&](const Expr& condition) {
      inside = inside ? And(inside, condition) : condition;
    };
    for (size_t d = 0; d < windows.before.size(); ++d) {
      Expr& index = at[first + d];
      const Expr begin = Int(windows.before[d]);
      if (windows.before[d]) require(LE(begin, index));
      if (windows.after[d] || has_more) {
        require(LT(index, Add(axes[first + d], begin)));
      }
      if (windows.before[d]) index = Sub(index, begin);
    }
    const Expr own = x(layout.Indices(names, at));
    return inside
               ? Call(x.dtype(), Intrinsic::kIfThenElse, {inside, own, value})
               : own;
  };
  return te::Compute(layout.Extents(names, padded), element, "pad_temp");
}

}  // namespace kiln
