// Ops whose attributes name layouts. Convolutions take those that are asked
// for; where none are, or where channels do not divide into the parts asked
// for, they take their data as it comes, and so do pooling and resizing:
//
//   R.nn.conv2d(x, w, data_layout="NCHW", kernel_layout="OIHW")
//       asked for NHWC, OHWI: x is brought to 0 2 3 1, w to 0 2 3 1
//   R.nn.max_pool2d(x, layout="NCHW")    x is 0 2 3 1: layout="NHWC"
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/ir/transform/graph/layout/layout_rule.h"

namespace kiln {
namespace {

// The attribute, or the one that stands for it where it is None.
std::optional<std::string> Names(const LayoutCall& call,
                                 const std::string& attr,
                                 const std::string& missing = "") {
  const bool is_missing = call.call.IsNone(attr) && !missing.empty();
  const auto text = call.call.String(is_missing ? missing : attr);
  if (!text.ok() || text->empty()) {
    return missing.empty() || is_missing ? std::nullopt : Names(call, missing);
  }
  const bool is_whole = std::all_of(
      text->begin(), text->end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_whole ? std::optional(*text) : std::nullopt;
}

struct ConvolutionNames {
  std::string data, kernel, out;
};

LayoutPlan Convolved(const LayoutCall& call, const ConvolutionNames& names,
                     const std::vector<TensorLayout>& layouts) {
  AttrMap attrs = call.attrs();
  attrs["data_layout"] = layouts[0].Named(names.data);
  attrs["kernel_layout"] = layouts[1].Named(names.kernel);
  attrs["out_layout"] = layouts[2].Named(names.out);
  return {{layouts[0], layouts[1]}, {layouts[2]}, std::move(attrs), {}};
}

std::optional<LayoutPlan> AsDesired(const LayoutCall& call,
                                    const ConvolutionNames& names) {
  const auto found =
      call.desired.find(absl::StrCat("relax.", call.call.name()));
  if (found == call.desired.end()) return std::nullopt;
  const std::vector<std::string>& wanted = found->second;
  const auto data = TensorLayout::Between(names.data, wanted[0]);
  const auto kernel = TensorLayout::Between(names.kernel, wanted[1]);
  const auto out =
      TensorLayout::Between(names.out, wanted[wanted.size() == 3 ? 2 : 0]);
  const bool fits = data && kernel && out &&
                    data->Fits(*call.tensors[0], call.analyzer()) &&
                    kernel->Fits(*call.tensors[1], call.analyzer()) &&
                    out->Fits(*call.results[0], call.analyzer());
  if (!fits) return std::nullopt;
  return Convolved(call, names, {*data, *kernel, *out});
}

std::optional<LayoutPlan> Convolution(const LayoutCall& call) {
  const auto data = Names(call, "data_layout");
  const auto kernel = Names(call, "kernel_layout");
  const auto out = Names(call, "out_layout", "data_layout");
  if (!data || !kernel || !out) return std::nullopt;
  const ConvolutionNames names{*data, *kernel, *out};
  if (auto plan = AsDesired(call, names)) return plan;
  const TensorLayout &x = call.layouts[0], &w = call.layouts[1];
  const bool stays = x.IsPlain() && w.IsPlain();
  if (stays || x.HasParts() || w.HasParts()) return std::nullopt;
  const TensorLayout result =
      *out == *data ? x : TensorLayout::Plain(static_cast<int>(out->size()));
  return Convolved(call, names, {x, w, result});
}

// Whether only the batch and the channels have parts.
bool HasWholePlanes(const TensorLayout& layout, const std::string& names) {
  for (size_t axis = 0; axis < names.size(); ++axis) {
    const bool is_plane = names[axis] != 'N' && names[axis] != 'C';
    if (is_plane && layout.HasParts(static_cast<int>(axis))) return false;
  }
  return true;
}

std::optional<LayoutPlan> Pool(const LayoutCall& call) {
  const auto names = Names(call, "layout");
  const auto out = Names(call, "out_layout", "layout");
  const TensorLayout& layout = call.layouts[0];
  const bool follows = names && out == names && HasWholePlanes(layout, *names);
  if (!follows) return std::nullopt;
  AttrMap attrs = call.attrs();
  attrs["layout"] = layout.Named(*names);
  attrs["out_layout"] = layout.Named(*names);
  return FollowFirst(call, std::move(attrs));
}

std::optional<LayoutPlan> Resize(const LayoutCall& call) {
  const auto names = Names(call, "layout");
  if (!names || call.layouts[0].HasParts()) return std::nullopt;
  AttrMap attrs = call.attrs();
  attrs["layout"] = call.layouts[0].Named(*names);
  return FollowFirst(call, std::move(attrs));
}

constexpr LayoutRow kRows[] = {
    {"image.resize2d", Resize},       {"image.resize3d", Resize},
    {"nn.adaptive_avg_pool1d", Pool}, {"nn.adaptive_avg_pool2d", Pool},
    {"nn.adaptive_avg_pool3d", Pool}, {"nn.avg_pool1d", Pool},
    {"nn.avg_pool2d", Pool},          {"nn.avg_pool3d", Pool},
    {"nn.conv1d", Convolution},       {"nn.conv1d_transpose", Convolution},
    {"nn.conv2d", Convolution},       {"nn.conv2d_transpose", Convolution},
    {"nn.conv3d", Convolution},       {"nn.conv3d_transpose", Convolution},
    {"nn.max_pool1d", Pool},          {"nn.max_pool2d", Pool},
    {"nn.max_pool3d", Pool},
};

}  // namespace

absl::Span<const LayoutRow> WindowRules() { return kRows; }

}  // namespace kiln
