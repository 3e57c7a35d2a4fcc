// An output element of a convolution is a sum over the taps of the kernel and
// the input channels. One formula makes c1d, c2d, c3d, grp and dil:
//
//   conv2d_nhwc(n, h, w, co) = sum over rh, rw, rc of
//       PadInput(n, h*s + rh*dilation, w*s + rw*dilation, first + rc)
//         * weight(rh, rw, rc, co)      first: the first channel of co's group
//
// Padding is a stage of its own, and its zeros are choices by conditions on the
// indices; that is how the count of needed work tells them from data (ir/work):
//
//   PadInput(n, h, w, c) = inputs(n, h - 1, w - 1, c)
//       if 1 <= h and h < 9 and 1 <= w and w < 9 else 0     8 x 8, padded by 1
//
// A transposed convolution reads at i // s where i % s == 0 and 0 elsewhere, as
// if s - 1 zeros stood between the elements. A convolution is added as a
// function here, declared in ops.h, and a row in workloads.cc.
#include "kiln/ir/te/ops.h"

namespace kiln::te {
namespace {

const DType kF32 = DType::Float(32);

std::vector<Expr> Shape(const Dims& extents) {
  std::vector<Expr> shape;
  for (int64_t extent : extents) shape.push_back(Int(extent));
  return shape;
}

Tensor Input(const Dims& extents, std::string name) {
  return Placeholder(Shape(extents), kF32, std::move(name));
}

// a * factor, without a factor of 1.
Expr Scaled(Expr a, int64_t factor) {
  return factor == 1 ? a : Mul(a, Int(factor));
}

// a + offset, without an offset of 0.
Expr Shifted(Expr a, int64_t offset) {
  if (offset == 0) return a;
  return offset > 0 ? Add(a, Int(offset)) : Sub(a, Int(-offset));
}

Expr AllOf(const std::vector<Expr>& conditions) {
  Expr all;
  for (const Expr& c : conditions) all = all ? And(all, c) : c;
  return all;
}

// Zeros along spatial dimensions only: 1..rank of rank + 2.
Dims SpatialPadding(int rank, int64_t pad, size_t total) {
  Dims padding(total, 0);
  for (int d = 1; d <= rank; ++d) padding[d] = pad;
  return padding;
}

Tensor PadSpatial(const Tensor& input, int rank, int64_t pad,
                  const std::string& name) {
  const Dims padding = SpatialPadding(rank, pad, input.shape().size());
  return Pad(input, padding, padding, name);
}

// position * stride + tap * dilation, products ahead of a plain term.
Expr Window(const Expr& position, const Expr& tap, int64_t stride,
            int64_t dilation = 1) {
  if (stride == 1 && dilation != 1) return Add(Scaled(tap, dilation), position);
  return Add(Scaled(position, stride), Scaled(tap, dilation));
}

// By the number of spatial dimensions, less one.
const char* const kNames[] = {"conv1d_nlc", "conv2d_nhwc", "conv3d_ndhwc"};
const char* const kSpatial[][3] = {{"l"}, {"h", "w"}, {"d", "h", "w"}};

}  // namespace

Tensor Pad(const Tensor& input, const Dims& before, const Dims& after,
           const std::string& name) {
  std::vector<Expr> shape = input.shape();
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = Add(shape[d], Int(before[d] + after[d]));
  }
  return Compute(
      shape,
      [&](const std::vector<Expr>& i) -> Value {
        std::vector<Expr> conditions, indices;
        for (size_t d = 0; d < i.size(); ++d) {
          indices.push_back(Shifted(i[d], -before[d]));
          if (before[d]) conditions.push_back(LE(Int(before[d]), i[d]));
          if (after[d]) {
            conditions.push_back(
                LT(i[d], Add(input.shape()[d], Int(before[d]))));
          }
        }
        Expr inside = input(indices);
        if (conditions.empty()) return inside;
        return Call(input.dtype(), Intrinsic::kIfThenElse,
                    {AllOf(conditions), inside, Constant(0, input.dtype())});
      },
      name);
}

int64_t ConvExtent(int64_t size, int64_t kernel, int64_t stride, int64_t pad,
                   int64_t dilation) {
  const int64_t room = size + 2 * pad - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

std::vector<Tensor> Conv(const Dims& d, int rank) {
  const int64_t ci = d[rank], co = d[rank + 1], k = d[rank + 2];
  const int64_t s = d[rank + 3], p = d[rank + 4];
  const int64_t groups = d[rank + 5], dilation = d[rank + 6];
  Dims in = {1}, filter(rank, k), out = {1};
  std::vector<std::string> axes = {"n"};
  std::vector<IterVar> taps;
  for (int i = 0; i < rank; ++i) {
    const std::string name = kSpatial[rank - 1][i];
    in.push_back(d[i]);
    out.push_back(ConvExtent(d[i], k, s, p, dilation));
    axes.push_back(name);
    taps.push_back(ReduceAxis(0, k, "r" + name));
  }
  in.push_back(ci);
  filter.insert(filter.end(), {ci / groups, co});
  out.push_back(co);
  axes.push_back("co");
  taps.push_back(ReduceAxis(0, ci / groups, "rc"));
  Tensor inputs = Input(in, "inputs"), weight = Input(filter, "weight");
  Tensor padded = PadSpatial(inputs, rank, p, "PadInput");
  Tensor result =
      Compute(Shape(out),
              [&](const std::vector<Expr>& i) {
                std::vector<Expr> at = {i[0]}, w(taps.begin(), taps.end());
                for (int r = 0; r < rank; ++r) {
                  at.push_back(Window(i[r + 1], taps[r], s, dilation));
                }
                const Expr& channel = i[rank + 1];
                at.push_back(Add(
                    Mul(FloorDiv(channel, Int(co / groups)), Int(ci / groups)),
                    taps[rank]));
                w.push_back(channel);
                return Sum(padded(at) * weight(w), taps);
              },
              kNames[rank - 1], {.axes = axes});
  return {inputs, weight, result};
}

std::vector<Tensor> Dep(const Dims& d) {
  const int64_t h = d[0], w = d[1], c = d[2], k = d[3], s = d[4], p = d[5];
  Tensor input = Input({1, h, w, c}, "placeholder");
  Tensor filter = Input({1, k, k, c}, "placeholder");
  Tensor padded = PadSpatial(input, 2, p, "PadInput");
  IterVar rh = ReduceAxis(0, k, "rh"), rw = ReduceAxis(0, k, "rw");
  Tensor result = Compute(
      Shape({1, ConvExtent(h, k, s, p), ConvExtent(w, k, s, p), c}),
      [&](const std::vector<Expr>& i) {
        return Sum(
            padded(i[0], Window(i[1], rh, s), Window(i[2], rw, s), i[3]) *
                filter(Int(0), rh, rw, i[3]),
            {rh, rw});
      },
      "depth_conv2d_nhwc", {.axes = {"n", "h", "w", "c"}});
  return {input, filter, result};
}

// The input is read as if stride - 1 zeros stood between its elements.
std::vector<Tensor> T2d(const Dims& d) {
  const int64_t h = d[0], w = d[1], ci = d[2], co = d[3], k = d[4], s = d[5];
  const int64_t p = d[6];
  const int64_t border = k - 1 - p;
  const int64_t pad = (border + s - 1) / s;
  const int64_t shift = (s - border % s) % s;
  Tensor inputs = Input({1, h, w, ci}, "inputs");
  Tensor weight = Input({k, k, ci, co}, "weight");
  Tensor padded = PadSpatial(inputs, 2, pad, "PadInput");
  IterVar rh = ReduceAxis(0, k, "rh"), rw = ReduceAxis(0, k, "rw");
  IterVar rc = ReduceAxis(0, ci, "rc");
  auto at = [&](const Expr& position, const IterVar& tap) {
    return Shifted(Add(position, tap), shift);
  };
  Tensor result = Compute(
      Shape({1, (h - 1) * s - 2 * p + k, (w - 1) * s - 2 * p + k, co}),
      [&](const std::vector<Expr>& i) {
        const Expr y = at(i[1], rh), x = at(i[2], rw), stride = Int(s);
        Expr tap = padded(i[0], FloorDiv(y, stride), FloorDiv(x, stride), rc);
        if (s > 1) {
          tap = Call(kF32, Intrinsic::kIfThenElse,
                     {And(EQ(FloorMod(y, stride), Int(0)),
                          EQ(FloorMod(x, stride), Int(0))),
                      tap, Float(0)});
        } else {
          tap = padded(i[0], y, x, rc);
        }
        return Sum(
            tap * weight(Sub(Int(k - 1), rh), Sub(Int(k - 1), rw), rc, i[3]),
            {rh, rw, rc});
      },
      "conv2d_transpose_nhwc", {.axes = {"n", "h", "w", "co"}});
  return {inputs, weight, result};
}

std::vector<Tensor> Cap(const Dims& d) {
  const int64_t h = d[0], w = d[1], ci = d[2], co = d[3], k = d[4], s = d[5];
  const int64_t p = d[6], cap = 4;
  Tensor inputs = Input({1, h, w, cap, cap, ci}, "inputs");
  Tensor weight = Input({k, k, cap, cap, ci, co}, "weight");
  Tensor padded = PadSpatial(inputs, 2, p, "PadInput");
  IterVar rh = ReduceAxis(0, k, "rh"), rw = ReduceAxis(0, k, "rw");
  IterVar rk = ReduceAxis(0, cap, "cap_k"), rc = ReduceAxis(0, ci, "rc");
  Tensor result = Compute(
      Shape({1, ConvExtent(h, k, s, p), ConvExtent(w, k, s, p), cap, cap, co}),
      [&](const std::vector<Expr>& i) {
        return Sum(padded(i[0], Window(i[1], rh, s), Window(i[2], rw, s), i[3],
                          rk, rc) *
                       weight(rh, rw, rk, i[4], rc, i[5]),
                   {rh, rw, rk, rc});
      },
      "conv2d_capsule_nhwijc",
      {.axes = {"n", "h", "w", "cap_i", "cap_j", "co"}});
  return {inputs, weight, result};
}

std::vector<Tensor> Cbr(const Dims& d) {
  const int64_t h = d[0], w = d[1], ci = d[2], co = d[3], k = d[4], s = d[5];
  const int64_t p = d[6];
  Tensor data = Input({1, h, w, ci}, "data");
  Tensor kernel = Input({k, k, ci, co}, "kernel"), bias = Input({co}, "bias");
  Tensor scale = Input({co}, "bn_scale"), offset = Input({co}, "bn_offset");
  Tensor padded = PadSpatial(data, 2, p, "PaddedInput");
  IterVar ry = ReduceAxis(0, k, "ry"), rx = ReduceAxis(0, k, "rx");
  IterVar rc = ReduceAxis(0, ci, "rc");
  const std::vector<Expr> shape =
      Shape({1, ConvExtent(h, k, s, p), ConvExtent(w, k, s, p), co});
  using Indices = const std::vector<Expr>&;
  const ComputeOptions ijkl = {.axes = {"i", "j", "k", "l"}};
  Tensor conv = Compute(
      shape,
      [&](Indices i) {
        return Sum(padded(i[0], Window(i[1], ry, s), Window(i[2], rx, s), rc) *
                       kernel(ry, rx, rc, i[3]),
                   {ry, rx, rc});
      },
      "Conv2dOutput", {.axes = {"nn", "yy", "xx", "ff"}});
  Tensor biased = Compute(
      shape, [&](Indices i) { return conv(i) + bias(i[3]); }, "bias_add", ijkl);
  Tensor scaled = Compute(
      shape, [&](Indices i) { return biased(i) * scale(i[3]); }, "bn_mul",
      ijkl);
  Tensor moved = Compute(
      shape, [&](Indices i) { return scaled(i) + offset(i[3]); }, "bn_add",
      ijkl);
  Tensor relu = Compute(
      shape, [&](Indices i) { return kiln::Max(moved(i), Float(0)); },
      "compute");
  return {data, kernel, bias, offset, scale, relu};
}

}  // namespace kiln::te
