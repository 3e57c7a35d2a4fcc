// Batcher's merge exchange (Knuth, volume 3, algorithm 5.2.2M): a fixed order
// of comparisons of elements that are `distance` apart, so that all comparisons
// of a round are independent. For n elements with t = ceil(log2(n)):
//
//   for s in range(t): p = 2^(t - 1 - s)
//     for u in range(s + 1):
//       (rest, distance) = (0, p) if u == 0 else (p, 2^(t - u) - p)
//       for i in range(n - distance), where i & p == rest:
//         put i and i + distance in order
//
// The order is the same for all rows. Elements move together with their places,
// and are compared by their values and then by their places, which makes the
// order of equal elements that of the tensor.
#include "kiln/ir/ops/order/exchange.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kiln/ir/ops/extents.h"

namespace kiln {
namespace {

using Extents = std::vector<Expr>;

Expr Bits(Intrinsic op, const Expr& a, const Expr& b) {
  return Call(DType::Index(), op, {a, b});
}

Expr PowerOfTwo(const Expr& exponent) {
  return Bits(Intrinsic::kShiftLeft, Int(1), exponent);
}

// a < b, where NaN is larger than all numbers.
Expr IsLess(const Expr& a, const Expr& b) {
  const Expr less = LT(a, b);
  if (!a.dtype().is_float()) return less;
  const auto is_nan = [](const Expr& e) {
    return Call(DType::Bool(), Intrinsic::kIsNan, {e});
  };
  return Or(less, And(is_nan(b), Not(is_nan(a))));
}

}  // namespace

Expr ElementOfRow(const te::Tensor& x, int axis, const Expr& row,
                  const Expr& place) {
  Extents rows = x.shape();
  rows.erase(rows.begin() + axis);
  Extents i = IndexOfFlat(rows, row);
  i.insert(i.begin() + axis, place);
  return x(std::move(i));
}

DType PlaceType(const Expr& n) {
  const int64_t* known = AsInt(n);
  const bool is_small = known && *known <= std::numeric_limits<int32_t>::max();
  return is_small ? DType::Int(32) : DType::Index();
}

Expr Rounds(const Expr& n) {
  if (const int64_t* known = AsInt(n)) {
    const auto last = static_cast<uint64_t>(std::max<int64_t>(*known, 1) - 1);
    return Int(static_cast<int64_t>(std::bit_width(last)));
  }
  const Expr last = Max(Sub(n, Int(1)), Int(1));
  return Sub(Int(64), Call(DType::Index(), Intrinsic::kClz, {last}));
}

Stmt SideBySide::Exchange(NestBuilder& builder, const Expr& group,
                          const Expr& i, const Expr& other) const {
  return builder.Vectorized(lanes, [&](const Expr& lane) {
    const Extents first = {group, i, lane}, second = {group, other, lane};
    const Var a("a", keys->dtype), b("b", keys->dtype);
    const Var m("m", places->dtype), n("n", places->dtype);
    const Expr less = is_descending ? IsLess(a, b) : IsLess(b, a);
    const Expr greater = is_descending ? IsLess(b, a) : IsLess(a, b);
    const Expr swap = Or(less, And(Not(greater), LT(n, m)));
    const Stmt stores =
        MakeSeq({MakeStore(keys, Select(swap, b, a), first),
                 MakeStore(keys, Select(swap, a, b), second),
                 MakeStore(places, Select(swap, n, m), first),
                 MakeStore(places, Select(swap, m, n), second)});
    const Stmt of_places = MakeLet(m, Load(places, first),
                                   MakeLet(n, Load(places, second), stores));
    return MakeLet(a, Load(keys, first),
                   MakeLet(b, Load(keys, second), of_places));
  });
}

Buffer SideBySide::PlacesOfRows(NestBuilder& builder, const Extents& shape,
                                int axis) const {
  const Buffer out = builder.Temporary(shape, DType::Index(), "places_of_rows");
  Extents rows = shape;
  rows.erase(rows.begin() + axis);
  builder.Fill(out, [&](const Extents& i) {
    Extents row = i;
    row.erase(row.begin() + axis);
    const Expr flat = FlatIndex(rows, row);
    return Cast(DType::Index(),
                Load(places, {FloorDiv(flat, Int(lanes)), i[axis],
                              FloorMod(flat, Int(lanes))}));
  });
  return out;
}

// The q-th place i, in order, for which i & p == rest. Half of the places are
// enough for all that have one `distance` behind them, which is p or more.
Stmt MergeExchange(const Comparison& comparison, const Expr& n,
                   FunctionRef<Stmt(const Expr&, const Expr&)> exchange) {
  const auto& [s, u, q] = comparison;
  const Expr rounds = Rounds(n);
  const Expr log_p = Sub(Sub(rounds, Int(1)), s);
  const Var p("p"), rest("rest"), distance("distance"), i("i");
  const Expr is_first = EQ(u, Int(0));
  const Expr before =
      Mul(Bits(Intrinsic::kShiftRight, q, log_p), Mul(Int(2), p));
  const Expr inside = Bits(Intrinsic::kBitwiseAnd, q, Sub(p, Int(1)));
  const Expr other = Add(i, distance);
  const Stmt compared = MakeIf(And(LE(u, s), LT(other, n)), exchange(i, other));
  const Stmt found = MakeLet(i, Add(Add(before, rest), inside), compared);
  const Expr reach = Sub(PowerOfTwo(Sub(rounds, u)), p);
  return MakeLet(p, PowerOfTwo(log_p),
                 MakeLet(rest, Select(is_first, Int(0), p),
                         MakeLet(distance, Select(is_first, p, reach), found)));
}

}  // namespace kiln
