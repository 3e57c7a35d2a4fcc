// R.nn.conv1d_transpose, conv2d_transpose, conv3d_transpose: each element of
// the data is spread over the result. Computed from the side of the result: the
// data with strides - 1 zeros between its elements and as many around as the
// kernel reaches, convolved with the kernel from its last tap to its first.
//
//   data_dilate[n, c, y]      = x[n, c, y // s] where y % s == 0, else 0
//   data_pad[n, c, y]         = data_dilate[n, c, y - lead] inside, else 0
//   kernel_transform[o, i, r] = w[i, o, taps - 1 - r]
//   y[n, f, y]                = sum over rc, r of
//       data_pad[n, f // O * I + rc, y + r * dilation] *
//       kernel_transform[f % O, f // O * I + rc, r]
//
// lead = (taps - 1) * dilation - padding; O, I: channels of a group.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/convolution/convolution.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

absl::StatusOr<std::vector<int64_t>> OutputPadding(const OpCall& call,
                                                   const Convolution& conv) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> padding,
                        call.Ints("output_padding", conv.spatial));
  for (size_t d = 0; d < conv.spatial; ++d) {
    const int64_t stride = conv.windows.strides[d];
    if (padding[d] >= 0 && padding[d] < stride) continue;
    return call.Error(absl::StrCat("`output_padding` has ", padding[d],
                                   "; it is below the stride ", stride));
  }
  return padding;
}

absl::Status CheckChannels(const OpCall& call, const Convolution& conv,
                           const Extents& data, const Extents& kernel) {
  if (!call.AreEqual(data[1], kernel[1])) {
    return call.ErrorAt(1, "its input channels are not those of the data");
  }
  return CheckGroups(call, 0, data[1], conv.groups);
}

Expr Reach(const Convolution& conv, size_t d, const Expr& taps) {
  return Mul(Sub(taps, Int(1)), Int(conv.windows.dilation[d]));
}

// The extent of the result along an axis.
Expr Spread(const Convolution& conv, size_t d, const Expr& extent,
            const Expr& taps, int64_t output_padding) {
  const Windows& w = conv.windows;
  const Expr last = Mul(Sub(extent, Int(1)), Int(w.strides[d]));
  return Add(Add(last, Reach(conv, d, taps)),
             Int(output_padding + 1 - w.before[d] - w.after[d]));
}

template <size_t spatial>
absl::StatusOr<StructInfo> InferTransposed(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> output_padding,
                        OutputPadding(call, conv));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> data,
      AxisExtentsOf(call, 0, conv.data, AxesOf("NC", spatial)));
  KILN_ASSIGN_OR_RETURN(
      const std::optional<Extents> kernel,
      AxisExtentsOf(call, 1, conv.kernel, AxesOf("OI", spatial)));
  if (!data || !kernel) return ConvolvedInfo(call, conv, std::nullopt);
  KILN_RETURN_IF_ERROR(CheckChannels(call, conv, *data, *kernel));
  Extents axes = {(*data)[0], Mul((*kernel)[0], Int(conv.groups))};
  for (size_t d = 0; d < spatial; ++d) {
    axes.push_back(
        Spread(conv, d, (*data)[2 + d], (*kernel)[2 + d], output_padding[d]));
  }
  return ConvolvedInfo(call, conv, axes);
}

// All of these hold; null for none.
Expr All(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& condition : conditions) {
    all = all ? And(all, condition) : condition;
  }
  return all;
}

// `own` inside, else 0.
Expr OrZero(const Expr& inside, const Expr& own) {
  if (!inside) return own;
  return Call(own.dtype(), Intrinsic::kIfThenElse,
              {inside, own, Constant(0, own.dtype())});
}

// The data with zeros between its elements, axes "NC..".
te::Tensor Dilated(const Convolution& conv, const te::Tensor& x) {
  const std::string names = AxesOf("NC", conv.spatial);
  Extents shape = conv.data.AxisExtents(names, x.shape());
  for (size_t d = 0; d < conv.spatial; ++d) {
    const Expr stride = Int(conv.windows.strides[d]);
    Expr& extent = shape[2 + d];
    if (!IsOne(stride)) {
      extent = Add(Mul(Sub(extent, Int(1)), stride), Int(1));
    }
  }
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents at = i;
        std::vector<Expr> conditions;
        for (size_t d = 0; d < conv.spatial; ++d) {
          const Expr stride = Int(conv.windows.strides[d]);
          if (IsOne(stride)) continue;
          conditions.push_back(EQ(FloorMod(i[2 + d], stride), Int(0)));
          at[2 + d] = FloorDiv(i[2 + d], stride);
        }
        return OrZero(All(conditions), x(conv.data.Indices(names, at)));
      },
      "data_dilate");
}

// `dilated` with zeros around, as many as the kernel reaches.
te::Tensor Padded(const OpCall& call, const Convolution& conv,
                  const te::Tensor& dilated, const Extents& result,
                  const Extents& kernel) {
  Extents shape = dilated.shape(), lead;
  for (size_t d = 0; d < conv.spatial; ++d) {
    const Expr reach = Reach(conv, d, kernel[2 + d]);
    shape[2 + d] = call.analyzer().Simplify(Add(result[2 + d], reach));
    lead.push_back(
        call.analyzer().Simplify(Sub(reach, Int(conv.windows.before[d]))));
  }
  return te::Compute(
      shape,
      [&](const Extents& i) -> te::Value {
        Extents at = i;
        std::vector<Expr> conditions;
        for (size_t d = 0; d < conv.spatial; ++d) {
          const Expr& extent = dilated.shape()[2 + d];
          conditions.push_back(LE(lead[d], i[2 + d]));
          conditions.push_back(LT(i[2 + d], Add(extent, lead[d])));
          at[2 + d] = Sub(i[2 + d], lead[d]);
        }
        return OrZero(All(conditions), dilated(at));
      },
      "data_pad");
}

// The kernel, axes "OI..", from its last tap.
te::Tensor Turned(const Convolution& conv, const te::Tensor& weight,
                  const Extents& kernel) {
  return te::Compute(
      kernel,
      [&](const Extents& i) -> te::Value {
        Extents at = {i[0], i[1]};
        for (size_t d = 0; d < conv.spatial; ++d) {
          at.push_back(Sub(Sub(kernel[2 + d], Int(1)), i[2 + d]));
        }
        return weight(conv.kernel.Indices(AxesOf("OI", conv.spatial), at));
      },
      "kernel_transform");
}

Expr Product(const Convolution& conv, DType dtype, const te::Tensor& data,
             const te::Tensor& kernel, const Extents& at,
             const std::vector<te::IterVar>& k) {
  Expr channel = k[0], output = at[1];
  if (conv.groups > 1) {
    const Expr& outputs = kernel.shape()[0];
    const Expr group = FloorDiv(at[1], outputs);
    channel = Add(Mul(group, k[0].domain().extent), k[0]);
    output = FloorMod(at[1], outputs);
  }
  Extents of_data = {at[0], channel}, of_kernel = {output, channel};
  for (size_t d = 0; d < conv.spatial; ++d) {
    of_data.push_back(
        Add(at[2 + d], Mul(k[1 + d], Int(conv.windows.dilation[d]))));
    of_kernel.push_back(k[1 + d]);
  }
  return Mul(Cast(dtype, data(of_data)), Cast(dtype, kernel(of_kernel)));
}

template <size_t spatial>
absl::StatusOr<Lowered> LowerTransposed(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const Convolution conv, ConvolutionOf(call, spatial));
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferTransposed<spatial>(call));
  const auto* result = info.As<graph::TensorInfo>();
  const std::string names = AxesOf("NC", spatial);
  Extents kernel =
      conv.kernel.AxisExtents(AxesOf("OI", spatial), in[1].shape());
  const te::Tensor dilated = Dilated(conv, in[0]);
  kernel[1] = dilated.shape()[1];
  const te::Tensor data =
      Padded(call, conv, dilated,
             conv.out.AxisExtents(names, *result->extents()), kernel);
  const te::Tensor turned = Turned(conv, in[1], kernel);
  const std::vector<te::IterVar> k =
      SumAxes(PerGroup(data.shape()[1], conv.groups), kernel);
  return Lowered(te::Compute(
      *result->extents(),
      [&](const Extents& i) -> te::Value {
        const Extents at = conv.out.AxisIndices(names, i);
        return te::Sum(Product(conv, result->dtype, data, turned, at, k), k);
      },
      "compute"));
}

constexpr OpRow kRows[] = {
    {"nn.conv1d_transpose", InferTransposed<1>, LowerTransposed<1>},
    {"nn.conv2d_transpose", InferTransposed<2>, LowerTransposed<2>},
    {"nn.conv3d_transpose", InferTransposed<3>, LowerTransposed<3>},
};

}  // namespace

absl::Span<const OpRow> TransposedConvolutions() { return kRows; }

}  // namespace kiln
