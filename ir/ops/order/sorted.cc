// Some rows are sorted side by side, as the lanes of vectors, by comparisons
// whose order does not depend on the elements (exchange.h). Their elements are
// copied first:
//
//   keys[group, k, lane] = x[16*group + lane, k]
//   for s, u, q: compare and exchange two places of keys[group, :, 0:16]
#include "kiln/ir/ops/order/sorted.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/order/exchange.h"

namespace kiln {
namespace {

using Extents = std::vector<Expr>;

// Rows of a tensor in groups of some lanes: copies of [group, place, lane], of
// which the last group may have some rows twice.
class Sorter {
 public:
  Sorter(const te::Tensor& x, int axis, bool is_descending,
         NestBuilder& builder);
  Buffer Sort();

 private:
  Expr length() const { return x_.shape()[axis_]; }
  Extents Copied(const Expr& length) const {
    return {groups_, length, Int(copy_.lanes)};
  }

  const te::Tensor& x_;
  const int axis_;
  NestBuilder& builder_;
  Expr row_count_, groups_;
  SideBySide copy_;
};

Sorter::Sorter(const te::Tensor& x, int axis, bool is_descending,
               NestBuilder& builder)
    : x_(x), axis_(axis), builder_(builder) {
  Extents rows = x.shape();
  rows.erase(rows.begin() + axis);
  copy_.is_descending = is_descending;
  row_count_ = Product(rows);
  if (const int64_t* known = AsInt(row_count_)) {
    copy_.lanes = std::clamp<int64_t>(*known, 1, kLanes);
  }
  groups_ = FloorDiv(Add(row_count_, Int(copy_.lanes - 1)), Int(copy_.lanes));
  copy_.keys = builder.Temporary(Copied(length()), x.dtype(), "keys");
  copy_.places =
      builder.Temporary(Copied(length()), PlaceType(length()), "places");
  builder.Fill(copy_.keys, [&](const Extents& i) {
    const Expr row = Add(Mul(i[0], Int(copy_.lanes)), i[2]);
    return ElementOfRow(x_, axis_, Min(row, Sub(row_count_, Int(1))), i[1]);
  });
  builder.Fill(copy_.places, [&](const Extents& i) {
    return Cast(copy_.places->dtype, i[1]);
  });
}

Buffer Sorter::Sort() {
  std::vector<NestLoop> loops = {{groups_}};
  const Expr rounds = Rounds(length());
  for (const Expr& extent : {rounds, rounds, FloorDiv(length(), Int(2))}) {
    loops.push_back({extent, IterType::kOpaque});
  }
  builder_.Nest("sort", loops, [&](const Extents& i) {
    return MergeExchange({i[1], i[2], i[3]}, length(),
                         [&](const Expr& a, const Expr& b) {
                           return copy_.Exchange(builder_, i[0], a, b);
                         });
  });
  return copy_.PlacesOfRows(builder_, x_.shape(), axis_);
}

}  // namespace

Buffer AddSortedPlaces(const te::Tensor& x, int axis, bool is_descending,
                       NestBuilder& builder) {
  return Sorter(x, axis, is_descending, builder).Sort();
}

}  // namespace kiln
