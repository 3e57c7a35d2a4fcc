// A nest is a statement of a sequence, or the body of a block, with the loops
// that begin there. What goes ahead of it is kept in `ahead_` until it is done:
//
//   for k in range(n):        n may be 0: the loop decides, and its nest is the
//       for i in range(4):    place. The loops from there to the block that are
//           block C           none of the reduction's are repeated: i.
#include "kiln/ir/tensor/empty_reductions.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kiln/ir/expr/conjuncts.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/clone_with_fresh_ids.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using Vars = std::unordered_set<const VarNode*>;

bool UsesOneOf(const Expr& e, const Vars& vars) {
  for (const Var& var : FreeVars(e)) {
    if (vars.count(var.get())) return true;
  }
  return false;
}

// Parameters that are numbers, and the variables in shapes of others.
Vars DimsOf(const Function& f) {
  Vars dims;
  for (const Param& param : f.params) {
    if (!param.buffer) {
      dims.insert(param.var.get());
      continue;
    }
    for (const Expr& extent : param.buffer->shape) {
      for (const Var& var : FreeVars(extent)) dims.insert(var.get());
    }
  }
  return dims;
}

class Nests {
 public:
  explicit Nests(Function* f) : f_(f), dims_(DimsOf(*f)) {}

  bool HasAny() const {
    bool any = false;
    Visit(f_->body, [&](const Stmt& s) {
      const auto* loop = s.As<ForNode>();
      any = any || (loop && MayBeEmpty(*loop));
      return !any;
    });
    return any;
  }

  Stmt Nest(const Stmt& s) {
    ahead_.emplace_back();
    const Stmt below = InNest(s);
    std::vector<Stmt> all = std::move(ahead_.back());
    ahead_.pop_back();
    all.push_back(below);
    return MakeSeq(std::move(all));
  }

 private:
  // Whether a dimension of a tensor, which may be 0 in a call, decides it. What
  // has the extent 0 otherwise, a constant or a number of the program's own
  // making, runs nothing by its author's will.
  bool MayBeEmpty(const ForNode& loop) const {
    const std::vector<Var> vars = FreeVars(loop.extent);
    return !vars.empty() &&
           std::all_of(vars.begin(), vars.end(), [&](const Var& var) {
             return dims_.count(var.get()) > 0;
           });
  }

  struct Loop {
    const ForNode* loop;
    size_t nest;  // its place in ahead_
  };

  Stmt InNest(const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      loops_.push_back({loop, ahead_.size() - 1});
      Stmt body = InNest(loop->body);
      loops_.pop_back();
      return WithBody(*loop, std::move(body));
    }
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) {
      return MapChildren(s, [&](const Stmt& child) { return Nest(child); });
    }
    if (realize->block->init) AddNestWithout(*realize);
    // A block is isolated from the loops around it.
    const std::vector<Loop> around = std::exchange(loops_, {});
    BlockFields fields = realize->block->fields();
    fields.body = Nest(fields.body);
    if (fields.init) fields.init = Nest(fields.init);
    loops_ = around;
    return MakeRealize(realize->values, realize->predicate,
                       MakeBlock(std::move(fields)));
  }

  // What a nest of the init alone consists of.
  struct Part {
    size_t nest = 0;
    std::vector<const ForNode*> kept, gone;
    std::vector<Expr> conditions;  // of the block, on loops that are kept
  };

  // Adds the nest of the init for where the reduction has no instances. Loops
  // that serve the reduction and its results at once stay as they are.
  void AddNestWithout(const BlockRealizeNode& realize) {
    Part part;
    if (Divide(realize, part)) {
      ahead_[part.nest].push_back(NestOf(realize, part));
    }
  }

  bool Divide(const BlockRealizeNode& realize, Part& part) const {
    Vars reduced, kept;
    for (size_t i = 0; i < realize.values.size(); ++i) {
      const bool reduces = realize.block->iters[i].type == IterType::kReduce;
      for (const Var& var : FreeVars(realize.values[i])) {
        (reduces ? reduced : kept).insert(var.get());
      }
    }
    bool may_be_empty = false;
    for (const auto& [loop, nest] : loops_) {
      const VarNode* var = loop->var.get();
      const bool reduces = reduced.count(var) > 0;
      if (!may_be_empty && reduces && MayBeEmpty(*loop)) {
        may_be_empty = true;
        part.nest = nest;
      }
    }
    if (!may_be_empty) return false;
    Vars gone;
    for (const auto& [loop, nest] : loops_) {
      if (nest < part.nest) continue;
      const bool reduces = reduced.count(loop->var.get()) > 0;
      if (reduces && kept.count(loop->var.get())) return false;
      if (UsesOneOf(loop->extent, gone) || UsesOneOf(loop->min, gone)) {
        return false;
      }
      (reduces ? part.gone : part.kept).push_back(loop);
      if (reduces) gone.insert(loop->var.get());
    }
    for (const Expr& condition : ConjunctsOf(realize.predicate)) {
      if (!UsesOneOf(condition, gone)) {
        part.conditions.push_back(condition);
      } else if (UsesOneOf(condition, kept)) {
        return false;
      }
    }
    return true;
  }

  // The block with its init for a body, without its reduce iterators.
  Stmt InitOf(const BlockRealizeNode& realize, const Part& part) {
    BlockFields fields = realize.block->fields();
    std::vector<Expr> values;
    fields.iters.clear();
    for (size_t i = 0; i < realize.values.size(); ++i) {
      const IterVar& iter = realize.block->iters[i];
      if (iter.type == IterType::kReduce) continue;
      fields.iters.push_back(iter);
      values.push_back(realize.values[i]);
    }
    fields.id = f_->NewId();
    fields.reads.clear();
    fields.annotations.clear();
    fields.body = std::exchange(fields.init, nullptr);
    Expr predicate;
    for (const Expr& condition : part.conditions) {
      predicate = Conjunction(predicate, condition);
    }
    return MakeRealize(std::move(values), predicate ? predicate : Bool(true),
                       MakeBlock(std::move(fields)));
  }

  Stmt NestOf(const BlockRealizeNode& realize, const Part& part) {
    Expr is_empty;
    for (const ForNode* loop : part.gone) {
      if (!MayBeEmpty(*loop)) continue;
      const Expr here = LE(loop->extent, Int(0));
      is_empty = is_empty ? Or(is_empty, here) : here;
    }
    // The condition stands outside of the loops that it does not ask about.
    Stmt nest = InitOf(realize, part);
    bool has_condition = false;
    for (size_t i = part.kept.size(); i-- > 0;) {
      const ForNode* loop = part.kept[i];
      if (!has_condition && UsesOneOf(is_empty, {loop->var.get()})) {
        nest = MakeIf(is_empty, std::move(nest));
        has_condition = true;
      }
      ForFields fields;
      fields.id = f_->NewId();
      fields.var = loop->var;
      fields.min = loop->min;
      fields.extent = loop->extent;
      fields.body = std::move(nest);
      nest = MakeFor(std::move(fields));
    }
    if (!has_condition) nest = MakeIf(is_empty, std::move(nest));
    return CloneWithFreshIds(nest, "_init", f_);
  }

  Function* f_;
  const Vars dims_;
  std::vector<Loop> loops_;  // around the statement, in its block
  std::vector<std::vector<Stmt>> ahead_;
};

}  // namespace

Function BeginEmptyReductions(Function f) {
  Nests nests(&f);
  if (!nests.HasAny()) return f;
  const Stmt body = f.body;
  f.body = nests.Nest(body);
  return f;
}

}  // namespace kiln
