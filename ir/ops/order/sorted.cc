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
// Places are compared by their elements and then by themselves, which makes the
// order of equal elements that of the tensor.
#include "kiln/ir/ops/order/sorted.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace kiln {
namespace {

using Extents = std::vector<Expr>;

Expr Bits(Intrinsic op, const Expr& a, const Expr& b) {
  return Call(DType::Index(), op, {a, b});
}

Expr PowerOfTwo(const Expr& exponent) {
  return Bits(Intrinsic::kShiftLeft, Int(1), exponent);
}

// ceil(log2(n)), at least 1 where n is a variable.
Expr Rounds(const Expr& n) {
  if (const int64_t* known = AsInt(n)) {
    const auto last = static_cast<uint64_t>(std::max<int64_t>(*known, 1) - 1);
    return Int(static_cast<int64_t>(std::bit_width(last)));
  }
  const Expr last = Max(Sub(n, Int(1)), Int(1));
  return Sub(Int(64), Call(DType::Index(), Intrinsic::kClz, {last}));
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

struct Sorter {
  const te::Tensor& x;
  const int axis;
  const bool is_descending;
  const Buffer places;

  Expr Element(Extents i, const Expr& place) const {
    i[axis] = place;
    return x(std::move(i));
  }
  // Whether the element at place b comes before that at a.
  Expr IsBefore(const Extents& i, const Expr& b, const Expr& a) const {
    Expr of_a = Element(i, a), of_b = Element(i, b);
    if (is_descending) std::swap(of_a, of_b);
    const Expr tie = And(Not(IsLess(of_a, of_b)), LT(b, a));
    return Or(IsLess(of_b, of_a), tie);
  }
  Stmt Exchange(const Extents& i, const Expr& distance) const;
};

// Puts the places at i and i + distance in order.
Stmt Sorter::Exchange(const Extents& i, const Expr& distance) const {
  Extents other = i;
  other[axis] = Add(i[axis], distance);
  const Var a("a"), b("b");
  const Stmt swap =
      MakeSeq({MakeStore(places, b, i), MakeStore(places, a, other)});
  const Stmt compared = MakeIf(IsBefore(i, b, a), swap);
  return MakeLet(a, Load(places, i), MakeLet(b, Load(places, other), compared));
}

}  // namespace

Buffer AddSortedPlaces(const te::Tensor& x, int axis, bool is_descending,
                       NestBuilder& builder) {
  const Extents& shape = x.shape();
  const Buffer places = builder.Temporary(shape, DType::Index(), "places");
  builder.Fill(places, [&](const Extents& i) { return i[axis]; });
  const Expr n = shape[axis];
  const Expr rounds = Rounds(n);
  const Sorter sorter{x, axis, is_descending, places};
  // Rows, the rounds of each, and the elements of a round.
  Extents rows = shape;
  rows.erase(rows.begin() + axis);
  std::vector<NestLoop> loops = LoopsOver(rows);
  for (const Expr& extent : {rounds, rounds, n}) {
    loops.push_back({extent, IterType::kOpaque});
  }
  builder.Nest("sort", loops, [&](const Extents& all) {
    const Expr& s = all[rows.size()];
    const Expr& u = all[rows.size() + 1];
    Extents i(all.begin(), all.end() - 3);
    i.insert(i.begin() + axis, all.back());
    const Var p("p"), rest("rest"), distance("distance");
    const Expr is_first = EQ(u, Int(0));
    const Expr in_range =
        And(LE(u, s), And(LT(Add(i[axis], distance), n),
                          EQ(Bits(Intrinsic::kBitwiseAnd, i[axis], p), rest)));
    const Stmt exchange = MakeIf(in_range, sorter.Exchange(i, distance));
    return MakeLet(
        p, PowerOfTwo(Sub(Sub(rounds, Int(1)), s)),
        MakeLet(rest, Select(is_first, Int(0), p),
                MakeLet(distance,
                        Select(is_first, p, Sub(PowerOfTwo(Sub(rounds, u)), p)),
                        exchange)));
  });
  return places;
}

}  // namespace kiln
