// Convolutions and pools. Of y = conv(x, w), with all in the order of "NCHW":
//
//   of x: the transposed convolution of grad by w
//   of w: the convolution of x by grad, channels and batch exchanged, strides
//         and dilation too. What the stride left over of x is cut off again.
//
// Of groups, channels of x stand as (group, channel in it); exchanged with the
// batch they are (channel in it, group, batch), a convolution of as many
// groups.
#include <algorithm>
#include <string>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;

// Windows and layouts of a call, all numbers known.
struct Conv {
  size_t spatial;
  std::vector<int64_t> x, w, y;  // extents, as "NCHW" and "OIHW"
  std::vector<int64_t> strides, dilation, padding;  // padding: before, after
  int64_t groups;
  std::string data, kernel, out;  // layouts of the call
};

std::string PlainData(size_t spatial) {
  return spatial == 1 ? "NCW" : spatial == 2 ? "NCHW" : "NCDHW";
}
std::string PlainKernel(size_t spatial) {
  return spatial == 1 ? "OIW" : spatial == 2 ? "OIHW" : "OIDHW";
}
std::string PlainTransposedKernel(size_t spatial) {
  return spatial == 1 ? "IOW" : spatial == 2 ? "IOHW" : "IODHW";
}

// For each letter of `to`, its place in `from`; fewer where one lacks.
std::vector<int64_t> PlacesOf(const std::string& from, const std::string& to) {
  std::vector<int64_t> places;
  for (const char letter : to) {
    const size_t at = from.find(letter);
    if (at != std::string::npos) places.push_back(static_cast<int64_t>(at));
  }
  return places;
}

Expr InOrder(const Expr& e, const std::string& from, const std::string& to) {
  return from == to ? e : Permuted(e, PlacesOf(from, to));
}

// The extents of a tensor of the layout, in another order.
absl::StatusOr<std::vector<int64_t>> ExtentsIn(const GradientCall& call,
                                               const graph::TensorInfo& info,
                                               const std::string& layout,
                                               const std::string& order) {
  const std::vector<int64_t> places = PlacesOf(layout, order);
  if (places.size() != order.size() || layout.size() != order.size()) {
    return call.Refuse("its layouts have to be orders of its axes");
  }
  std::vector<int64_t> extents;
  for (const int64_t place : places) {
    const int64_t* extent = AsInt((*info.extents())[place]);
    if (!extent) return call.Refuse("its extents have to be constants");
    extents.push_back(*extent);
  }
  return extents;
}

// As many numbers as `count`; one stands for all.
absl::StatusOr<std::vector<int64_t>> Numbers(const GradientCall& call,
                                             const std::string& name,
                                             size_t count) {
  std::vector<int64_t> numbers;
  if (const AttrList* list = call.attr(name).list()) {
    for (const Attr& item : *list) {
      const int64_t* value = item.expr() ? AsInt(*item.expr()) : nullptr;
      if (!value) return call.Refuse("its windows are no numbers");
      numbers.push_back(*value);
    }
  } else {
    KILN_ASSIGN_OR_RETURN(numbers.emplace_back(), call.Int(name));
  }
  if (numbers.size() == 1) numbers.resize(count, numbers[0]);
  // Padding on both sides alike.
  if (2 * numbers.size() == count) {
    numbers.insert(numbers.end(), numbers.begin(), numbers.end());
  }
  if (numbers.size() == count) return numbers;
  return call.Refuse("its windows have another number of axes");
}

std::string LayoutOf(const GradientCall& call, const std::string& name,
                     const std::string& missing) {
  const std::string* layout = call.attr(name).string();
  return layout && !layout->empty() ? *layout : missing;
}

// Of a convolution, or of the one that a transposed one takes back: from its
// result to its data.
absl::StatusOr<Conv> ConvOf(const GradientCall& call, size_t spatial,
                            bool is_transposed) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* w, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  if (x->dtype != y->dtype || w->dtype != y->dtype) {
    return call.Refuse("its operands and its result have to be of one type");
  }
  Conv conv;
  conv.spatial = spatial;
  conv.data = LayoutOf(call, "data_layout", PlainData(spatial));
  conv.kernel = LayoutOf(
      call, "kernel_layout",
      is_transposed ? PlainTransposedKernel(spatial) : PlainKernel(spatial));
  conv.out = LayoutOf(call, "out_layout", conv.data);
  if (is_transposed) {
    std::swap(x, y);
    std::swap(conv.data, conv.out);
    for (char& letter : conv.kernel) {
      letter = letter == 'I' ? 'O' : letter == 'O' ? 'I' : letter;
    }
  }
  KILN_ASSIGN_OR_RETURN(conv.x,
                        ExtentsIn(call, *x, conv.data, PlainData(spatial)));
  KILN_ASSIGN_OR_RETURN(conv.w,
                        ExtentsIn(call, *w, conv.kernel, PlainKernel(spatial)));
  KILN_ASSIGN_OR_RETURN(conv.y,
                        ExtentsIn(call, *y, conv.out, PlainData(spatial)));
  KILN_ASSIGN_OR_RETURN(conv.strides, Numbers(call, "strides", spatial));
  KILN_ASSIGN_OR_RETURN(conv.dilation, Numbers(call, "dilation", spatial));
  KILN_ASSIGN_OR_RETURN(conv.padding, Numbers(call, "padding", 2 * spatial));
  KILN_ASSIGN_OR_RETURN(conv.groups, call.Int("groups"));
  return conv;
}

// What the windows reach of the padded data along an axis, less its extent.
int64_t Missed(const Conv& conv, size_t i) {
  const int64_t reached = (conv.y[i + 2] - 1) * conv.strides[i] +
                          conv.dilation[i] * (conv.w[i + 2] - 1) + 1;
  return conv.x[i + 2] + conv.padding[i] + conv.padding[i + conv.spatial] -
         reached;
}

Expr OfData(const Conv& conv, const Expr& grad, const Expr& weight) {
  std::vector<int64_t> missed;
  for (size_t i = 0; i < conv.spatial; ++i) missed.push_back(Missed(conv, i));
  const std::string plain = PlainData(conv.spatial);
  return CallOp("nn.conv" + std::to_string(conv.spatial) + "d_transpose",
                {grad, weight},
                {{"strides", AxesAttr(conv.strides)},
                 {"padding", AxesAttr(conv.padding)},
                 {"output_padding", AxesAttr(missed)},
                 {"dilation", AxesAttr(conv.dilation)},
                 {"groups", Int(conv.groups)},
                 {"data_layout", plain},
                 {"kernel_layout", PlainTransposedKernel(conv.spatial)},
                 {"out_layout", plain},
                 {"out_dtype", Attr()}});
}

// 1, 0, 2, 3: the first two axes exchanged.
std::vector<int64_t> Exchanged(size_t rank) {
  std::vector<int64_t> axes = {1, 0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

Expr Reshaped(const Expr& e, const std::vector<int64_t>& extents) {
  std::vector<graph::Scalar> values;
  for (const int64_t extent : extents) values.push_back(Int(extent));
  return CallOp("reshape", {e, graph::ShapeOf(std::move(values))});
}

// (batch, group * channel, ..) as (channel, group * batch, ..).
Expr ChannelsFirst(const Conv& conv, const Expr& data) {
  if (conv.groups == 1) return Permuted(data, Exchanged(conv.x.size()));
  std::vector<int64_t> apart = {conv.x[0], conv.groups,
                                conv.x[1] / conv.groups};
  std::vector<int64_t> joined = {conv.x[1] / conv.groups,
                                 conv.groups * conv.x[0]};
  std::vector<int64_t> axes = {2, 1, 0};
  for (size_t i = 2; i < conv.x.size(); ++i) {
    apart.push_back(conv.x[i]);
    joined.push_back(conv.x[i]);
    axes.push_back(static_cast<int64_t>(i + 1));
  }
  return Reshaped(Permuted(Reshaped(data, apart), axes), joined);
}

// The first extents of `e` along the spatial axes.
Expr CutTo(const Conv& conv, const Expr& e) {
  std::vector<Expr> axes, begins, ends, strides;
  for (size_t i = 0; i < conv.spatial; ++i) {
    axes.push_back(graph::Number(Int(static_cast<int64_t>(i + 2))));
    begins.push_back(graph::Number(Int(0)));
    ends.push_back(graph::Number(Int(conv.w[i + 2])));
    strides.push_back(graph::Number(Int(1)));
  }
  return CallOp("strided_slice",
                {e, graph::TupleOf(axes), graph::TupleOf(begins),
                 graph::TupleOf(ends), graph::TupleOf(strides)},
                {{"assume_inbound", Bool(false)}});
}

Expr OfWeight(const Conv& conv, const Expr& grad, const Expr& data) {
  const std::string plain = PlainData(conv.spatial);
  Expr e = CallOp(
      "nn.conv" + std::to_string(conv.spatial) + "d",
      {ChannelsFirst(conv, data), Permuted(grad, Exchanged(conv.y.size()))},
      {{"strides", AxesAttr(conv.dilation)},
       {"padding", AxesAttr(conv.padding)},
       {"dilation", AxesAttr(conv.strides)},
       {"groups", Int(conv.groups)},
       {"data_layout", plain},
       {"kernel_layout", PlainKernel(conv.spatial)},
       {"out_layout", plain},
       {"out_dtype", Attr()}});
  bool is_longer = false;
  for (size_t i = 0; i < conv.spatial; ++i) {
    is_longer = is_longer || Missed(conv, i) >= conv.dilation[i];
  }
  if (is_longer) e = CutTo(conv, e);
  return Permuted(e, Exchanged(conv.w.size()));
}

template <size_t spatial>
absl::StatusOr<Partials> Convolution(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Conv conv, ConvOf(call, spatial, false));
  const std::string data = PlainData(spatial), kernel = PlainKernel(spatial);
  const Expr grad = call.Emit(InOrder(call.grad(), conv.out, data));
  const Expr weight = InOrder(call.arg(1), conv.kernel, kernel);
  const Expr input = InOrder(call.arg(0), conv.data, data);
  return Partials{InOrder(OfData(conv, grad, weight), data, conv.data),
                  InOrder(OfWeight(conv, grad, input), kernel, conv.kernel)};
}

// The convolution that is taken back gives the partial of the data; what it
// says of its weight, data and adjoint exchanged, that of the weight.
template <size_t spatial>
absl::StatusOr<Partials> Transposed(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const Conv conv, ConvOf(call, spatial, true));
  const std::string data = PlainData(spatial), kernel = PlainKernel(spatial);
  const Expr grad = call.Emit(InOrder(call.grad(), conv.data, data));
  const Expr weight = InOrder(call.arg(1), conv.kernel, kernel);
  const Expr input = InOrder(call.arg(0), conv.out, data);
  const Expr of_data =
      CallOp("nn.conv" + std::to_string(spatial) + "d", {grad, weight},
             {{"strides", AxesAttr(conv.strides)},
              {"padding", AxesAttr(conv.padding)},
              {"dilation", AxesAttr(conv.dilation)},
              {"groups", Int(conv.groups)},
              {"data_layout", data},
              {"kernel_layout", kernel},
              {"out_layout", data},
              {"out_dtype", Attr()}});
  return Partials{InOrder(of_data, data, conv.out),
                  InOrder(OfWeight(conv, input, grad), kernel, conv.kernel)};
}

absl::StatusOr<Partials> MaxPool(const GradientCall& call) {
  return Partials{CallOp("grad.max_pool2d_backward", {call.grad(), call.arg(0)},
                         call.node().attrs)};
}

absl::StatusOr<Partials> AveragePool(const GradientCall& call) {
  return Partials{CallOp("grad.avg_pool2d_backward", {call.grad(), call.arg(0)},
                         call.node().attrs)};
}

constexpr GradientRow kRows[] = {
    {"nn.avg_pool2d", AveragePool},         {"nn.conv1d", Convolution<1>},
    {"nn.conv1d_transpose", Transposed<1>}, {"nn.conv2d", Convolution<2>},
    {"nn.conv2d_transpose", Transposed<2>}, {"nn.conv3d", Convolution<3>},
    {"nn.conv3d_transpose", Transposed<3>}, {"nn.max_pool2d", MaxPool},
};

}  // namespace

absl::Span<const GradientRow> WindowGradients() { return kRows; }

}  // namespace kiln
