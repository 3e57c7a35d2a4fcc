// Every access adds a box to its buffer. Loop variables are taken out of its
// ends from the innermost loop outward: an end that grows by a constant with
// each iteration is linear in the variable, and has its extremes at the first
// and the last iteration. The boxes of a buffer are joined to their hull.
//
//   with T.block("B"):
//     vi = T.axis.spatial(8, i)
//     for k in range(3):                  T.reads(B[vi], A[vi * 2:vi * 2 + 3])
//       B[vi] = B[vi] + A[vi * 2 + k]     T.writes(B[vi])
//
// With an init, B[vi] would not be listed as read. An index whose steps are not
// known numbers, such as k * n or X[k], gives all of its dimension, and so do
// two boxes whose ends cannot be compared. A region may be wider than what is
// touched, so that this is right, but it may keep a schedule from moving the
// block.
#include "kiln/ir/text/reader/access_region.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::script {
namespace {

// The integers from min to max, both included. Null bounds: anything.
struct IntSet {
  Expr min, max;
  bool IsBounded() const { return min && max; }
};

struct Touched {
  Buffer buffer;
  std::vector<IntSet> box;
};

class Collector {
 public:
  explicit Collector(const std::unordered_map<const VarNode*, Buffer>& data_of)
      : data_of_(data_of) {}

  void Walk(const BlockFields& block);
  std::vector<BufferRegion> Reads(bool without_written) const;
  std::vector<BufferRegion> Writes() const { return Regions(writes_); }

 private:
  void Walk(const Stmt& s);
  void Walk(const Expr& e);
  void WalkRealize(const BlockRealizeNode& realize);
  void Touch(std::vector<Touched>& list, const Buffer& buffer,
             const std::vector<Range>& region);
  void TouchSource(std::vector<Touched>& list, const Buffer& buffer,
                   const std::vector<Range>& region);
  std::vector<Range> RegionOf(const std::vector<Expr>& indices) const;
  IntSet SetOf(const Range& range);
  IntSet OverLoops(IntSet set);
  bool Relax(const Var& var, const Range& domain, IntSet& set);
  IntSet Union(const IntSet& a, const IntSet& b);
  std::vector<BufferRegion> Regions(const std::vector<Touched>& list) const;
  bool LoadsWritten(const Expr& bound) const;

  const std::unordered_map<const VarNode*, Buffer>& data_of_;
  std::unordered_set<const BufferNode*> local_;
  std::unordered_map<const BufferNode*, MatchBufferRegion> matched_;
  struct Domain {
    Var var;
    Range range;
  };
  std::vector<Domain> loops_;  // around the current place, outermost first
  VarMap lets_;
  mutable Analyzer analyzer_;
  std::vector<Touched> reads_, writes_;
};

// A vector of indices as the box that holds it.
Range RangeOfIndex(const Expr& index) {
  if (const auto* ramp = index.As<RampNode>()) {
    const int64_t* stride = AsInt(ramp->stride);
    if (stride != nullptr && *stride > 0) {
      return {ramp->base, Int(*stride * (ramp->lanes - 1) + 1)};
    }
    if (stride != nullptr && *stride < 0) {
      const int64_t reach = *stride * (ramp->lanes - 1);
      return {Add(ramp->base, Int(reach)), Int(1 - reach)};
    }
  }
  if (const auto* splat = index.As<BroadcastNode>()) {
    return {splat->value, Int(1)};
  }
  return {index, Int(1)};
}

std::vector<Range> Collector::RegionOf(const std::vector<Expr>& indices) const {
  std::vector<Range> region;
  for (const Expr& index : indices) region.push_back(RangeOfIndex(index));
  return region;
}

IntSet Collector::SetOf(const Range& range) {
  const Expr min = lets_.empty() ? range.min : Substitute(range.min, lets_);
  const Expr extent =
      lets_.empty() ? range.extent : Substitute(range.extent, lets_);
  if (!min.dtype().is_scalar()) return IntSet{};
  if (IsOne(extent)) return OverLoops({min, min});
  return OverLoops({min, analyzer_.Simplify(Sub(Add(min, extent), Int(1)))});
}

IntSet Collector::OverLoops(IntSet set) {
  for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
    if (!Relax(loop->var, loop->range, set)) return IntSet{};
  }
  return set;
}

// Lets `var` run over `domain`. A bound that moves by a constant with each
// round has its extremes at the ends; of any other nothing is known.
bool Collector::Relax(const Var& var, const Range& domain, IntSet& set) {
  const Expr last = Sub(Add(domain.min, domain.extent), Int(1));
  auto at = [&](const Expr& e, bool want_least) -> Expr {
    if (!UsesVar(e, var)) return e;
    const Expr next = Substitute(e, var, Add(var, Int(1)));
    const Expr step = analyzer_.Simplify(Sub(next, e));
    const int64_t* known = AsInt(step);
    if (known == nullptr) return nullptr;
    const Expr& end = (*known >= 0) == want_least ? domain.min : last;
    return analyzer_.Simplify(Substitute(e, var, end));
  };
  set = {at(set.min, true), at(set.max, false)};
  return set.IsBounded();
}

IntSet Collector::Union(const IntSet& a, const IntSet& b) {
  if (!a.IsBounded() || !b.IsBounded()) return IntSet{};
  auto pick = [&](const Expr& low, const Expr& high, bool want_low) -> Expr {
    if (SameExpr(low, high)) return low;
    if (analyzer_.CanProveLessEqual(low, high)) return want_low ? low : high;
    if (analyzer_.CanProveLessEqual(high, low)) return want_low ? high : low;
    return nullptr;
  };
  IntSet both = {pick(a.min, b.min, true), pick(a.max, b.max, false)};
  return both.IsBounded() ? both : IntSet{};
}

void Collector::Touch(std::vector<Touched>& list, const Buffer& buffer,
                      const std::vector<Range>& region) {
  if (local_.count(buffer.get())) return;
  if (auto match = matched_.find(buffer.get()); match != matched_.end()) {
    return TouchSource(list, buffer, region);
  }
  std::vector<IntSet> box;
  for (const Range& range : region) box.push_back(SetOf(range));
  auto known = std::find_if(list.begin(), list.end(), [&](const Touched& t) {
    return t.buffer == buffer;
  });
  if (known == list.end()) {
    list.push_back({buffer, std::move(box)});
    return;
  }
  for (size_t i = 0; i < box.size(); ++i) {
    known->box[i] = Union(known->box[i], box[i]);
  }
}

// The innermost dimensions of the source are those of the matched buffer where
// shapes agree; anything else touches the whole source.
void Collector::TouchSource(std::vector<Touched>& list, const Buffer& buffer,
                            const std::vector<Range>& region) {
  const BufferRegion& source = matched_.at(buffer.get()).source;
  std::vector<Range> mapped = source.region;
  const size_t skipped = mapped.size() - std::min(mapped.size(), region.size());
  bool aligned = mapped.size() >= region.size();
  for (size_t i = 0; aligned && i < region.size(); ++i) {
    aligned = SameExpr(mapped[skipped + i].extent, buffer->shape[i]);
  }
  for (size_t i = 0; aligned && i < region.size(); ++i) {
    Range& outer = mapped[skipped + i];
    const Expr& offset = region[i].min;
    outer = {IsZero(offset) ? outer.min : Add(outer.min, offset),
             region[i].extent};
  }
  Touch(list, source.buffer, mapped);
}

void Collector::Walk(const Expr& e) {
  const auto* hint = e.As<CallNode>();
  if (const auto* element = hint ? PrefetchedElement(*hint) : nullptr) {
    for (const Expr& index : element->indices) Walk(index);
    return;
  }
  Visit(e, [&](const Expr& part) {
    if (const auto* load = part.As<LoadNode>()) {
      Touch(reads_, load->buffer, RegionOf(load->indices));
    } else if (const auto* var = part.As<VarNode>()) {
      auto owner = data_of_.find(var);
      if (owner != data_of_.end()) {
        Touch(reads_, owner->second, FullRegion(owner->second).region);
        Touch(writes_, owner->second, FullRegion(owner->second).region);
      }
    } else if (const auto* let = part.As<LetNode>()) {
      lets_[let->var.get()] = Substitute(let->value, lets_);
    }
    return true;
  });
}

void Collector::WalkRealize(const BlockRealizeNode& realize) {
  const BlockNode& block = *realize.block;
  Walk(realize.predicate);
  VarMap values = lets_;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    Walk(realize.values[i]);
    values[block.iters[i].var.get()] = realize.values[i];
  }
  auto at_values = [&](const Expr& e) { return Substitute(e, values); };
  for (const BufferRegion& read : block.reads) {
    Touch(reads_, read.buffer, MapRegion(read, at_values).region);
  }
  for (const BufferRegion& write : block.writes) {
    Touch(writes_, write.buffer, MapRegion(write, at_values).region);
  }
}

void Collector::Walk(const Stmt& s) {
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    return WalkRealize(*realize);
  }
  if (const auto* store = s.As<StoreNode>()) {
    Touch(writes_, store->buffer, RegionOf(store->indices));
  }
  if (const auto* allocate = s.As<AllocateNode>()) {
    local_.insert(allocate->buffer.get());
  }
  if (const auto* loop = s.As<ForNode>()) {
    Walk(loop->min);
    Walk(loop->extent);
    loops_.push_back({loop->var, Range{loop->min, loop->extent}});
  } else {
    ForEachExpr(s, [&](const Expr& e) { Walk(e); });
  }
  if (const auto* let = s.As<LetStmtNode>()) {
    lets_[let->var.get()] = Substitute(let->value, lets_);
  }
  ForEachChild(s, [&](const Stmt& child) { Walk(child); });
  if (s.kind() == StmtKind::kFor) loops_.pop_back();
}

void Collector::Walk(const BlockFields& block) {
  for (const Buffer& buffer : block.alloc_buffers) local_.insert(buffer.get());
  for (const MatchBufferRegion& match : block.match_buffers) {
    matched_.emplace(match.buffer.get(), match);
  }
  if (block.init) Walk(block.init);
  Walk(block.body);
}

// Bounds speak of what tensors hold where the block begins; what exists in the
// block alone holds nothing there.
bool Collector::LoadsWritten(const Expr& bound) const {
  if (!bound->has_loads) return false;
  bool loads_local = false;
  Visit(bound, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    loads_local = loads_local || (load && local_.count(load->buffer.get()));
    return !loads_local;
  });
  return loads_local ||
         std::any_of(writes_.begin(), writes_.end(), [&](const Touched& t) {
           return LoadsFrom(bound, t.buffer);
         });
}

std::vector<BufferRegion> Collector::Regions(
    const std::vector<Touched>& list) const {
  std::vector<BufferRegion> regions;
  for (const Touched& touched : list) {
    BufferRegion region{touched.buffer, {}};
    for (size_t i = 0; i < touched.box.size(); ++i) {
      const IntSet& set = touched.box[i];
      Range range{Int(0), touched.buffer->shape[i]};
      if (set.IsBounded() && !LoadsWritten(set.min) && !LoadsWritten(set.max)) {
        range = {set.min, Int(1)};
        if (!SameExpr(set.min, set.max)) {
          range.extent = analyzer_.Simplify(Add(Sub(set.max, set.min), Int(1)));
        }
      }
      region.region.push_back(std::move(range));
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

// A reduction reads what it writes, which goes unsaid; other elements of the
// same buffer are said.
std::vector<BufferRegion> Collector::Reads(bool without_written) const {
  const auto is_same = [](const IntSet& a, const IntSet& b) {
    return a.IsBounded() && b.IsBounded() && SameExpr(a.min, b.min) &&
           SameExpr(a.max, b.max);
  };
  std::vector<Touched> kept;
  for (const Touched& read : reads_) {
    const bool written =
        std::any_of(writes_.begin(), writes_.end(), [&](const Touched& write) {
          return write.buffer == read.buffer &&
                 std::equal(read.box.begin(), read.box.end(), write.box.begin(),
                            write.box.end(), is_same);
        });
    if (!written || !without_written) kept.push_back(read);
  }
  return Regions(kept);
}

}  // namespace

AccessRegions InferAccessRegions(
    const BlockFields& block,
    const std::unordered_map<const VarNode*, Buffer>& data_of) {
  Collector collector(data_of);
  collector.Walk(block);
  return {collector.Reads(static_cast<bool>(block.init)), collector.Writes()};
}

namespace {

// The elements that a block reads of buffers, beside what it says.
class MissingReads {
 public:
  explicit MissingReads(const BlockFields& block) : block_(block) {
    for (const IterVar& iter : block.iters) {
      analyzer_.Bind(iter.var, iter.domain);
      iters_.insert(iter.var.get());
    }
  }

  std::vector<BufferRegion> Find() {
    VisitExprs(block_.body, [&](const Expr& e) {
      if (const auto* load = e.As<LoadNode>()) Add(*load);
      return true;
    });
    std::erase_if(missing_, [&](const BufferRegion& region) {
      return partly_held_.count(region.buffer.get()) == 0;
    });
    return std::move(missing_);
  }

 private:
  void Add(const LoadNode& load) {
    if (IsHeld(load, block_.reads)) {
      partly_held_.insert(load.buffer.get());
    } else if (HasPlainIndices(load) && !IsHeld(load, missing_)) {
      BufferRegion region{load.buffer, {}};
      for (const Expr& index : load.indices) {
        region.region.push_back({index, Int(1)});
      }
      missing_.push_back(std::move(region));
    }
  }

  bool IsHeld(const LoadNode& load, const std::vector<BufferRegion>& regions) {
    return std::any_of(
        regions.begin(), regions.end(), [&](const BufferRegion& region) {
          return region.buffer == load.buffer && Holds(region.region, load);
        });
  }

  bool Holds(const std::vector<Range>& region, const LoadNode& load) {
    if (region.size() != load.indices.size()) return false;
    for (size_t d = 0; d < region.size(); ++d) {
      const Expr from = Sub(load.indices[d], region[d].min);
      const bool holds = analyzer_.CanProve(LE(Int(0), from)) &&
                         analyzer_.CanProve(LT(from, region[d].extent));
      if (!holds) return false;
    }
    return true;
  }

  // Made of iterators alone.
  bool HasPlainIndices(const LoadNode& load) const {
    for (const Expr& index : load.indices) {
      if (index.dtype().lanes() != 1) return false;
      for (const Var& var : FreeVars(index)) {
        if (iters_.count(var.get()) == 0) return false;
      }
      bool loads = false;
      Visit(index, [&](const Expr& e) {
        loads = loads || e.As<LoadNode>();
        return !loads;
      });
      if (loads) return false;
    }
    return true;
  }

  const BlockFields& block_;
  Analyzer analyzer_;
  std::unordered_set<const VarNode*> iters_;
  std::unordered_set<const BufferNode*> partly_held_;
  std::vector<BufferRegion> missing_;
};

}  // namespace

void CompleteReads(BlockFields& block) {
  const std::vector<BufferRegion> missing = MissingReads(block).Find();
  block.reads.insert(block.reads.end(), missing.begin(), missing.end());
}

}  // namespace kiln::script
