#include "kiln/schedule/rewrite/read_box.h"

#include <algorithm>

#include "kiln/ir/arith/int_set.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// What is known at a statement, in terms of loop variables.
struct Place {
  Domains loops;
  Expr condition = Bool(true);
  VarMap iters;  // the values of iterators of the blocks around
};

bool Mentions(const Expr& e, const Buffer& tensor) {
  bool found = false;
  Visit(e, [&](const Expr& inner) {
    const auto* load = inner.As<LoadNode>();
    found = found || (load && load->buffer == tensor) ||
            (tensor->data && inner == tensor->data);
    return !found;
  });
  return found;
}

// Whether a statement outside of inner blocks uses the tensor.
bool UsesDirectly(const Stmt& s, const Buffer& tensor) {
  bool found = false;
  const auto use = [&](const Expr& e) { found = found || Mentions(e, tensor); };
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    for (const Expr& value : realize->values) use(value);
    use(realize->predicate);
    return found;
  }
  ForEachExpr(s, use);
  ForEachChild(s, [&](const Stmt& child) {
    found = found || UsesDirectly(child, tensor);
  });
  return found;
}

bool LeavesReadsToInnerBlocks(const BlockNode& block, const Buffer& tensor) {
  const auto is_view = [&](const MatchBufferRegion& match) {
    return match.source.buffer == tensor;
  };
  return std::none_of(block.match_buffers.begin(), block.match_buffers.end(),
                      is_view) &&
         !UsesDirectly(block.body, tensor) &&
         !(block.init && UsesDirectly(block.init, tensor));
}

// Whether a block inside of this one runs under a condition.
bool HasInnerCondition(const BlockNode& block) {
  bool found = false;
  const auto look = [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    found = found || (realize && !IsOne(realize->predicate));
    return !found;
  };
  Visit(block.body, look);
  if (block.init) Visit(block.init, look);
  return found;
}

class Reads {
 public:
  explicit Reads(const Buffer& tensor) : tensor_(tensor) {}

  void Add(const ScopeBlock& block) {
    Place place;
    for (const ForNode* loop : block.loops) {
      place.loops.emplace(loop->var.get(), {loop->min, loop->extent});
    }
    AddBlock(*block.realize, std::move(place));
  }

  std::vector<Range> Box() const {
    std::vector<Range> whole = FullRegion(tensor_).region;
    if (box_.empty()) return whole;
    std::vector<Range> box;
    for (size_t i = 0; i < box_.size(); ++i) {
      const int64_t* min = box_[i].min ? AsInt(box_[i].min) : nullptr;
      const int64_t* max = box_[i].max ? AsInt(box_[i].max) : nullptr;
      const int64_t* extent = AsInt(tensor_->shape[i]);
      const bool fits =
          min && max && extent && 0 <= *min && *min <= *max && *max < *extent;
      if (!fits) return whole;
      box.push_back({Int(*min), Int(*max - *min + 1)});
    }
    return box;
  }

 private:
  void AddBlock(const BlockRealizeNode& realize, Place place) {
    const BlockNode& block = *realize.block;
    place.condition =
        And(place.condition, Substitute(realize.predicate, place.iters));
    const VarMap around = place.iters;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      place.iters[block.iters[i].var.get()] =
          Substitute(realize.values[i], around);
    }
    if (LeavesReadsToInnerBlocks(block, tensor_)) {
      if (block.init) AddInner(block.init, place);
      return AddInner(block.body, place);
    }
    for (const BufferRegion& region : block.reads) {
      if (region.buffer == tensor_) AddRegion(region, place);
    }
  }

  void AddInner(const Stmt& s, const Place& place) {
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return AddBlock(*realize, place);
    }
    Place inner = place;
    if (const auto* loop = s.As<ForNode>()) {
      inner.loops.emplace(loop->var.get(),
                          {Substitute(loop->min, place.iters),
                           Substitute(loop->extent, place.iters)});
    }
    ForEachChild(s, [&](const Stmt& child) { AddInner(child, inner); });
  }

  void AddRegion(const BufferRegion& region, const Place& place) {
    const BufferRegion mapped = MapRegion(
        region, [&](const Expr& e) { return Substitute(e, place.iters); });
    const std::vector<IntSet> touched =
        EvalRegion(mapped.region, place.loops, place.condition, &analyzer_);
    if (box_.empty()) {
      box_ = touched;
      return;
    }
    for (size_t i = 0; i < box_.size(); ++i) {
      box_[i] = UnionSet(box_[i], touched[i], &analyzer_);
    }
  }

  const Buffer tensor_;
  Analyzer analyzer_;
  std::vector<IntSet> box_;  // empty: nothing yet
};

}  // namespace

std::vector<Range> ReadBox(const Scope& scope,
                           const std::vector<BlockId>& readers,
                           const Buffer& tensor) {
  Reads reads(tensor);
  bool has_condition = false;
  for (BlockId reader : readers) {
    const int index = scope.IndexOf(reader);
    if (index < 0) return FullRegion(tensor).region;
    has_condition =
        has_condition || HasInnerCondition(scope.blocks[index].block());
  }
  if (!has_condition) return FullRegion(tensor).region;
  for (BlockId reader : readers) {
    reads.Add(scope.blocks[scope.IndexOf(reader)]);
  }
  return reads.Box();
}

}  // namespace kiln
