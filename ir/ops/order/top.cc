// A tournament of chunks of a row, each as long as the number of elements that
// are wanted, rounded up to a power of two:
//
//   3 7 | 9 1 | 4 8 | 2 6      chunks of two, each of which is sorted
//   7 3 | 9 1 | 8 4 | 6 2
//   9 7 |     | 8 6 |          of two chunks the better half, in order
//   9 8
//
// Of two chunks in order, the better of a[i] and b[last - i] for all i are the
// better half of both. They rise and fall at most once, so that comparisons of
// elements a half, a quarter ... of a chunk apart put them in order.
//
// Rows lie side by side as the lanes of vectors (exchange.h). Few rows are cut
// into parts, which have a lane each, and whose winners meet in a tournament of
// their own. Elements behind the end of a row lose against all others.
#include "kiln/ir/ops/order/top.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/order/exchange.h"

namespace kiln {
namespace {

using Extents = std::vector<Expr>;

constexpr int64_t kLeastChunks = 4;

int64_t ChunkSize(int64_t k) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(k)));
}

Expr CeilDiv(const Expr& a, int64_t b) {
  return FloorDiv(Add(a, Int(b - 1)), Int(b));
}

Expr Shifted(Intrinsic op, const Expr& a, const Expr& by) {
  return Call(DType::Index(), op, {a, by});
}

// Chunks of `size` elements of rows side by side.
class Tournament {
 public:
  Tournament(const SideBySide& rows, Expr groups, Expr chunks, int64_t size,
             NestBuilder& builder)
      : rows_(rows),
        groups_(std::move(groups)),
        chunks_(std::move(chunks)),
        size_(size),
        builder_(builder) {}

  void SortChunks();
  // Into the first one, of chunks in order.
  void MergeChunks();

 private:
  int64_t log_size() const {
    return std::bit_width(static_cast<uint64_t>(size_)) - 1;
  }
  Stmt Merge(const Extents& at) const;

  const SideBySide& rows_;
  const Expr groups_, chunks_;
  const int64_t size_;
  NestBuilder& builder_;
};

void Tournament::SortChunks() {
  if (size_ == 1) return;
  std::vector<NestLoop> loops = {{groups_}};
  for (const Expr& extent :
       {chunks_, Int(log_size()), Int(log_size()), Int(size_ / 2)}) {
    loops.push_back({extent, IterType::kOpaque});
  }
  builder_.Nest("sort_chunks", loops, [&](const Extents& i) {
    const Expr first = Mul(i[1], Int(size_));
    return MergeExchange(
        {i[2], i[3], i[4]}, Int(size_), [&](const Expr& a, const Expr& b) {
          return rows_.Exchange(builder_, i[0], Add(first, a), Add(first, b));
        });
  });
}

void Tournament::MergeChunks() {
  std::vector<NestLoop> loops = {{groups_}};
  for (const Expr& extent : {Rounds(chunks_), CeilDiv(chunks_, 2),
                             Int(log_size() + 1), Int(size_)}) {
    loops.push_back({extent, IterType::kOpaque});
  }
  builder_.Nest("merge_chunks", loops,
                [&](const Extents& i) { return Merge(i); });
}

// One comparison, by [group, level, pair, round, q]: of the chunks that are
// 2^level apart, of each pair the first of which is a multiple of twice that.
// Round 0 compares all of both chunks, the others the halves of the first.
Stmt Tournament::Merge(const Extents& at) const {
  const Expr &level = at[1], &round = at[3], &q = at[4];
  const Expr apart = Shifted(Intrinsic::kShiftLeft, Int(1), level);
  const Var first("first"), second("second"), log_d("log_d");
  const Expr is_across = EQ(round, Int(0));
  const Expr d = Shifted(Intrinsic::kShiftLeft, Int(1), log_d);
  const Expr before =
      Mul(Int(2), Shifted(Intrinsic::kShiftLeft,
                          Shifted(Intrinsic::kShiftRight, q, log_d), log_d));
  const Expr inside =
      Call(DType::Index(), Intrinsic::kBitwiseAnd, {q, Sub(d, Int(1))});
  const Expr base = Mul(first, Int(size_));
  const Expr i = Add(base, Select(is_across, q, Add(before, inside)));
  const Expr opposite = Add(Mul(second, Int(size_)), Sub(Int(size_ - 1), q));
  const Expr other = Select(is_across, opposite, Add(i, d));
  const Expr is_compared =
      And(LT(second, chunks_), Or(is_across, LT(q, Int(size_ / 2))));
  const Var a("i"), b("other");
  const Stmt exchange =
      MakeLet(a, i, MakeLet(b, other, rows_.Exchange(builder_, at[0], a, b)));
  const Stmt compared = MakeLet(log_d, Sub(Int(log_size()), round),
                                MakeIf(is_compared, exchange));
  return MakeLet(first, Mul(Mul(at[2], Int(2)), apart),
                 MakeLet(second, Add(first, apart), compared));
}

// How the rows of a tensor lie in the lanes of vectors: some rows in a group,
// or all of them, each in parts.
class TopPlaces {
 public:
  TopPlaces(const te::Tensor& x, int axis, int64_t k, bool is_descending,
            NestBuilder& builder);

  Buffer Find();

 private:
  Expr length() const { return x_.shape()[axis_]; }
  SideBySide Temporary(const Expr& groups, const Expr& length, int64_t lanes);
  void CopyRows(const SideBySide& rows);
  SideBySide MeetingOfParts(const SideBySide& parts);

  const te::Tensor& x_;
  const int axis_;
  const int64_t k_, size_;
  const bool is_descending_;
  NestBuilder& builder_;
  Expr row_count_, groups_;
  int64_t lanes_ = kLanes;
  int64_t parts_ = 1;  // of a row
  Expr part_length_;
};

TopPlaces::TopPlaces(const te::Tensor& x, int axis, int64_t k,
                     bool is_descending, NestBuilder& builder)
    : x_(x),
      axis_(axis),
      k_(k),
      size_(ChunkSize(k)),
      is_descending_(is_descending),
      builder_(builder) {
  Extents rows = x.shape();
  rows.erase(rows.begin() + axis);
  row_count_ = Product(rows);
  if (const int64_t* known = AsInt(row_count_)) {
    lanes_ = std::clamp<int64_t>(*known, 1, kLanes);
    const int64_t* n = AsInt(length());
    if (n && *n >= kLanes * size_) parts_ = kLanes / lanes_;
  }
  groups_ = CeilDiv(row_count_, lanes_);
  part_length_ = CeilDiv(length(), parts_);
}

SideBySide TopPlaces::Temporary(const Expr& groups, const Expr& length,
                                int64_t lanes) {
  const Extents shape = {groups, length, Int(lanes)};
  return {builder_.Temporary(shape, x_.dtype(), "keys"),
          builder_.Temporary(shape, PlaceType(this->length()), "places"), lanes,
          is_descending_};
}

void TopPlaces::CopyRows(const SideBySide& rows) {
  const auto place = [&](const Extents& i) {
    return Add(Mul(FloorMod(i[2], Int(parts_)), part_length_), i[1]);
  };
  const auto is_inside = [&](const Extents& i) {
    return And(LT(i[1], part_length_), LT(place(i), length()));
  };
  builder_.Fill(rows.keys, [&](const Extents& i) {
    const Expr row = Add(Mul(i[0], Int(lanes_)), FloorDiv(i[2], Int(parts_)));
    const Expr element =
        ElementOfRow(x_, axis_, Min(row, Sub(row_count_, Int(1))), place(i));
    return IfThenElse(is_inside(i), element,
                      LastInOrder(x_.dtype(), is_descending_));
  });
  builder_.Fill(rows.places, [&](const Extents& i) {
    return Cast(rows.places->dtype, Select(is_inside(i), place(i), length()));
  });
}

// The winners of all parts of each row, in one lane.
SideBySide TopPlaces::MeetingOfParts(const SideBySide& parts) {
  const SideBySide rows = Temporary(groups_, Int(parts_ * size_), lanes_);
  const auto from = [&](const Extents& i) {
    const Expr part = FloorDiv(i[1], Int(size_));
    return Extents{i[0], FloorMod(i[1], Int(size_)),
                   Add(Mul(i[2], Int(parts_)), part)};
  };
  builder_.Fill(rows.keys,
                [&](const Extents& i) { return Load(parts.keys, from(i)); });
  builder_.Fill(rows.places,
                [&](const Extents& i) { return Load(parts.places, from(i)); });
  return rows;
}

Buffer TopPlaces::Find() {
  const Expr chunks = CeilDiv(part_length_, size_);
  SideBySide rows =
      Temporary(groups_, Mul(chunks, Int(size_)), lanes_ * parts_);
  CopyRows(rows);
  Tournament all(rows, groups_, chunks, size_, builder_);
  all.SortChunks();
  all.MergeChunks();
  if (parts_ > 1) {
    rows = MeetingOfParts(rows);
    Tournament(rows, groups_, Int(parts_), size_, builder_).MergeChunks();
  }
  Extents shape = x_.shape();
  shape[axis_] = Int(k_);
  return rows.PlacesOfRows(builder_, shape, axis_);
}

}  // namespace

bool IsFewOf(int64_t k, const Expr& n) {
  const int64_t* known = AsInt(n);
  return !known || *known >= kLeastChunks * ChunkSize(k);
}

Expr LastInOrder(DType dtype, bool is_descending) {
  if (dtype.is_float()) {
    return Constant(
        is_descending ? -std::numeric_limits<double>::infinity() : std::nan(""),
        dtype);
  }
  if (dtype.is_bool()) return Constant(is_descending ? 0 : 1, dtype);
  return Call(dtype,
              is_descending ? Intrinsic::kMinValue : Intrinsic::kMaxValue, {});
}

Buffer AddTopPlaces(const te::Tensor& x, int axis, int64_t k,
                    bool is_descending, NestBuilder& builder) {
  return TopPlaces(x, axis, k, is_descending, builder).Find();
}

}  // namespace kiln
