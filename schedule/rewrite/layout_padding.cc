#include "kiln/schedule/rewrite/layout_padding.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/separation.h"

namespace kiln {
namespace {

// One store of the tensor: the loops around it and its indices in their
// variables.
struct Write {
  std::vector<const ForNode*> loops;
  std::vector<Expr> indices;
};

void FindWrites(const Stmt& s, const Buffer& buffer, const VarMap& bound,
                std::vector<const ForNode*>* loops,
                std::vector<Write>* writes) {
  if (const auto* store = s.As<StoreNode>()) {
    if (store->buffer != buffer) return;
    Write write{*loops, {}};
    for (const Expr& e : store->indices) {
      write.indices.push_back(Substitute(e, bound));
    }
    writes->push_back(std::move(write));
    return;
  }
  VarMap inner = bound;
  if (const auto* realize = s.As<BlockRealizeNode>()) {
    for (size_t i = 0; i < realize->values.size(); ++i) {
      inner[realize->block->iters[i].var.get()] =
          Substitute(realize->values[i], bound);
    }
  }
  const auto* loop = s.As<ForNode>();
  if (loop) loops->push_back(loop);
  ForEachChild(s, [&](const Stmt& child) {
    FindWrites(child, buffer, inner, loops, writes);
  });
  if (loop) loops->pop_back();
}

bool IsPlainLoop(const ForNode& loop, const Expr& extent) {
  Analyzer analyzer;
  return loop.for_kind == ForKind::kSerial && loop.annotations.empty() &&
         IsZero(loop.min) && analyzer.CanProveEqual(loop.extent, extent);
}

// The loops that run through the tensor, outermost first, each the only
// statement in the one before; empty when the write is of another form.
std::vector<const ForNode*> RowMajorLoops(const Write& write,
                                          const Buffer& buffer) {
  std::vector<const ForNode*> chain;
  for (size_t d = 0; d < write.indices.size(); ++d) {
    const auto found = std::find_if(
        write.loops.begin(), write.loops.end(),
        [&](const ForNode* loop) { return loop->var == write.indices[d]; });
    if (found == write.loops.end()) return {};
    if (!IsPlainLoop(**found, buffer->shape[d])) return {};
    if (d > 0 && chain.back()->body.get() != *found) return {};
    chain.push_back(*found);
  }
  return chain;
}

class NestRewriter {
 public:
  NestRewriter(const PaddedLayout& layout, std::vector<const ForNode*> chain,
               Function* f)
      : layout_(layout), chain_(std::move(chain)), f_(*f) {}

  const ForNode* outermost() const { return chain_[0]; }

  // Whether the body of the nest does nothing but write the tensor at the
  // place of the loops, so that it may run for padding too.
  bool Fits() const { return Fits(chain_.back()->body, /*in_block=*/false); }

  Stmt Run() {
    std::vector<Expr> axes;
    std::vector<Var> vars;
    for (size_t d = 0; d < layout_.points.size(); ++d) {
      vars.emplace_back(absl::StrCat("axis", d));
      axes.push_back(vars.back());
    }
    std::vector<LoopId> ids;
    for (size_t d = 0; d < vars.size(); ++d) ids.push_back(f_.NewId());
    Stmt nest = Inside(chain_.back()->body, axes, OldIndices(axes));
    for (size_t d = vars.size(); d-- > 0;) {
      nest = MakeFor(ids[d], vars[d], layout_.after->shape[d], nest);
    }
    return nest;
  }

 private:
  bool UsesChain(const Expr& e) const {
    return UsesVar(e, [&](const VarNode* var) {
      return std::any_of(chain_.begin(), chain_.end(),
                         [&](const ForNode* l) { return l->var.get() == var; });
    });
  }

  bool Fits(const Stmt& s, bool in_block) const {
    switch (s.kind()) {
      case StmtKind::kStore:
        return s.As<StoreNode>()->buffer == layout_.before;
      case StmtKind::kBlockRealize:
        return !in_block && FitsBlock(*s.As<BlockRealizeNode>());
      case StmtKind::kFor: {
        const auto* loop = s.As<ForNode>();
        const bool same_everywhere = AsInt(loop->min) && AsInt(loop->extent);
        return (same_everywhere || (!in_block && !UsesChain(loop->min) &&
                                    !UsesChain(loop->extent))) &&
               Fits(loop->body, in_block);
      }
      case StmtKind::kSeq: {
        const auto& stmts = s.As<SeqNode>()->stmts;
        return std::all_of(stmts.begin(), stmts.end(), [&](const Stmt& child) {
          return Fits(child, in_block);
        });
      }
      case StmtKind::kIf:
      case StmtKind::kLet:
      case StmtKind::kAllocate:
      case StmtKind::kEvaluate:
        return false;
    }
    return false;
  }

  bool FitsBlock(const BlockRealizeNode& realize) const {
    const BlockNode& block = *realize.block;
    if (!IsOne(realize.predicate) || !block.alloc_buffers.empty() ||
        !block.match_buffers.empty() || WhyInstancesMeet(block)) {
      return false;
    }
    size_t bound = 0;
    for (size_t i = 0; i < realize.values.size(); ++i) {
      if (!UsesChain(realize.values[i])) continue;
      if (DimensionOf(realize.values[i]) < 0 ||
          block.iters[i].type != IterType::kSpatial) {
        return false;
      }
      ++bound;
    }
    if (bound != 0 && bound != chain_.size()) return false;
    return (!block.init || Fits(block.init, true)) && Fits(block.body, true);
  }

  int DimensionOf(const Expr& e) const {
    for (size_t d = 0; d < chain_.size(); ++d) {
      if (e == chain_[d]->var) return static_cast<int>(d);
    }
    return -1;
  }

  VarMap AtPoints(const std::vector<Expr>& at) const {
    VarMap map;
    for (size_t d = 0; d < at.size(); ++d) {
      map[layout_.points[d].get()] = at[d];
    }
    return map;
  }

  // The variables of the old loops at new indices.
  VarMap OldIndices(const std::vector<Expr>& at) const {
    VarMap map;
    const VarMap points = AtPoints(at);
    for (size_t d = 0; d < chain_.size(); ++d) {
      map[chain_[d]->var.get()] = Substitute(layout_.inverse.inputs[d], points);
    }
    return map;
  }

  Stmt Store(const StoreNode& store, const std::vector<Expr>& at,
             const VarMap& old) const {
    const VarMap points = AtPoints(at);
    const Expr value = Substitute(store.value, old);
    const Expr chosen = Call(value.dtype(), Intrinsic::kIfThenElse,
                             {Substitute(layout_.inverse.is_padding, points),
                              Substitute(layout_.value, points), value});
    return MakeStore(layout_.after, chosen, at);
  }

  Stmt Inside(const Stmt& s, const std::vector<Expr>& at, const VarMap& old) {
    return Rewrite(s, [&](const Stmt& part) -> Stmt {
      if (const auto* store = part.As<StoreNode>()) {
        return Store(*store, at, old);
      }
      if (const auto* realize = part.As<BlockRealizeNode>()) {
        return InsideBlock(*realize, at, old);
      }
      return nullptr;
    });
  }

  // A block whose iterators are the old loops gets iterators of the new ones.
  Stmt InsideBlock(const BlockRealizeNode& realize, const std::vector<Expr>& at,
                   const VarMap& old) {
    BlockFields fields = realize.block->fields();
    std::vector<IterVar> iters;
    std::vector<Expr> values, inner_at = at;
    VarMap inner = old;
    bool added = false;
    for (size_t i = 0; i < fields.iters.size(); ++i) {
      if (DimensionOf(realize.values[i]) < 0) {
        iters.push_back(fields.iters[i]);
        values.push_back(realize.values[i]);
        continue;
      }
      if (!added) inner_at = AddIters(at, &iters, &values);
      added = true;
    }
    if (added) inner = OldIndices(inner_at);
    for (size_t i = 0; i < fields.iters.size(); ++i) {
      const int d = DimensionOf(realize.values[i]);
      if (d < 0) continue;
      const Expr index = inner.at(chain_[d]->var.get());
      inner[fields.iters[i].var.get()] = index;
    }
    const auto at_inner = [&](const Expr& e) { return Substitute(e, inner); };
    for (BufferRegion& r : fields.reads) r = MapRegion(r, at_inner);
    for (BufferRegion& r : fields.writes) {
      // The indices of the old tensor lead back to elements that are no
      // padding.
      r = r.buffer == layout_.before
              ? BufferRegion{layout_.after, PointRegion(inner_at)}
              : MapRegion(r, at_inner);
    }
    if (fields.init) fields.init = Inside(fields.init, inner_at, inner);
    fields.body = Inside(fields.body, inner_at, inner);
    fields.iters = std::move(iters);
    return MakeRealize(values, realize.predicate, MakeBlock(std::move(fields)));
  }

  std::vector<Expr> AddIters(const std::vector<Expr>& at,
                             std::vector<IterVar>* iters,
                             std::vector<Expr>* values) const {
    std::vector<Expr> vars;
    for (size_t d = 0; d < at.size(); ++d) {
      Var var(absl::StrCat("v_axis", d));
      iters->push_back(
          {var, {Int(0), layout_.after->shape[d]}, IterType::kSpatial});
      values->push_back(at[d]);
      vars.push_back(var);
    }
    return vars;
  }

  const PaddedLayout& layout_;
  std::vector<const ForNode*> chain_;
  Function& f_;
};

// for axis...: a block over the new shape. `fill` completes it, given its
// iterators; its predicate is over the loops.
struct NewNest {
  std::vector<Expr> axes, iters;
  BlockFields block;
  std::vector<Var> loop_vars;

  NewNest(const PaddedLayout& layout, std::string name) {
    block.name = std::move(name);
    for (size_t d = 0; d < layout.points.size(); ++d) {
      loop_vars.emplace_back(absl::StrCat("axis", d));
      Var iter(absl::StrCat("v_axis", d));
      axes.push_back(loop_vars.back());
      iters.push_back(iter);
      block.iters.push_back(
          {iter, {Int(0), layout.after->shape[d]}, IterType::kSpatial});
    }
  }

  Stmt Build(const PaddedLayout& layout, Expr predicate, Function* f) {
    block.id = f->NewId();
    Stmt stmt = MakeRealize(axes, std::move(predicate), MakeBlock(block));
    std::vector<LoopId> ids;
    for (size_t d = 0; d < axes.size(); ++d) ids.push_back(f->NewId());
    for (size_t d = axes.size(); d-- > 0;) {
      stmt = MakeFor(ids[d], loop_vars[d], layout.after->shape[d], stmt);
    }
    return stmt;
  }
};

VarMap At(const PaddedLayout& layout, const std::vector<Expr>& at) {
  VarMap map;
  for (size_t d = 0; d < at.size(); ++d) map[layout.points[d].get()] = at[d];
  return map;
}

// Blocks around the loop would go on to declare that they write no padding.
bool StandsWithinBlock(const Stmt& body, const ForNode& loop) {
  bool found = false;
  Visit(body, [&](const Stmt& s) {
    found = found || s.get() == &loop;
    return !found && !s.As<BlockRealizeNode>();
  });
  return !found;
}

}  // namespace

bool HasStores(const Stmt& s, const Buffer& buffer) {
  bool found = false;
  Visit(s, [&](const Stmt& part) {
    const auto* store = part.As<StoreNode>();
    found = found || (store && store->buffer == buffer);
    return !found;
  });
  return found;
}

std::optional<Stmt> ReplaceWriter(const Stmt& body, const PaddedLayout& layout,
                                  Function* f) {
  std::vector<Write> writes;
  std::vector<const ForNode*> loops;
  FindWrites(body, layout.before, {}, &loops, &writes);
  std::vector<const ForNode*> chain;
  for (const Write& write : writes) {
    const auto own = RowMajorLoops(write, layout.before);
    if (own.empty() || (!chain.empty() && own != chain)) return std::nullopt;
    chain = own;
  }
  if (chain.empty() || StandsWithinBlock(body, *chain[0])) return std::nullopt;
  NestRewriter rewriter(layout, chain, f);
  if (!rewriter.Fits()) return std::nullopt;
  return Rewrite(body, [&](const Stmt& s) -> Stmt {
    return s.get() == rewriter.outermost() ? rewriter.Run() : Stmt();
  });
}

Stmt AppendPaddingBlock(const Stmt& body, const PaddedLayout& layout,
                        Function* f) {
  NewNest nest(layout,
               absl::StrCat("buffer_", layout.before->name, "_padding"));
  nest.block.writes = {{layout.after, PointRegion(nest.iters)}};
  nest.block.body =
      MakeStore(layout.after, Substitute(layout.value, At(layout, nest.iters)),
                nest.iters);
  const Stmt padding = nest.Build(
      layout, Substitute(layout.inverse.is_padding, At(layout, nest.axes)), f);
  const auto* seq = body.As<SeqNode>();
  std::vector<Stmt> stmts = seq ? seq->stmts : std::vector<Stmt>{body};
  size_t last = 0;
  for (size_t i = 0; i < stmts.size(); ++i) {
    if (HasStores(stmts[i], layout.before)) last = i;
  }
  stmts.insert(stmts.begin() + static_cast<long>(last) + 1, padding);
  return MakeSeq(std::move(stmts));
}

Stmt PrependAssumption(const Stmt& body, const PaddedLayout& layout,
                       Function* f) {
  NewNest nest(layout,
               absl::StrCat("buffer_", layout.before->name, "_assumptions"));
  const VarMap at = At(layout, nest.iters);
  nest.block.reads = {{layout.after, PointRegion(nest.iters)}};
  const Expr held = Load(layout.after, nest.iters);
  const Expr value = Substitute(layout.value, at);
  // A comparison of bools with a constant is not written out.
  const int64_t* known = held.dtype().is_bool() ? AsInt(value) : nullptr;
  const Expr holds = !known ? EQ(held, value) : *known ? held : Not(held);
  const Expr inside = Not(Substitute(layout.inverse.is_padding, at));
  nest.block.body = MakeEvaluate(
      Call(DType::Int(32), Intrinsic::kAssume, {Or(inside, holds)}));
  return MakeSeq({nest.Build(layout, Bool(true), f), body});
}

}  // namespace kiln
