// Only what names an old loop variable is rebuilt. A block sees loops through
// its iterators only, except opaque blocks without iterators and those whose
// domains are ranges of loops; these are substituted in full.
#include "kiln/schedule/analysis/rebind.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// The variable of which `e` is a digit, such as v // 4 % 8 or v; nullptr when
// it is none.
const VarNode* VarOfDigit(const Expr& e) {
  if (const auto* var = e.As<VarNode>()) return var;
  const auto* node = e.As<BinaryNode>();
  const bool is_digit =
      node && AsInt(node->b) &&
      (node->kind == ExprKind::kFloorDiv || node->kind == ExprKind::kFloorMod);
  return is_digit ? VarOfDigit(node->a) : nullptr;
}

// Whether the terms are digits of different variables.
bool AreApart(const Linear& sum) {
  absl::InlinedVector<const VarNode*, 8> vars;
  for (const Term& term : sum.terms) {
    const VarNode* var = VarOfDigit(term.atom);
    if (!var || std::find(vars.begin(), vars.end(), var) != vars.end()) {
      return false;
    }
    vars.push_back(var);
  }
  return true;
}

class Rebinder {
 public:
  explicit Rebinder(const Rebinding& rebinding) : rebinding_(rebinding) {
    inside_.reserve(16);
  }

  Stmt Run(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) return RunLoop(s, *loop);
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      return RunRealize(s, *realize);
    }
    const Stmt mapped = MapExprs(s, [&](const Expr& e) { return Replace(e); });
    return MapChildren(mapped, [&](const Stmt& child) { return Run(child); });
  }

 private:
  bool UsesOld(const Expr& e) const { return UsesVar(e, rebinding_.values); }
  Expr Replace(const Expr& e) const { return Substitute(e, rebinding_.values); }

  Stmt RunLoop(const Stmt& s, const ForNode& loop) {
    const Expr min = Replace(loop.min), extent = Replace(loop.extent);
    inside_.push_back(&loop);
    Stmt body = Run(loop.body);
    inside_.pop_back();
    if (min == loop.min && extent == loop.extent) {
      return body == loop.body ? s : WithBody(loop, std::move(body));
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

  // The simplest form where the value is an old variable alone or a plain sum
  // with one in it; null otherwise.
  Expr SimpleValue(const Expr& value) const {
    if (Expr simple = SimpleVar(value)) return simple;
    return rebinding_.predicate ? nullptr : SimpleSum(value);
  }

  Expr SimpleVar(const Expr& value) const {
    const auto* var = value.As<VarNode>();
    if (!var) return nullptr;
    const auto found = rebinding_.simple.find(var);
    return found == rebinding_.simple.end() ? nullptr : found->second;
  }

  // A sum of multiples of different variables and digits of them is simple as
  // it stands, but for the order of its terms.
  Expr SimpleSum(const Expr& value) const {
    if (!rebinding_.preserve_unit_iters || !UsesOld(value)) return nullptr;
    Linear before, after;
    Decompose(value, 1, &before);
    after.constant = before.constant;
    for (const Term& term : before.terms) {
      if (!UsesOld(term.atom)) {
        after.Add(term.atom, term.coefficient);
        continue;
      }
      const Expr simple = SimpleVar(term.atom);
      if (!simple) return nullptr;
      Decompose(simple, term.coefficient, &after);
    }
    if (!before.ok || !after.ok || !AreApart(after)) return nullptr;
    return ToExpr(&after, value.dtype());
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
    std::vector<LoopRange> loops;
    const auto add = [&](const Var& var, const Expr& min, const Expr& extent) {
      const bool is_symbol = rebinding_.preserve_unit_iters && IsOne(extent);
      if (!is_symbol) loops.push_back({var, {min, extent}});
    };
    for (const ForNode* loop : rebinding_.outside) {
      add(loop->var, loop->min, loop->extent);
    }
    for (const auto& [var, range] : rebinding_.loops) {
      add(var, range.min, range.extent);
    }
    for (const ForNode* loop : inside_) {
      add(loop->var, Replace(loop->min), Replace(loop->extent));
    }
    return loops;
  }

  bool BodyUsesOld(const BlockNode& block) const {
    bool found = false;
    const auto look = [&](const Expr& e) { found = found || UsesOld(e); };
    for (const IterVar& iter : block.iters) {
      look(iter.domain.min);
      look(iter.domain.extent);
    }
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
  std::vector<const ForNode*> inside_;  // loops of the statement, around here
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
