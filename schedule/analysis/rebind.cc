// Only what names an old loop variable is rebuilt. A block's body sees loops
// through the block's iterators only, except in opaque blocks without
// iterators; those are substituted in full.
#include "kiln/schedule/analysis/rebind.h"

#include <utility>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Rebinder {
 public:
  explicit Rebinder(const Rebinding& rebinding)
      : rebinding_(rebinding), loops_(rebinding.loops) {}

  Stmt Run(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) return RunLoop(s, *loop);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return RunRealize(s, *realize);
    }
    const Stmt mapped = MapExprs(s, [&](const Expr& e) { return Replace(e); });
    return MapChildren(mapped, [&](const Stmt& child) { return Run(child); });
  }

 private:
  bool IsOld(const VarNode* var) const {
    return rebinding_.values.count(var) != 0;
  }
  bool UsesOld(const Expr& e) const {
    return UsesVar(e, [&](const VarNode* var) { return IsOld(var); });
  }
  Expr Replace(const Expr& e) const {
    return UsesOld(e) ? Substitute(e, rebinding_.values) : e;
  }

  Stmt RunLoop(const Stmt& s, const ForNode& loop) {
    const Expr min = Replace(loop.min), extent = Replace(loop.extent);
    loops_.push_back({loop.var, {min, extent}});
    Stmt body = Run(loop.body);
    loops_.pop_back();
    if (min == loop.min && extent == loop.extent && body == loop.body) {
      return s;
    }
    ForFields fields = loop.fields();
    fields.min = min;
    fields.extent = extent;
    fields.body = std::move(body);
    return MakeFor(std::move(fields));
  }

  Expr NewPredicate(const Expr& old) const {
    const Expr replaced = Replace(old);
    if (!rebinding_.predicate) return replaced;
    if (IsOne(replaced)) return rebinding_.predicate;
    return And(replaced, rebinding_.predicate);
  }

  // The simplest form where the value is an old variable alone; null otherwise.
  Expr SimpleValue(const Expr& value) const {
    const auto* var = value.As<VarNode>();
    if (!var) return nullptr;
    const auto found = rebinding_.simple.find(var);
    return found == rebinding_.simple.end() ? nullptr : found->second;
  }

  // Bindings that do not change are in simplest form; there is something to
  // simplify only where an old variable is a part of one.
  std::vector<Expr> NewValues(const BlockRealizeNode& realize,
                              const Expr& predicate) const {
    std::vector<Expr> values = realize.values;
    bool changed = false;
    for (Expr& value : values) {
      if (Expr simple = SimpleValue(value)) {
        value = std::move(simple);
        continue;
      }
      Expr replaced = Replace(value);
      changed |= replaced != value;
      value = std::move(replaced);
    }
    if (!changed) return values;
    const std::vector<LoopRange> loops = SimplifiedLoops();
    // Where new conditions leave bindings that are not affine (instances that
    // overlap), the position within the old loop stays to be seen.
    if (rebinding_.predicate &&
        !CheckIterMap(values, loops, predicate, IterMapLevel::kInjective)
             .ok()) {
      return values;
    }
    return SimplifyIterMap(values, loops, predicate);
  }

  // Loops of extent 1 that should stay visible are left out: the variable is
  // then a symbol like any other.
  std::vector<LoopRange> SimplifiedLoops() const {
    if (!rebinding_.preserve_unit_iters) return loops_;
    std::vector<LoopRange> loops;
    for (const LoopRange& loop : loops_) {
      if (!IsOne(loop.range.extent)) loops.push_back(loop);
    }
    return loops;
  }

  bool BodyUsesOld(const BlockNode& block) const {
    bool found = false;
    const auto look = [&](const Expr& e) { found = found || UsesOld(e); };
    for (const BufferRegion& region : block.reads) {
      for (const Range& range : region.region) look(range.min);
    }
    const auto look_below = [&](const Expr& e) {
      look(e);
      return false;
    };
    if (block.init) VisitExprs(block.init, look_below);
    VisitExprs(block.body, look_below);
    return found;
  }

  Stmt RunRealize(const Stmt& s, const BlockRealizeNode& realize) {
    if (BodyUsesOld(*realize.block)) {
      const Stmt replaced = Substitute(s, rebinding_.values);
      const auto* node = replaced.As<BlockRealizeNode>();
      return MakeRealize(NewValues(*node, node->predicate),
                         NewPredicate(node->predicate), node->block);
    }
    const Expr predicate = NewPredicate(realize.predicate);
    std::vector<Expr> values = NewValues(realize, predicate);
    if (predicate == realize.predicate && values == realize.values) return s;
    return MakeRealize(std::move(values), predicate, realize.block);
  }

  const Rebinding& rebinding_;
  std::vector<LoopRange> loops_;
};

}  // namespace

Stmt Rebind(const Stmt& stmt, const Rebinding& rebinding) {
  return Rebinder(rebinding).Run(stmt);
}

bool AllInBlocks(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::kBlockRealize:
      return true;
    case StmtKind::kStore:
    case StmtKind::kEvaluate:
    case StmtKind::kAllocate:
    case StmtKind::kLet:
      return false;
    case StmtKind::kFor:
    case StmtKind::kSeq:
    case StmtKind::kIf:
      break;
  }
  bool all = true;
  ForEachChild(stmt,
               [&](const Stmt& child) { all = all && AllInBlocks(child); });
  return all;
}

}  // namespace kiln
