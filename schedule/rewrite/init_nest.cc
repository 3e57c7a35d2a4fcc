#include "kiln/schedule/rewrite/init_nest.h"

#include <algorithm>
#include <utility>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// What the init of the block reads: elements at places of spatial iterators, or
// all of a tensor.
std::vector<BufferRegion> ReadsOfInit(const BlockNode& block) {
  const auto is_spatial = [&](const VarNode* var) {
    return std::any_of(
        block.iters.begin(), block.iters.end(), [&](const IterVar& iter) {
          return iter.var.get() == var && iter.type == IterType::kSpatial;
        });
  };
  std::vector<BufferRegion> reads;
  VisitExprs(block.init, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load) return true;
    BufferRegion region{load->buffer, {}};
    for (size_t d = 0; d < load->indices.size(); ++d) {
      const Expr& index = load->indices[d];
      const bool is_point =
          !index->has_loads &&
          !UsesVar(index, [&](const VarNode* var) { return !is_spatial(var); });
      region.region.push_back(is_point ? Range{index, Int(1)}
                                       : Range{Int(0), load->buffer->shape[d]});
    }
    reads.push_back(std::move(region));
    return true;
  });
  return reads;
}

// The block of the initialization, with iterators of its own, in `loops`, by
// the variables of the old ones.
Block InitBlock(const BlockNode& block, BlockId id, const VarMap& loops) {
  BlockFields init;
  init.id = id;
  init.name = block.name + "_init";
  init.annotations = block.annotations;
  VarMap renamed;
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kSpatial) continue;
    IterVar copy = iter;
    copy.var = Var(iter.var.name(), iter.var.dtype());
    copy.domain.min = Substitute(iter.domain.min, loops);
    copy.domain.extent = Substitute(iter.domain.extent, loops);
    renamed[iter.var.get()] = copy.var;
    init.iters.push_back(std::move(copy));
  }
  for (const BufferRegion& written : block.writes) {
    init.writes.push_back(MapRegion(
        written, [&](const Expr& e) { return Substitute(e, renamed); }));
  }
  for (const BufferRegion& read : ReadsOfInit(block)) {
    init.reads.push_back(
        MapRegion(read, [&](const Expr& e) { return Substitute(e, renamed); }));
  }
  init.body = Substitute(block.init, renamed);
  return MakeBlock(std::move(init));
}

}  // namespace

bool MovesIterator(const ForNode& loop, const BlockRealizeNode& realize,
                   IterType type) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type == type &&
        UsesVar(realize.values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

Expr KeepConjuncts(const Expr& predicate,
                   FunctionRef<bool(const VarNode*)> dropped) {
  const auto* node = predicate.As<BinaryNode>();
  if (node && node->kind == ExprKind::kAnd) {
    const Expr a = KeepConjuncts(node->a, dropped);
    const Expr b = KeepConjuncts(node->b, dropped);
    if (IsOne(a)) return b;
    return IsOne(b) ? a : And(a, b);
  }
  return UsesVar(predicate, dropped) ? Bool(true) : predicate;
}

Stmt MakeInitNest(const BlockRealizeNode& realize,
                  const std::vector<const ForNode*>& loops, Function* f,
                  BlockId* init_id) {
  std::vector<const ForNode*> kept, dropped;
  for (const ForNode* loop : loops) {
    (MovesIterator(*loop, realize, IterType::kSpatial) ? kept : dropped)
        .push_back(loop);
  }
  const auto is_dropped = [&](const VarNode* var) {
    return std::any_of(dropped.begin(), dropped.end(),
                       [&](const ForNode* l) { return l->var.get() == var; });
  };
  VarMap renamed;
  for (const ForNode* loop : kept) {
    renamed[loop->var.get()] =
        Var(loop->var.name() + "_init", loop->var.dtype());
  }
  std::vector<Expr> values;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type == IterType::kSpatial) {
      values.push_back(Substitute(realize.values[i], renamed));
    }
  }
  *init_id = f->NewId();
  Stmt nest = MakeRealize(
      std::move(values),
      Substitute(KeepConjuncts(realize.predicate, is_dropped), renamed),
      InitBlock(*realize.block, *init_id, renamed));
  for (size_t i = kept.size(); i-- > 0;) {
    ForFields fields = kept[i]->fields();
    fields.id = f->NewId();
    fields.var = Var(renamed[kept[i]->var.get()].As<VarNode>());
    fields.min = Substitute(fields.min, renamed);
    fields.extent = Substitute(fields.extent, renamed);
    fields.annotations.clear();
    fields.body = std::move(nest);
    nest = MakeFor(std::move(fields));
  }
  return nest;
}

BlockFields UpdateFields(const BlockNode& block) {
  BlockFields update = block.fields();
  update.init = nullptr;
  std::vector<BufferRegion> reads = update.writes;
  for (BufferRegion& read : update.reads) {
    const bool is_written = std::any_of(
        update.writes.begin(), update.writes.end(),
        [&](const BufferRegion& w) { return w.buffer == read.buffer; });
    if (!is_written) reads.push_back(std::move(read));
  }
  update.reads = std::move(reads);
  return update;
}

}  // namespace kiln
