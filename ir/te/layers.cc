// Layers of models beside the operators of workloads.cc, as they stand in
// ResNet, MobileNet or a transformer: a row each, and its formula. A layer is
// added as a row; one without constant weights is also listed in HasWeights.
//
//   lnm:128,768     row i of X: (x - mean) / sqrt(variance + 1e-5) * g + b
//   max:112,112,64,3,2,1    the greatest of each 3 x 3 window, 2 apart, where
//                           what lies beyond the border does not count
//
// Rows of activations are N tokens (or pixels) of M channels.
#include "kiln/ir/te/ops.h"
#include "kiln/ir/te/workload_table.h"

namespace kiln {
namespace te {
namespace {

const DType kF32 = DType::Float(32);
constexpr double kEpsilon = 1e-5;

using Indices = const std::vector<Expr>&;

Tensor Input(const Dims& extents, std::string name) {
  std::vector<Expr> shape;
  for (int64_t extent : extents) shape.push_back(Int(extent));
  return Placeholder(std::move(shape), kF32, std::move(name));
}

Expr Divide(Expr a, double by) { return Mul(std::move(a), Float(1.0 / by)); }

// The weights of a dense layer are rows, one for each output.
std::vector<Tensor> Dense(const Dims& d) {
  Tensor x = Input({d[0], d[2]}, "X"), w = Input({d[1], d[2]}, "W");
  IterVar k = ReduceAxis(0, d[2], "k");
  Tensor y =
      Compute({Int(d[0]), Int(d[1])},
              [&](Indices i) { return Sum(x(i[0], k) * w(i[1], k), {k}); }, "Y",
              {.axes = {"i", "j"}});
  return {x, w, y};
}

// x(h, w, c), or `outside` beyond the border.
Expr Element(const Tensor& x, const Dims& d, Expr h, Expr w, const Expr& c,
             const Expr& outside) {
  const Expr value = x(Int(0), h, w, c);
  if (d[5] == 0) return value;
  const Expr inside = And(And(LE(Int(0), h), LT(h, Int(d[0]))),
                          And(LE(Int(0), w), LT(w, Int(d[1]))));
  return Call(kF32, Intrinsic::kIfThenElse, {inside, value, outside});
}

// H, W, c, k, s, p
Tensor Pool(const Tensor& x, const Dims& d, bool greatest) {
  IterVar rh = ReduceAxis(0, d[3], "rh"), rw = ReduceAxis(0, d[3], "rw");
  const auto at = [&](const Expr& position, const IterVar& tap) {
    return Sub(Add(Mul(position, Int(d[4])), tap), Int(d[5]));
  };
  return Compute(
      {Int(1), Int(ConvExtent(d[0], d[3], d[4], d[5])),
       Int(ConvExtent(d[1], d[3], d[4], d[5])), Int(d[2])},
      [&](Indices i) {
        const Expr outside =
            greatest ? Call(kF32, Intrinsic::kMinValue, {}) : Float(0);
        const Expr e = Element(x, d, at(i[1], rh), at(i[2], rw), i[3], outside);
        return greatest ? te::Max(e, {rh, rw}) : Sum(e, {rh, rw});
      },
      greatest ? "highest" : "total", {.axes = {"n", "h", "w", "c"}});
}

std::vector<Tensor> MaxPool(const Dims& d) {
  Tensor x = Input({1, d[0], d[1], d[2]}, "X");
  return {x, Pool(x, d, true)};
}

// Padding counts as zeros.
std::vector<Tensor> AveragePool(const Dims& d) {
  Tensor x = Input({1, d[0], d[1], d[2]}, "X");
  Tensor total = Pool(x, d, false);
  Tensor y =
      Compute(total.shape(),
              [&](Indices i) { return Divide(total(i), 1.0 * d[3] * d[3]); },
              "Y", {.axes = {"n", "h", "w", "c"}});
  return {x, y};
}

std::vector<Tensor> LayerNorm(const Dims& d) {
  const Expr n = Int(d[0]), m = Int(d[1]);
  const auto count = static_cast<double>(d[1]);
  Tensor x = Input({d[0], d[1]}, "X");
  Tensor g = Input({d[1]}, "G"), b = Input({d[1]}, "B");
  IterVar k = ReduceAxis(0, d[1], "k"), k2 = ReduceAxis(0, d[1], "k");
  Tensor sum =
      Compute({n}, [&](Indices i) { return Sum(x(i[0], k), {k}); }, "sum");
  Tensor squares = Compute(
      {n},
      [&](Indices i) {
        const Expr apart = x(i[0], k2) - Divide(sum(i[0]), count);
        return Sum(apart * apart, {k2});
      },
      "squares");
  Tensor y = Compute(
      {n, m},
      [&](Indices i) {
        const Expr apart = x(i) - Divide(sum(i[0]), count);
        const Expr variance = Divide(squares(i[0]), count) + Float(kEpsilon);
        return apart * Call(kF32, Intrinsic::kRsqrt, {variance}) * g(i[1]) +
               b(i[1]);
      },
      "Y");
  return {x, g, b, y};
}

std::vector<Tensor> RmsNorm(const Dims& d) {
  const Expr n = Int(d[0]), m = Int(d[1]);
  Tensor x = Input({d[0], d[1]}, "X"), g = Input({d[1]}, "G");
  IterVar k = ReduceAxis(0, d[1], "k");
  Tensor squares = Compute(
      {n}, [&](Indices i) { return Sum(x(i[0], k) * x(i[0], k), {k}); },
      "squares");
  Tensor y = Compute(
      {n, m},
      [&](Indices i) {
        const Expr mean =
            Divide(squares(i[0]), static_cast<double>(d[1])) + Float(kEpsilon);
        return x(i) * Call(kF32, Intrinsic::kRsqrt, {mean}) * g(i[1]);
      },
      "Y");
  return {x, g, y};
}

// y = of(x), for N x M elements.
std::vector<Tensor> Elementwise(const Dims& d, Expr (*of)(const Expr& x)) {
  Tensor x = Input({d[0], d[1]}, "X");
  Tensor y =
      Compute({Int(d[0]), Int(d[1])}, [&](Indices i) { return of(x(i)); }, "Y");
  return {x, y};
}

Expr HardSwish(const Expr& x) {
  const Expr shifted = x + Float(3);
  const Expr gate = kiln::Min(kiln::Max(shifted, Float(0)), Float(6));
  return Divide(x * gate, 6);
}

Expr Swish(const Expr& x) { return x * Call(kF32, Intrinsic::kSigmoid, {x}); }

std::vector<Tensor> BiasGelu(const Dims& d) {
  Tensor x = Input({d[0], d[1]}, "X"), b = Input({d[1]}, "B");
  Tensor y = Compute(
      {Int(d[0]), Int(d[1])},
      [&](Indices i) {
        const Expr z = x(i) + b(i[1]);
        const Expr erf =
            Call(kF32, Intrinsic::kErf, {z * Float(0.70710678118654752)});
        return z * Float(0.5) * (Float(1) + erf);
      },
      "Y");
  return {x, b, y};
}

std::vector<Tensor> AddRelu(const Dims& d) {
  Tensor a = Input({d[0], d[1]}, "A"), b = Input({d[0], d[1]}, "B");
  Tensor y = Compute(
      {Int(d[0]), Int(d[1])},
      [&](Indices i) { return kiln::Max(a(i) + b(i), Float(0)); }, "Y");
  return {a, b, y};
}

std::vector<Tensor> ScaleChannels(const Dims& d) {
  Tensor x = Input({d[0], d[1]}, "X"), s = Input({d[1]}, "S");
  Tensor y = Compute(
      {Int(d[0]), Int(d[1])}, [&](Indices i) { return x(i) * s(i[1]); }, "Y");
  return {x, s, y};
}

}  // namespace
}  // namespace te

std::vector<WorkloadRow> LayerRows() {
  using te::Dims;
  const std::vector<std::vector<int64_t>> rows = {{128, 768}};
  return {
      {{"den", "N,M,K", {{128, 768, 768}}}, 0, te::Dense},
      {{"max", "H,W,c,k,s,p", {{112, 112, 64, 3, 2, 1}}}, Bit(5), te::MaxPool},
      {{"avg", "H,W,c,k,s,p", {{7, 7, 2048, 7, 1, 0}}},
       Bit(5),
       te::AveragePool},
      {{"lnm", "N,M", rows}, 0, te::LayerNorm},
      {{"rms", "N,M", rows}, 0, te::RmsNorm},
      {{"gel", "N,M", rows}, 0, te::BiasGelu},
      {{"add", "N,M", rows}, 0, te::AddRelu},
      {{"scl", "N,M", rows}, 0, te::ScaleChannels},
      {{"hsw", "N,M", rows},
       0,
       [](const Dims& d) { return te::Elementwise(d, te::HardSwish); }},
      {{"swi", "N,M", rows},
       0,
       [](const Dims& d) { return te::Elementwise(d, te::Swish); }},
  };
}

}  // namespace kiln
