// A loop whose variable is an index of every store below it has one iteration
// of interest. Where the variable is part of an index (i * 2 + k), halves of
// the loop that cannot reach the element, by intervals, are left out:
//
//   B[6] of   for i in 16, k in 3: B[i * 2 + k] = ...
//   i in 0..15: 0..32   i in 0..7: 0..16   i in 0..3: 0..8
//   i in 0..1:  0..4 cannot be 6           i in 2..3: 4..8 ...
//
// A store below checks its indices itself, so that an interval may be too wide.
#include "kiln/ir/interp/element_nest.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kiln/ir/arith/interval.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/element_interval.h"
#include "kiln/ir/interp/element_order.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::interp_internal {
namespace {

using NestPtr = std::unique_ptr<ElementNest>;
using Ranges = VarTable<ConstBound>;

class StoreNest : public ElementNest {
 public:
  StoreNest(const StoreNode& store, const Stmt& s, Scope& scope)
      : indices_(CompileIndices(store.indices, scope)),
        code_(CompileStmt(s, scope)),
        place_(scope.place()) {}
  void Run(Frame& frame, const WantedElement& wanted) override {
    for (size_t d = 0; d < indices_.size(); ++d) {
      if (indices_[d].Get(frame, 0) != wanted.indices[d]) return;
    }
    if (frame.Step(place_)) code_->Run(frame);
  }

 private:
  std::vector<IndexCode> indices_;
  StmtPtr code_;
  const Place* place_;
};

class SeqNest : public ElementNest {
 public:
  explicit SeqNest(std::vector<NestPtr> nests) : nests_(std::move(nests)) {}
  void Run(Frame& frame, const WantedElement& wanted) override {
    for (const NestPtr& nest : nests_) {
      if (!frame.failed) nest->Run(frame, wanted);
    }
  }

 private:
  std::vector<NestPtr> nests_;
};

class IfNest : public ElementNest {
 public:
  IfNest(ExprPtr condition, NestPtr yes, NestPtr no)
      : condition_(std::move(condition)),
        yes_(std::move(yes)),
        no_(std::move(no)) {}
  void Run(Frame& frame, const WantedElement& wanted) override {
    const bool chosen = condition_->Int(frame, 0);
    ElementNest* nest = chosen ? yes_.get() : no_.get();
    if (nest && !frame.failed) nest->Run(frame, wanted);
  }

 private:
  ExprPtr condition_;
  NestPtr yes_, no_;
};

class LetNest : public ElementNest {
 public:
  LetNest(int slot, bool real, ExprPtr value, NestPtr body)
      : slot_(slot),
        real_(real),
        value_(std::move(value)),
        body_(std::move(body)) {}
  void Run(Frame& frame, const WantedElement& wanted) override {
    Value value;
    if (real_) {
      value.f = value_->Real(frame, 0);
    } else {
      value.i = value_->Int(frame, 0);
    }
    frame.slots[slot_] = value;
    if (!frame.failed) body_->Run(frame, wanted);
  }

 private:
  int slot_;
  bool real_;
  ExprPtr value_;
  NestPtr body_;
};

// As BlockCode of stmt_code.cc, but for domains, which the interpreter checks.
class BlockNest : public ElementNest {
 public:
  struct Iter {
    int slot;
    bool is_reduce;
    IndexCode value, min;
  };
  BlockNest(ExprPtr predicate, std::vector<Iter> iters)
      : predicate_(std::move(predicate)), iters_(std::move(iters)) {}
  void SetParts(NestPtr init, NestPtr body) {
    init_ = std::move(init);
    body_ = std::move(body);
  }
  bool IsEmpty() const { return !init_ && !body_; }
  void Run(Frame& frame, const WantedElement& wanted) override {
    if (!predicate_->Int(frame, 0) || frame.failed) return;
    bool is_first = true;
    for (const Iter& iter : iters_) {
      const int64_t value = iter.value.Get(frame, 0);
      frame.slots[iter.slot].i = value;
      if (iter.is_reduce && value != iter.min.Get(frame, 0)) is_first = false;
    }
    if (init_ && is_first) init_->Run(frame, wanted);
    if (body_ && !frame.failed) body_->Run(frame, wanted);
  }

 private:
  ExprPtr predicate_;
  std::vector<Iter> iters_;
  NestPtr init_, body_;
};

// The indices of a store over loop variables.
using Target = std::vector<Expr>;

class LoopNest : public ElementNest {
 public:
  LoopNest(const ForNode& loop, std::vector<Target> targets, Ranges* ranges,
           ConstBound all, Scope& scope)
      : var_(loop.var),
        targets_(std::move(targets)),
        ranges_(ranges),
        all_(all),
        min_(CompileExpr(loop.min, scope)),
        extent_(CompileExpr(loop.extent, scope)),
        slot_(scope.Define(loop.var)) {
    scope.Enter("", {{loop.var.name(), slot_}});
    place_ = scope.place();
    for (const Target& target : targets_) {
      for (const Expr& index : target) bends_ |= UsesVar(index, var_);
    }
    FindPin();
  }
  void SetBody(NestPtr body) { body_ = std::move(body); }

  void Run(Frame& frame, const WantedElement& wanted) override {
    const int64_t min = min_->Int(frame, 0);
    const int64_t extent = extent_->Int(frame, 0);
    if (frame.failed || extent <= 0) return;
    int64_t end;
    if (__builtin_add_overflow(min, extent, &end)) {
      return frame.Fail(
          place_, absl::StatusCode::kOutOfRange,
          absl::StrCat("loop bounds ", min, " + ", extent, " overflow"));
    }
    if (pin_) {
      const int64_t value = wanted.indices[*pin_];
      if (min <= value && value < end) RunOne(frame, wanted, value);
    } else {
      RunRange(frame, wanted, min, end);
    }
    (*ranges_)[var_.get()] = all_;
  }

 private:
  // The dimension whose index is the variable, in every store.
  void FindPin() {
    for (size_t d = 0; d < targets_[0].size() && !pin_; ++d) {
      const bool all =
          std::all_of(targets_.begin(), targets_.end(),
                      [&](const Target& target) { return target[d] == var_; });
      if (all) pin_ = d;
    }
  }

  void RunOne(Frame& frame, const WantedElement& wanted, int64_t value) {
    frame.slots[slot_].i = value;
    (*ranges_)[var_.get()] = {value, value};
    if (frame.Step(place_)) body_->Run(frame, wanted);
  }

  void RunRange(Frame& frame, const WantedElement& wanted, int64_t min,
                int64_t end) {
    if (!bends_) {
      for (int64_t i = min; i < end && !frame.failed; ++i) {
        RunOne(frame, wanted, i);
      }
      return;
    }
    if (min >= end || frame.failed) return;
    (*ranges_)[var_.get()] = {min, end - 1};
    if (!frame.Step(place_) || !MayReach(wanted)) return;
    if (min == end - 1) return RunOne(frame, wanted, min);
    // Rounded down, and never beyond an int64 as end - min may be.
    const int64_t middle = (min & end) + ((min ^ end) >> 1);
    RunRange(frame, wanted, min, middle);
    RunRange(frame, wanted, middle, end);
  }

  bool MayReach(const WantedElement& wanted) const {
    for (const Target& target : targets_) {
      bool may = true;
      for (size_t d = 0; d < target.size() && may; ++d) {
        const ConstBound bound = BoundOf(target[d], *ranges_);
        may = bound.min <= wanted.indices[d] && wanted.indices[d] <= bound.max;
      }
      if (may) return true;
    }
    return false;
  }

  Var var_;
  std::vector<Target> targets_;
  Ranges* ranges_;
  ConstBound all_;
  ExprPtr min_, extent_;
  int slot_;
  const Place* place_;
  std::optional<size_t> pin_;
  bool bends_ = false;
  NestPtr body_;
};

// The whole nest, with what its loops share.
class RootNest : public ElementNest {
 public:
  Ranges* ranges() { return &ranges_; }
  void SetBody(NestPtr body) { body_ = std::move(body); }
  void Run(Frame& frame, const WantedElement& wanted) override {
    // A run may begin within another of the same nest: its reads run nests.
    const Ranges before = ranges_;
    ranges_ = all_;
    body_->Run(frame, wanted);
    ranges_ = before;
  }
  void KeepAll() { all_ = ranges_; }

 private:
  Ranges ranges_;  // of loop variables, narrowed while a loop runs
  Ranges all_;
  NestPtr body_;
};

class Maker {
 public:
  Maker(const Buffer& buffer, Scope& scope, Ranges* ranges)
      : buffer_(buffer), scope_(scope), ranges_(ranges) {}

  NestPtr Make(const Stmt& s) {
    switch (s.kind()) {
      case StmtKind::kFor:
        return MakeLoop(*s.As<ForNode>());
      case StmtKind::kBlockRealize:
        return MakeBlock(*s.As<BlockRealizeNode>());
      case StmtKind::kSeq:
        return MakeSeq(*s.As<SeqNode>());
      case StmtKind::kStore: {
        const auto* store = s.As<StoreNode>();
        if (store->buffer != buffer_) return nullptr;
        return std::make_unique<StoreNest>(*store, s, scope_);
      }
      case StmtKind::kIf:
        return MakeIf(*s.As<IfNode>());
      case StmtKind::kLet:
        return MakeLet(*s.As<LetStmtNode>());
      case StmtKind::kAllocate:
      case StmtKind::kEvaluate:
        return nullptr;
    }
    return nullptr;
  }

 private:
  std::vector<Target> TargetsBelow(const Stmt& s, VarMap bound) {
    std::vector<Target> targets;
    if (const auto* store = s.As<StoreNode>()) {
      if (store->buffer == buffer_) {
        targets.push_back(Resolve(store->indices, bound));
      }
      return targets;
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      AddBindings(*realize, bound);
    }
    ForEachChild(s, [&](const Stmt& child) {
      for (Target& target : TargetsBelow(child, bound)) {
        targets.push_back(std::move(target));
      }
    });
    return targets;
  }

  NestPtr MakeLoop(const ForNode& loop) {
    std::vector<Target> targets = TargetsBelow(loop.body, bound_);
    if (targets.empty()) return nullptr;
    const ConstBound min = BoundOf(Substitute(loop.min, bound_), *ranges_);
    const ConstBound end =
        Plus(min, BoundOf(Substitute(loop.extent, bound_), *ranges_));
    // The last value is one less than the end.
    const ConstBound all = {min.min, end.max};
    (*ranges_)[loop.var.get()] = all;
    auto nest = std::make_unique<LoopNest>(loop, std::move(targets), ranges_,
                                           all, scope_);
    nest->SetBody(Make(loop.body));
    scope_.Leave();
    scope_.Forget(loop.var);
    return nest;
  }

  NestPtr MakeBlock(const BlockRealizeNode& realize) {
    const BlockNode& block = *realize.block;
    ExprPtr predicate = CompileExpr(realize.predicate, scope_);
    std::vector<BlockNest::Iter> iters;
    for (size_t i = 0; i < block.iters.size(); ++i) {
      iters.push_back({0, block.iters[i].type == IterType::kReduce,
                       IndexCode(realize.values[i], scope_),
                       IndexCode(block.iters[i].domain.min, scope_)});
    }
    std::vector<std::pair<std::string, int>> vars;
    for (size_t i = 0; i < iters.size(); ++i) {
      const Var& var = block.iters[i].var;
      iters[i].slot = scope_.Define(var);
      vars.emplace_back(var.name(), iters[i].slot);
    }
    AddBindings(realize, bound_);
    scope_.Enter(block.name.empty() ? "root" : block.name, std::move(vars));
    auto nest =
        std::make_unique<BlockNest>(std::move(predicate), std::move(iters));
    NestPtr init = block.init ? Make(block.init) : nullptr;
    nest->SetParts(std::move(init), Make(block.body));
    scope_.Leave();
    for (const IterVar& iter : block.iters) scope_.Forget(iter.var);
    if (nest->IsEmpty()) return nullptr;
    return nest;
  }

  NestPtr MakeSeq(const SeqNode& seq) {
    std::vector<NestPtr> nests;
    for (const Stmt& s : seq.stmts) {
      if (NestPtr nest = Make(s)) nests.push_back(std::move(nest));
    }
    if (nests.empty()) return nullptr;
    return std::make_unique<SeqNest>(std::move(nests));
  }

  NestPtr MakeIf(const IfNode& node) {
    NestPtr yes = Make(node.then_case);
    NestPtr no = node.else_case ? Make(node.else_case) : nullptr;
    if (!yes && !no) return nullptr;
    return std::make_unique<IfNest>(CompileExpr(node.condition, scope_),
                                    std::move(yes), std::move(no));
  }

  NestPtr MakeLet(const LetStmtNode& let) {
    ExprPtr value = CompileExpr(let.value, scope_);
    const int slot = scope_.Define(let.var);
    NestPtr body = Make(let.body);
    scope_.Forget(let.var);
    if (!body) return nullptr;
    return std::make_unique<LetNest>(slot, let.var.dtype().is_float(),
                                     std::move(value), std::move(body));
  }

  Buffer buffer_;
  Scope& scope_;
  Ranges* ranges_;
  VarMap bound_;
};

}  // namespace

std::unique_ptr<ElementNest> MakeElementNest(const Stmt& body,
                                             const Buffer& buffer,
                                             Scope& scope) {
  auto root = std::make_unique<RootNest>();
  NestPtr nest = Maker(buffer, scope, root->ranges()).Make(body);
  if (!nest) return nullptr;
  root->SetBody(std::move(nest));
  root->KeepAll();
  return root;
}

}  // namespace kiln::interp_internal
