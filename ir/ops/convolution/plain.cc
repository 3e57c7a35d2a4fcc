// R.nn.conv1d, conv2d, conv3d. Channels are in groups; each of the result sums
// over those of its group and over the taps of the kernel:
//
//   R.nn.conv2d(x, w, strides=2, groups=8)
//   y[n, f, y, x] = sum over rc, ry, rx of
//       pad_temp[n, f // F * C + rc, y * 2 + ry, x * 2 + rx] *
//       w[f, rc, ry, rx]
//
// with F and C the channels of a group of the result and of the data. Every
// tensor is indexed through its layout.
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/convolution/convolution.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

absl::Status CheckChannels(const OpCall& call, const Convolution& conv,
                           const Extents& data, const Extents& kernel) {
  if (!call.AreEqual(data[1], Mul(kernel[1], Int(conv.groups)))) {
    return call.ErrorAt(
        1, absl::StrCat("its input channels times the ", conv.groups,
                        " groups are not those of the data"));
  }
  return CheckGroups(call, 1, kernel[0], conv.groups);
}

// How many places the window has along an axis.
Expr Places(const Convolution& conv, size_t d, const Expr& extent,
            const Expr& taps) {
  const Windows& w = conv.windows;
  const Expr reach = Mul(Sub(taps, Int(1)), Int(w.dilation[d]));
  const Expr room = Sub(Add(extent, Int(w.before[d] + w.after[d] - 1)), reach);
  return Add(FloorDiv(room, Int(w.strides[d])), Int(1));
}

template <size_t spatial>
absl::StatusOr<StructInfo> InferConvolution(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> data,
      AxisExtentsOf(call, 0, conv.data, AxesOf("NC", spatial)));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> kernel,
      AxisExtentsOf(call, 1, conv.kernel, AxesOf("OI", spatial)));
  if (!data || !kernel) return ConvolvedInfo(call, conv, std::nullopt);
  KILN_RETURN_IF_ERROR(CheckChannels(call, conv, *data, *kernel));
  Extents axes = {(*data)[0], (*kernel)[0]};
  for (size_t d = 0; d < spatial; ++d) {
    axes.push_back(Places(conv, d, (*data)[2 + d], (*kernel)[2 + d]));
  }
  return ConvolvedInfo(call, conv, axes);
}

// The product at the taps `k` of the element that has the axes `at`.
Expr Product(const Convolution& conv, DType dtype, const te::Tensor& data,
             const te::Tensor& weight, const Extents& at,
             const std::vector<te::IterVar>& k) {
  const std::string names = AxesOf("NC", conv.spatial);
  const std::string taps = AxesOf("OI", conv.spatial);
  const Extents kernel = conv.kernel.AxisExtents(taps, weight.shape());
  Extents of_data = {at[0], k[0]}, of_kernel = {at[1], k[0]};
  if (conv.groups > 1) {
    const Expr group = FloorDiv(at[1], PerGroup(kernel[0], conv.groups));
    of_data[1] = Add(Mul(group, k[0].domain().extent), k[0]);
  }
  for (size_t d = 0; d < conv.spatial; ++d) {
    const Windows& w = conv.windows;
    of_data.push_back(Add(Mul(at[2 + d], Int(w.strides[d])),
                          Mul(k[1 + d], Int(w.dilation[d]))));
    of_kernel.push_back(k[1 + d]);
  }
  return Mul(Cast(dtype, data(conv.data.Indices(names, of_data))),
             Cast(dtype, weight(conv.kernel.Indices(taps, of_kernel))));
}

// The axes of the sum in the order in which they stand in the data.
std::vector<te::IterVar> InLayoutOrder(const Convolution& conv,
                                       const std::vector<te::IterVar>& k) {
  const std::string names = AxesOf("C", conv.spatial);
  std::vector<te::IterVar> ordered;
  for (const Layout::Dim& dim : conv.data.dims()) {
    const size_t axis = names.find(dim.axis);
    if (dim.factor == 0 && axis != names.npos) ordered.push_back(k[axis]);
  }
  return ordered;
}

template <size_t spatial>
absl::StatusOr<Lowered> LowerConvolution(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferConvolution<spatial>(call));
  const auto* result = info.As<graph::TensorInfo>();
  const std::string names = AxesOf("NC", spatial);
  const Extents axes = conv.data.AxisExtents(names, in[0].shape());
  const Extents kernel =
      conv.kernel.AxisExtents(AxesOf("OI", spatial), in[1].shape());
  const te::Tensor data = PadWindows(in[0], conv.data, names, conv.windows,
                                     Constant(0, in[0].dtype()));
  const std::vector<te::IterVar> k =
      SumAxes(PerGroup(axes[1], conv.groups), kernel);
  return Lowered(te::Compute(
      *result->extents(),
      [&](const Extents& i) -> te::Value {
        const Extents at = conv.out.AxisIndices(names, i);
        return te::Sum(Product(conv, result->dtype, data, in[1], at, k),
                       InLayoutOrder(conv, k));
      },
      std::string(call.name().substr(3))));
}

constexpr OpRow kRows[] = {
    {"nn.conv1d", InferConvolution<1>, LowerConvolution<1>},
    {"nn.conv2d", InferConvolution<2>, LowerConvolution<2>},
    {"nn.conv3d", InferConvolution<3>, LowerConvolution<3>},
};

}  // namespace

absl::Span<const OpRow> PlainConvolutions() { return kRows; }

}  // namespace kiln
