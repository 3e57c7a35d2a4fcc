#include "kiln/schedule/primitive/decompose_padding.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/element_access.h"

namespace kiln {
namespace {

constexpr char kName[] = "decompose_padding";

struct Target {
  ElementAccess access;               // what the block writes
  size_t loop = 0;                    // of the given loop in the path
  std::vector<const ForNode*> loops;  // from it inwards
  Expr condition, value, otherwise;   // of the store
  const BlockRealizeNode& realize() const { return *access.block.realize(); }
  const BlockNode& block() const { return access.node(); }
};

absl::Status FindLoops(const Function& f, LoopId id, Target* target) {
  const Path& path = target->access.block;
  for (size_t i = target->access.scope.size(); i + 1 < path.size(); ++i) {
    const auto* loop = path[i].As<ForNode>();
    if (loop && loop->id == id) target->loop = i;
    if (target->loop && !loop) {
      return Refusal(kName, "other blocks stand below the loop too");
    }
    if (target->loop) target->loops.push_back(loop);
  }
  for (const ForNode* inside : target->loops) {
    if (UsesLoop(inside->min, target->loops) ||
        UsesLoop(inside->extent, target->loops)) {
      return Refusal(kName, absl::StrCat("the range of ", Describe(*inside),
                                         " depends on another loop"));
    }
  }
  if (target->loop) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const Path other, RequireLoop(f, id, kName));
  return Refusal(kName,
                 absl::StrCat(Describe(*other.loop()), " is not above ",
                              Describe(target->block())),
                 "name one of get_loops(block)");
}

// Whether the expression has one value, wherever it is computed.
bool IsConstant(const Expr& e) {
  bool constant = true;
  Visit(e, [&](const Expr& part) {
    const auto* call = part.As<CallNode>();
    constant &= !part.As<LoadNode>() && !part.As<VarNode>() &&
                !(call && GetIntrinsicInfo(call->op).purity != Purity::kPure);
    return constant;
  });
  return constant;
}

absl::Status MatchStore(Target* target) {
  const BlockNode& block = target->block();
  const auto* store = block.body.As<StoreNode>();
  const auto* call = store ? store->value.As<CallNode>() : nullptr;
  const bool pads =
      call && call->op == Intrinsic::kIfThenElse && IsConstant(call->args[2]);
  if (!pads || block.init) {
    return Refusal(kName,
                   absl::StrCat(Describe(block),
                                " is not one store of T.if_then_else with a "
                                "constant otherwise"));
  }
  target->condition = call->args[0];
  target->value = call->args[1];
  target->otherwise = call->args[2];
  bool loads = false;
  Visit(target->condition, [&](const Expr& e) {
    loads = loads || e.As<LoadNode>() || e.As<CallNode>();
    return !loads;
  });
  return loads ? Refusal(kName, absl::StrCat("the condition in ",
                                             Describe(block), " reads tensors"))
               : absl::OkStatus();
}

// Whether iterators that do not choose the element run too.
bool RepeatsStores(const ElementAccess& access) {
  const auto& iters = access.node().iters;
  return std::any_of(iters.begin(), iters.end(), [&](const IterVar& iter) {
    return !IsOne(iter.domain.extent) &&
           std::none_of(access.iters.begin(), access.iters.end(),
                        [&](const IterVar& v) { return v.var == iter.var; });
  });
}

absl::StatusOr<Target> Prepare(const Function& f, BlockId block, LoopId loop) {
  Target target;
  KILN_ASSIGN_OR_RETURN(target.access,
                        FindElementAccess(f, block, 0, true, kName));
  const Scope scope(target.access.scope_node());
  if (Reason reason = WhyNotComplete(scope, scope.IndexOf(block))) {
    return Refusal(kName, absl::StrCat(Describe(target.block()),
                                       " is not complete: ", *reason));
  }
  if (!IsInjective(target.access) || RepeatsStores(target.access)) {
    return Refusal(kName, absl::StrCat(Describe(target.block()),
                                       " may write an element twice"));
  }
  KILN_RETURN_IF_ERROR(MatchStore(&target));
  KILN_RETURN_IF_ERROR(FindLoops(f, loop, &target));
  return target;
}

// The nest that fills, with new loops.
Stmt FillNest(const Target& target, Function* f, BlockId* fill) {
  VarMap iters, loops;
  BlockFields fields = target.block().fields();
  for (IterVar& iter : fields.iters) {
    Var fresh(iter.var.name(), iter.var.dtype());
    iters[iter.var.get()] = fresh;
    iter.var = fresh;
  }
  for (const ForNode* loop : target.loops) {
    loops[loop->var.get()] = Var(loop->var.name(), loop->var.dtype());
  }
  fields.id = *fill = f->NewId();
  fields.name += "_pad_const";
  std::vector<Expr> indices;
  for (const Expr& e : target.block().body.As<StoreNode>()->indices) {
    indices.push_back(Substitute(e, iters));
  }
  fields.reads.clear();
  fields.writes = {{target.access.buffer, PointRegion(indices)}};
  fields.body = MakeStore(target.access.buffer, target.otherwise, indices);
  std::vector<Expr> values;
  for (const Expr& e : target.realize().values) {
    values.push_back(Substitute(e, loops));
  }
  Stmt nest = MakeRealize(std::move(values),
                          Substitute(target.realize().predicate, loops),
                          MakeBlock(std::move(fields)));
  for (size_t i = target.loops.size(); i-- > 0;) {
    ForFields loop = target.loops[i]->fields();
    loop.id = f->NewId();
    loop.min = Substitute(loop.min, loops);
    loop.extent = Substitute(loop.extent, loops);
    loop.var = Var(loops[loop.var.get()].As<VarNode>());
    loop.body = std::move(nest);
    nest = MakeFor(std::move(loop));
  }
  return nest;
}

struct Bounds {
  int64_t low, high;  // [low, high)
};

// The copy in the making.
class Copy {
 public:
  explicit Copy(const Target& target) : target_(target) {
    for (const Expr& e : ConjunctsOf(target.condition)) AddConjunct(e);
  }

  Stmt Nest() const {
    const BlockRealizeNode& realize = target_.realize();
    BlockFields fields = target_.block().fields();
    const auto* store = fields.body.As<StoreNode>();
    fields.body = MakeStore(store->buffer, target_.value, store->indices);
    std::vector<Expr> values = realize.values;
    VarMap of_iters;
    for (size_t i = 0; i < values.size(); ++i) {
      const ForNode* loop = LoopOf(i);
      const auto bounds = bounds_.find(loop);
      if (loop && bounds != bounds_.end() && bounds->second.low != 0) {
        values[i] = Add(values[i], Int(bounds->second.low));
      }
      of_iters[fields.iters[i].var.get()] = values[i];
    }
    Expr predicate = realize.predicate;
    for (const Expr& e : conditions_) {
      const Expr own = Substitute(e, of_iters);
      predicate = IsOne(predicate) ? own : And(predicate, own);
    }
    Stmt nest =
        MakeRealize(std::move(values), predicate, MakeBlock(std::move(fields)));
    for (size_t i = target_.loops.size(); i-- > 0;) {
      ForFields loop = target_.loops[i]->fields();
      const auto bounds = bounds_.find(target_.loops[i]);
      if (bounds != bounds_.end()) {
        loop.extent = Int(bounds->second.high - bounds->second.low);
      }
      loop.body = std::move(nest);
      nest = MakeFor(std::move(loop));
    }
    return nest;
  }

 private:
  // The loop that is the value of iterator `i` and is nothing else.
  const ForNode* LoopOf(size_t i) const {
    const BlockRealizeNode& realize = target_.realize();
    for (const ForNode* loop : target_.loops) {
      if (realize.values[i] != loop->var) continue;
      bool alone = IsZero(loop->min) && AsInt(loop->extent) &&
                   loop->for_kind != ForKind::kThreadBinding &&
                   !UsesVar(realize.predicate, loop->var);
      for (size_t j = 0; j < realize.values.size(); ++j) {
        alone = alone && (i == j || !UsesVar(realize.values[j], loop->var));
      }
      for (const ForNode* other : target_.loops) {
        alone = alone && !UsesVar(other->min, loop->var) &&
                !UsesVar(other->extent, loop->var);
      }
      if (alone) return loop;
    }
    return nullptr;
  }

  const ForNode* LoopOf(const Expr& e) const {
    const auto& iters = target_.block().iters;
    for (size_t i = 0; i < iters.size(); ++i) {
      if (iters[i].var == e) return LoopOf(i);
    }
    return nullptr;
  }

  void AddConjunct(const Expr& e) {
    const auto* node = e.As<BinaryNode>();
    if (node && Shorten(*node)) return;
    if (!IsOne(e)) conditions_.push_back(e);
  }

  // Takes `low <= iterator < high` into account; false for anything else.
  bool Shorten(const BinaryNode& node) {
    const bool flipped = AsInt(node.a) != nullptr;
    const ForNode* loop = LoopOf(flipped ? node.b : node.a);
    const int64_t* limit = AsInt(flipped ? node.a : node.b);
    if (!loop || !limit || *limit < 0 || *limit > (int64_t{1} << 60)) {
      return false;
    }
    Bounds bounds = {0, *AsInt(loop->extent)};
    const auto old = bounds_.find(loop);
    if (old != bounds_.end()) bounds = old->second;
    ExprKind kind = node.kind;
    if (flipped) {
      kind = kind == ExprKind::kLT   ? ExprKind::kGT
             : kind == ExprKind::kLE ? ExprKind::kGE
             : kind == ExprKind::kGT ? ExprKind::kLT
             : kind == ExprKind::kGE ? ExprKind::kLE
                                     : kind;
    }
    if (kind == ExprKind::kLT) {
      bounds.high = std::min(bounds.high, *limit);
    } else if (kind == ExprKind::kLE) {
      bounds.high = std::min(bounds.high, *limit + 1);
    } else if (kind == ExprKind::kGE) {
      bounds.low = std::max(bounds.low, *limit);
    } else if (kind == ExprKind::kGT) {
      bounds.low = std::max(bounds.low, *limit + 1);
    } else {
      return false;
    }
    if (bounds.low >= bounds.high) return false;
    bounds_[loop] = bounds;
    return true;
  }

  const Target& target_;
  std::map<const ForNode*, Bounds> bounds_;
  std::vector<Expr> conditions_;
};

}  // namespace

absl::StatusOr<DecomposePaddingResult> DecomposePadding(const Function& f,
                                                        BlockId block,
                                                        LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Target target, Prepare(f, block, loop));
  DecomposePaddingResult result{f, 0};
  Stmt fill = FillNest(target, &result.function, &result.fill);
  Stmt copy = Copy(target).Nest();
  result.function.body = ReplaceAt(target.access.block.Prefix(target.loop + 1),
                                   MakeSeq({std::move(fill), std::move(copy)}));
  return result;
}

}  // namespace kiln
