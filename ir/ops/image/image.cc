#include "kiln/ir/ops/image/image.h"

namespace kiln {
namespace {

Expr Floor(const Expr& e) { return Call(e.dtype(), Intrinsic::kFloor, {e}); }

Expr Number(double value, const Expr& like) {
  return Float(value, like.dtype());
}

// The taps from `axis` on, `at` and `weight` being chosen before.
Expr SumFrom(const std::vector<std::vector<Tap>>& axes, size_t axis,
             std::vector<Expr>& at, const Expr& weight,
             FunctionRef<Expr(const std::vector<Expr>&)> pixel) {
  if (axis == axes.size()) {
    const Expr value = pixel(at);
    return weight ? Mul(value, weight) : value;
  }
  Expr sum;
  for (const Tap& tap : axes[axis]) {
    at.push_back(tap.index);
    const Expr both = weight && tap.weight ? Mul(weight, tap.weight)
                                           : (weight ? weight : tap.weight);
    const Expr part = SumFrom(axes, axis + 1, at, both, pixel);
    at.pop_back();
    sum = sum ? Add(sum, part) : part;
  }
  return sum;
}

}  // namespace

std::vector<Tap> LinearTaps(const Expr& place) {
  const Expr floor = Floor(place);
  const Expr behind = Sub(place, floor);
  const Expr first = Cast(DType::Index(), floor);
  return {{first, Sub(Number(1, place), behind)}, {Add(first, Int(1)), behind}};
}

std::vector<Tap> CubicTaps(const Expr& place, double alpha) {
  const Expr floor = Floor(place);
  const Expr t = Sub(place, floor);
  const Expr t2 = Mul(t, t), t3 = Mul(t2, t);
  // c3 t^3 + c2 t^2 + c1 t + c0
  const double kCoefficients[4][4] = {{alpha, -2 * alpha, alpha, 0},
                                      {alpha + 2, -(alpha + 3), 0, 1},
                                      {-(alpha + 2), 2 * alpha + 3, -alpha, 0},
                                      {-alpha, alpha, 0, 0}};
  std::vector<Tap> taps;
  for (int i = 0; i < 4; ++i) {
    const double* c = kCoefficients[i];
    const Expr high = Add(Mul(Number(c[0], t), t3), Mul(Number(c[1], t), t2));
    const Expr low = Add(Mul(Number(c[2], t), t), Number(c[3], t));
    const Expr index = Cast(DType::Index(), floor);
    taps.push_back({Add(index, Int(i - 1)), Add(high, low)});
  }
  return taps;
}

Expr SumOfTaps(const std::vector<std::vector<Tap>>& axes,
               FunctionRef<Expr(const std::vector<Expr>&)> pixel) {
  std::vector<Expr> at;
  return SumFrom(axes, 0, at, Expr(), pixel);
}

Expr ClampedIndex(const Expr& index, const Expr& extent) {
  return Max(Min(index, Sub(extent, Int(1))), Int(0));
}

absl::Span<const OpRow> ImageOps() {
  static const auto& rows =
      *new std::vector<OpRow>(JoinRows({ResizeOps(), GridOps()}));
  return rows;
}

}  // namespace kiln
