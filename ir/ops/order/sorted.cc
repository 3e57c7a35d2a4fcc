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
// The order is the same for all rows, so some rows are sorted side by side, as
// the lanes of vectors. Their elements are copied first, and move together with
// their places. Elements are compared by their values and then by their places,
// which makes the order of equal elements that of the tensor.
#include "kiln/ir/ops/order/sorted.h"

#include <algorithm>
#include <bit>
#include <cstdint>
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

constexpr int64_t kLanes = 16;  // rows side by side

// Rows of a tensor in groups of some lanes: copies of [group, place, lane], of
// which the last group may have some rows twice.
class Sorter {
 public:
  Sorter(const te::Tensor& x, int axis, bool is_descending,
         NestBuilder& builder);
  void AddRounds();
  Buffer Places();

 private:
  Expr length() const { return x_.shape()[axis_]; }
  Extents Copied(const Expr& length) const {
    return {groups_, length, Int(lanes_)};
  }
  Expr Element(const Expr& row, const Expr& place) const;
  Stmt Round(const Extents& i);
  Stmt Exchange(const Expr& group, const Expr& i, const Expr& other);

  const te::Tensor& x_;
  const int axis_;
  const bool is_descending_;
  NestBuilder& builder_;
  Extents rows_;
  int64_t lanes_ = kLanes;
  Expr row_count_, groups_;
  Buffer keys_, places_;
};

Sorter::Sorter(const te::Tensor& x, int axis, bool is_descending,
               NestBuilder& builder)
    : x_(x),
      axis_(axis),
      is_descending_(is_descending),
      builder_(builder),
      rows_(x.shape()) {
  rows_.erase(rows_.begin() + axis);
  row_count_ = Product(rows_);
  if (const int64_t* known = AsInt(row_count_)) {
    lanes_ = std::clamp<int64_t>(*known, 1, kLanes);
  }
  groups_ = FloorDiv(Add(row_count_, Int(lanes_ - 1)), Int(lanes_));
  keys_ = builder.Temporary(Copied(length()), x.dtype(), "keys");
  places_ = builder.Temporary(Copied(length()), DType::Index(), "places");
  builder.Fill(keys_, [&](const Extents& i) {
    const Expr row = Add(Mul(i[0], Int(lanes_)), i[2]);
    return Element(Min(row, Sub(row_count_, Int(1))), i[1]);
  });
  builder.Fill(places_, [&](const Extents& i) { return i[1]; });
}

Expr Sorter::Element(const Expr& row, const Expr& place) const {
  Extents i = IndexOfFlat(rows_, row);
  i.insert(i.begin() + axis_, place);
  return x_(std::move(i));
}

// Puts the elements at `i` and behind it, at `other`, in order.
Stmt Sorter::Exchange(const Expr& group, const Expr& i, const Expr& other) {
  return builder_.Vectorized(lanes_, [&](const Expr& lane) {
    const Extents first = {group, i, lane}, second = {group, other, lane};
    const Var a("a", x_.dtype()), b("b", x_.dtype()), m("m"), n("n");
    const Expr less = is_descending_ ? IsLess(a, b) : IsLess(b, a);
    const Expr greater = is_descending_ ? IsLess(b, a) : IsLess(a, b);
    const Expr swap = Or(less, And(Not(greater), LT(n, m)));
    const Stmt stores =
        MakeSeq({MakeStore(keys_, Select(swap, b, a), first),
                 MakeStore(keys_, Select(swap, a, b), second),
                 MakeStore(places_, Select(swap, n, m), first),
                 MakeStore(places_, Select(swap, m, n), second)});
    const Stmt of_places = MakeLet(m, Load(places_, first),
                                   MakeLet(n, Load(places_, second), stores));
    return MakeLet(a, Load(keys_, first),
                   MakeLet(b, Load(keys_, second), of_places));
  });
}

// One comparison of a round, by [group, s, u, q]: the q-th place i in order for
// which i & p == rest. Half of the places are enough for all that have one
// `distance` behind them, which is p or more.
Stmt Sorter::Round(const Extents& at) {
  const Expr &s = at[1], &u = at[2], &q = at[3];
  const Expr rounds = Rounds(length());
  const Expr log_p = Sub(Sub(rounds, Int(1)), s);
  const Var p("p"), rest("rest"), distance("distance"), i("i");
  const Expr is_first = EQ(u, Int(0));
  const Expr before =
      Mul(Bits(Intrinsic::kShiftRight, q, log_p), Mul(Int(2), p));
  const Expr inside = Bits(Intrinsic::kBitwiseAnd, q, Sub(p, Int(1)));
  const Expr other = Add(i, distance);
  const Stmt exchange =
      MakeIf(And(LE(u, s), LT(other, length())), Exchange(at[0], i, other));
  const Stmt found = MakeLet(i, Add(Add(before, rest), inside), exchange);
  const Expr reach = Sub(PowerOfTwo(Sub(rounds, u)), p);
  return MakeLet(p, PowerOfTwo(log_p),
                 MakeLet(rest, Select(is_first, Int(0), p),
                         MakeLet(distance, Select(is_first, p, reach), found)));
}

void Sorter::AddRounds() {
  std::vector<NestLoop> loops = {{groups_}};
  const Expr rounds = Rounds(length());
  for (const Expr& extent : {rounds, rounds, FloorDiv(length(), Int(2))}) {
    loops.push_back({extent, IterType::kOpaque});
  }
  builder_.Nest("sort", loops, [&](const Extents& i) { return Round(i); });
}

// Of the rows as they lie in the tensor.
Buffer Sorter::Places() {
  const Buffer out =
      builder_.Temporary(x_.shape(), DType::Index(), "places_of_rows");
  builder_.Fill(out, [&](const Extents& i) {
    Extents row = i;
    row.erase(row.begin() + axis_);
    const Expr flat = FlatIndex(rows_, row);
    return Load(places_, {FloorDiv(flat, Int(lanes_)), i[axis_],
                          FloorMod(flat, Int(lanes_))});
  });
  return out;
}

}  // namespace

Buffer AddSortedPlaces(const te::Tensor& x, int axis, bool is_descending,
                       NestBuilder& builder) {
  Sorter sorter(x, axis, is_descending, builder);
  sorter.AddRounds();
  return sorter.Places();
}

}  // namespace kiln
