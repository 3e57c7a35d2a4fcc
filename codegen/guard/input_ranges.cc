// The parameters that feed indices start at one value each, the same for all,
// with which most accesses are known to be in bounds; from there their ranges
// grow in turns, by steps that double, as long as that stays so. Of
//
//   O[i] = E[idx[i]]        E has 10 elements
//
// 0 is such a start. The upper end of idx goes to 1, 3 and 7 by steps of 1, 2
// and 4; steps of 8 and 4 are too far, one of 2 gives 9, and one of 1 is too
// far: the range is [0, 9], since no number below 0 is in bounds either. This
// is a search, not a proof that no larger ranges exist: with several
// parameters, the growth of one may be at the expense of another.
#include "kiln/codegen/guard/input_ranges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/codegen/guard/access_trial.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Where no extent is larger, ranges end here.
constexpr int64_t kLeastLimit = 1 << 16;
// So far from where they start, where some accesses are not known to be safe.
constexpr int64_t kNear = 7;

using Buffers = std::set<const BufferNode*>;

void AddLoaded(const Expr& e, Buffers* loaded) {
  Visit(e, [&](const Expr& x) {
    if (const auto* load = x.As<LoadNode>()) loaded->insert(load->buffer.get());
    return x->has_loads;
  });
}

// The buffers whose elements become indices or bounds of loops.
Buffers DirectFeeders(const Stmt& body) {
  Buffers feeders;
  Visit(body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      AddLoaded(loop->min, &feeders);
      AddLoaded(loop->extent, &feeders);
    }
    if (const auto* let = s.As<LetStmtNode>()) AddLoaded(let->value, &feeders);
    if (const auto* store = s.As<StoreNode>()) {
      for (const Expr& index : store->indices) AddLoaded(index, &feeders);
    }
    return true;
  });
  VisitExprs(body, [&](const Expr& e) {
    if (const auto* load = e.As<LoadNode>()) {
      for (const Expr& index : load->indices) AddLoaded(index, &feeders);
    }
    if (const auto* let = e.As<LetNode>()) AddLoaded(let->value, &feeders);
    return true;
  });
  return feeders;
}

// Those and the buffers that are copied into them.
Buffers Feeders(const Stmt& body) {
  Buffers feeders = DirectFeeders(body);
  for (size_t size = feeders.size() + 1; size != feeders.size();) {
    size = feeders.size();
    Visit(body, [&](const Stmt& s) {
      const auto* store = s.As<StoreNode>();
      if (store && feeders.count(store->buffer.get()) > 0) {
        AddLoaded(store->value, &feeders);
      }
      return true;
    });
  }
  return feeders;
}

// The whole numbers that a type holds exactly.
ConstBound BoundOf(DType dtype) {
  if (dtype.is_float()) {
    const int digits = dtype.code() == TypeCode::kBFloat ? 8
                       : dtype.bits() == 16              ? 11
                                                         : 24;
    return {-(int64_t{1} << digits), int64_t{1} << digits};
  }
  const int bits = std::min(dtype.bits() - !dtype.is_uint(), 31);
  const int64_t high = (int64_t{1} << bits) - 1;
  return {dtype.is_uint() ? 0 : -high - 1, high};
}

// What FillRandom draws.
ConstBound DefaultBound(DType dtype) {
  if (dtype.is_bool()) return {0, 1};
  if (dtype.is_float()) return {-1, 1};
  return {dtype.is_uint() ? 0 : -8, 7};
}

int64_t LargestExtent(const Function& f) {
  int64_t largest = kLeastLimit;
  for (const Param& param : f.params) {
    if (!param.buffer) continue;
    for (const Expr& extent : param.buffer->shape) {
      const int64_t* known = AsInt(extent);
      if (known) largest = std::max(largest, *known);
    }
  }
  return largest;
}

class Search {
 public:
  Search(const Function& f, const std::vector<std::pair<Var, int64_t>>& scalars)
      : trial_(f, scalars) {
    const Buffers feeders = Feeders(f.body);
    const int64_t limit = LargestExtent(f);
    for (const Param& param : f.params) {
      if (!param.buffer) continue;
      const BufferNode* buffer = param.buffer.get();
      bounds_[buffer] = DefaultBound(buffer->dtype);
      if (feeders.count(buffer) == 0 || buffer->dtype.is_bool()) continue;
      const ConstBound type = BoundOf(buffer->dtype);
      sought_.push_back(
          {buffer, std::max(type.min, -limit), std::min(type.max, limit)});
    }
  }

  // False where what is drawn anyway is as good as anything.
  bool Run() {
    unsafe_ = trial_.CountUnsafe(bounds_);
    if (sought_.empty() || unsafe_ == 0 || !FindStart()) return false;
    if (unsafe_ > 0) StayNear();
    Grow(+1);
    Grow(-1);
    return true;
  }

  std::optional<ValueRange> RangeOf(const Param& param) const {
    for (const Sought& one : sought_) {
      if (one.buffer != param.buffer.get()) continue;
      const ConstBound bound = bounds_.at(one.buffer);
      return ValueRange{bound.min, bound.max};
    }
    return std::nullopt;
  }

 private:
  struct Sought {
    const BufferNode* buffer;
    int64_t lowest, highest;  // that it may hold
  };

  // A value for all that leaves the fewest accesses unsafe, fewer than before.
  bool FindStart() {
    ContentBounds best;
    const int before = unsafe_;
    for (int64_t value : {0, 1, 2, 3, 4, 8, 16, 32, 64, -1, -2, -3, -4, -8}) {
      ContentBounds bounds = bounds_;
      bool fits = true;
      for (const Sought& one : sought_) {
        fits &= value >= one.lowest && value <= one.highest;
        bounds[one.buffer] = {value, value};
      }
      const int unsafe = fits ? trial_.CountUnsafe(bounds) : unsafe_;
      if (unsafe >= unsafe_) continue;
      unsafe_ = unsafe;
      best = std::move(bounds);
    }
    if (unsafe_ < before) bounds_ = std::move(best);
    return unsafe_ < before;
  }

  // What is not known to be safe is likelier to be so with small numbers.
  void StayNear() {
    for (Sought& one : sought_) {
      const int64_t start = bounds_[one.buffer].min;
      one.lowest = std::max(one.lowest, start - kNear);
      one.highest = std::min(one.highest, start + kNear);
    }
  }

  // Moves the ends of all ranges, upwards or downwards.
  void Grow(int direction) {
    std::vector<int64_t> steps(sought_.size(), 1);
    std::vector<bool> doubles(sought_.size(), true);
    bool any = true;
    while (any) {
      any = false;
      for (size_t i = 0; i < sought_.size(); ++i) {
        if (steps[i] == 0) continue;
        if (!Move(sought_[i], direction * steps[i])) doubles[i] = false;
        steps[i] = doubles[i] ? steps[i] * 2 : steps[i] / 2;
        any = true;
      }
    }
  }

  // False, and nothing is changed, where that is too far.
  bool Move(const Sought& one, int64_t by) {
    ConstBound& bound = bounds_[one.buffer];
    const ConstBound before = bound;
    (by > 0 ? bound.max : bound.min) += by;
    if (bound.min >= one.lowest && bound.max <= one.highest &&
        trial_.CountUnsafe(bounds_) <= unsafe_) {
      return true;
    }
    bound = before;
    return false;
  }

  AccessTrial trial_;
  ContentBounds bounds_;
  std::vector<Sought> sought_;
  int unsafe_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<std::optional<ValueRange>>> InputRanges(
    const Function& f, const std::vector<std::pair<Var, int64_t>>& scalars) {
  LowerOptions without_blocks;
  without_blocks.stop_after = "remove_blocks";
  KILN_ASSIGN_OR_RETURN(const Function lowered, Lower(f, without_blocks));
  std::vector<std::optional<ValueRange>> ranges(f.params.size());
  Search search(lowered, scalars);
  if (!search.Run()) return ranges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    ranges[i] = search.RangeOf(lowered.params[i]);
  }
  return ranges;
}

}  // namespace kiln
