// Facts come and go with the scopes that give them.
//
//   for i in range(8):            # 0 <= i < 8
//     with T.block("B"):
//       vi = T.axis.spatial(6, i) # 0 <= vi < 6 where that is proved; vi = i
//       T.where(i < 6)            # i < 6
//       B[vi] = T.if_then_else(vi > 0, A[vi - 1], 0)   # vi > 0
//
// They are kept twice: in an analyzer, where iterators run over their domains,
// and as steps, from which a second analyzer over the loops alone is made where
// the first one fails, and along which instances are tried at last.
#include "kiln/ir/verify/site_walk.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/verify/division.h"

namespace kiln::verify_internal {
namespace {

bool StoresTo(const Stmt& s, const Expr& loads) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    const auto* store = x.As<StoreNode>();
    found = found || (store && LoadsFrom(loads, store->buffer));
    return !found;
  });
  return found;
}

// One lane of a vector, as a scalar; null where it is beyond this.
Expr LaneOf(const Expr& e, int lane) {
  if (e.dtype().is_scalar()) return e;
  if (const auto* ramp = e.As<RampNode>()) {
    return Add(ramp->base, Mul(ramp->stride, Int(lane, ramp->base.dtype())));
  }
  if (const auto* splat = e.As<BroadcastNode>()) return splat->value;
  if (const auto* cast = e.As<CastNode>()) {
    const Expr value = LaneOf(cast->value, lane);
    return value ? Cast(e.dtype().Element(), value) : nullptr;
  }
  const auto* binary = e.As<BinaryNode>();
  if (!binary) return nullptr;
  const Expr a = LaneOf(binary->a, lane), b = LaneOf(binary->b, lane);
  return a && b ? Binary(binary->kind, a, b) : nullptr;
}

}  // namespace

std::optional<Ends> EndsOf(const Expr& index) {
  const int lanes = index.dtype().lanes();
  if (lanes == 1) return Ends{index, index};
  const Expr first = LaneOf(index, 0), last = LaneOf(index, lanes - 1);
  if (!first || !last) return std::nullopt;
  const auto* ramp = index.As<RampNode>();
  const int64_t* stride = ramp ? AsInt(ramp->stride) : nullptr;
  if (index.As<BroadcastNode>() || (stride && *stride >= 0)) {
    return Ends{first, last};
  }
  if (stride) return Ends{last, first};
  Ends ends{first, first};
  for (int lane = 1; lane < lanes; ++lane) {
    const Expr at = LaneOf(index, lane);
    ends = {Min(ends.first, at), Max(ends.last, at)};
  }
  return ends;
}

// Adds a step to the walk and its facts to the analyzer, for as long as this
// object lives.
class SiteWalk::Scoped {
 public:
  // `trusted`: what the analyzer takes a definition for instead of its value.
  Scoped(SiteWalk* walk, Step step, const Range* trusted = nullptr)
      : walk_(walk) {
    Analyzer& analyzer = walk->analyzer_;
    switch (step.kind) {
      case Step::Kind::kLoop:
        analyzer.Bind(step.var, step.range);
        break;
      case Step::Kind::kValue:
        if (trusted) {
          analyzer.Bind(step.var, *trusted);
        } else if (!step.value.contents().loads) {
          analyzer.Bind(step.var, step.value);
        }
        break;
      case Step::Kind::kCondition:
        if (step.value) assumption_.emplace(analyzer.Assume(step.value));
        break;
    }
    walk->steps_.push_back(std::move(step));
  }
  ~Scoped() {
    const Var var = walk_->steps_.back().var;
    walk_->steps_.pop_back();
    assumption_.reset();
    if (var) walk_->analyzer_.Unbind(var);
  }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  SiteWalk* walk_;
  std::optional<Analyzer::Assumption> assumption_;
};

std::string SiteWalk::Path() const {
  std::string path = function_.name;
  for (const StmtNode* node : path_) {
    const Stmt s(node);
    if (const auto* loop = s.As<ForNode>()) {
      absl::StrAppend(&path, " / for ", loop->var.name());
    } else if (const auto* realize = s.As<BlockRealizeNode>()) {
      absl::StrAppend(&path, " / block \"", realize->block->name, "\"");
    } else {
      absl::StrAppend(&path, " / if");
    }
  }
  return path;
}

bool SiteWalk::Proves(const Expr& low, const Expr& high) {
  return analyzer_.CanProveLessEqual(low, high);
}

namespace {

VarMap ValuesOf(const Steps& steps) {
  VarMap values;
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kValue || step.value.contents().loads)
      continue;
    values[step.var.get()] = Substitute(step.value, values);
  }
  return values;
}

// An analyzer that knows the ranges of the loops among the steps, in which
// defined variables are replaced by their values.
Analyzer OverLoops(const Steps& steps, const VarMap& values) {
  Analyzer analyzer;
  for (const Step& step : steps) {
    if (step.kind != Step::Kind::kLoop) continue;
    analyzer.Bind(step.var, {Substitute(step.range.min, values),
                             Substitute(step.range.extent, values)});
  }
  return analyzer;
}

}  // namespace

bool SiteWalk::ProvesByValues(const Expr& low, const Expr& high) {
  const VarMap values = ValuesOf(steps_);
  Analyzer analyzer = OverLoops(steps_, values);
  std::vector<Analyzer::Assumption> held;
  for (const Step& step : steps_) {
    if (step.kind != Step::Kind::kCondition || !step.value) continue;
    held.push_back(analyzer.Assume(Substitute(step.value, values)));
  }
  const bool proved = analyzer.CanProveLessEqual(Substitute(low, values),
                                                 Substitute(high, values));
  while (!held.empty()) held.pop_back();
  return proved;
}

Trial SiteWalk::AtMost(const Expr& low, const Expr& high) {
  if (Proves(low, high) || ProvesByValues(low, high) ||
      ProvesByDivision(low, high, &analyzer_)) {
    return {Outcome::kAlways, {}, 0};
  }
  return Try(steps_, Sub(high, low));
}

std::string SiteWalk::RangeOf(const Expr& index) {
  const VarMap values = ValuesOf(steps_);
  Analyzer analyzer = OverLoops(steps_, values);
  const ConstBound bound = analyzer.Bound(Substitute(index, values));
  if (bound.min == ConstBound::kNegInf || bound.max == ConstBound::kPosInf) {
    return "";
  }
  if (bound.min == bound.max) return absl::StrCat("is ", bound.min);
  return absl::StrCat("runs from ", bound.min, " to ", bound.max);
}

void SiteWalk::Walk() {
  std::vector<Analyzer::Assumption> held;
  for (const Param& param : function_.params) {
    if (!param.buffer) continue;
    for (const Expr& extent : param.buffer->shape) {
      if (!extent.As<VarNode>()) continue;
      held.push_back(analyzer_.Assume(LE(Int(0, extent.dtype()), extent)));
    }
  }
  Walk(function_.body);
  while (!held.empty()) held.pop_back();
}

void SiteWalk::Walk(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return WalkFor(*s.As<ForNode>());
    case StmtKind::kBlockRealize:
      return WalkRealize(*s.As<BlockRealizeNode>());
    case StmtKind::kSeq:
      return WalkSeq(*s.As<SeqNode>(), 0);
    case StmtKind::kIf:
      return WalkIf(*s.As<IfNode>());
    case StmtKind::kLet: {
      const auto& let = *s.As<LetStmtNode>();
      return WalkLet(let.var, let.value, let.body);
    }
    case StmtKind::kAllocate:
      OnDeclare(*s.As<AllocateNode>());
      return Walk(s.As<AllocateNode>()->body);
    case StmtKind::kEvaluate:
      return Walk(s.As<EvaluateNode>()->value);
    case StmtKind::kStore: {
      const auto& store = *s.As<StoreNode>();
      for (const Expr& index : store.indices) Walk(index);
      Walk(store.value);
      return OnAccess({store.buffer, store.indices, /*is_store=*/true});
    }
  }
}

// T.assume(condition) holds for the statements after it.
void SiteWalk::WalkSeq(const SeqNode& seq, size_t at) {
  for (; at < seq.stmts.size(); ++at) {
    Walk(seq.stmts[at]);
    const auto* evaluate = seq.stmts[at].As<EvaluateNode>();
    const auto* call = evaluate ? evaluate->value.As<CallNode>() : nullptr;
    if (!call || call->op != Intrinsic::kAssume) continue;
    if (call->args[0].contents().loads) continue;
    const Scoped assumed(this, Step::Condition(call->args[0]));
    return WalkSeq(seq, at + 1);
  }
}

void SiteWalk::WalkFor(const ForNode& loop) {
  Walk(loop.min);
  Walk(loop.extent);
  const int64_t* extent = AsInt(loop.extent);
  if (extent && *extent == 0) return;  // nothing inside runs
  path_.push_back(&loop);
  OnLoop(loop);
  {
    const Scoped runs(this, Step::Loop(loop.var, {loop.min, loop.extent}));
    Walk(loop.body);
  }
  path_.pop_back();
}

void SiteWalk::WalkIf(const IfNode& node) {
  Walk(node.condition);
  path_.push_back(&node);
  const auto walk = [&](const Stmt& s, const Expr& condition) {
    // A condition on data that the branch overwrites may hold no longer.
    const bool lasts = !condition.contents().loads || !StoresTo(s, condition);
    const Scoped holds(this, Step::Condition(lasts ? condition : nullptr));
    Walk(s);
  };
  walk(node.then_case, node.condition);
  if (node.else_case) walk(node.else_case, Not(node.condition));
  path_.pop_back();
}

void SiteWalk::RememberData(const Var& var, const Expr& value) {
  const Expr held = WithData(value);
  if (held.contents().loads) data_[var.get()] = held;
}

void SiteWalk::WalkLet(const Var& var, const Expr& value, const Stmt& body) {
  Walk(value);
  const Scoped defined(this, Step::Value(var, value));
  RememberData(var, value);
  Walk(body);
}

void SiteWalk::WalkRealize(const BlockRealizeNode& realize) {
  Walk(realize.predicate);
  path_.push_back(&realize);
  const auto enter = [&] {
    for (const Expr& value : realize.values) Walk(value);
    OnRealize(realize);
    WalkIters(realize, 0);
  };
  if (IsOne(realize.predicate)) {
    enter();
  } else {
    const Scoped holds(this, Step::Condition(realize.predicate));
    enter();
  }
  path_.pop_back();
}

void SiteWalk::WalkIters(const BlockRealizeNode& realize, size_t at) {
  const BlockNode& block = *realize.block;
  if (at < block.iters.size()) {
    const Expr& value = realize.values[at];
    const Range& domain = block.iters[at].domain;
    const bool inside =
        AtMost(domain.min, value).outcome == Outcome::kAlways &&
        AtMost(Add(value, Int(1)), Add(domain.min, domain.extent)).outcome ==
            Outcome::kAlways;
    const Scoped bound(this, Step::Value(block.iters[at].var, value),
                       inside ? &domain : nullptr);
    RememberData(block.iters[at].var, value);
    return WalkIters(realize, at + 1);
  }
  OnEnter(block);
  if (block.init) WalkInit(block, 0);
  Walk(block.body);
  OnLeave(block);
}

// The init runs where all reduce iterators are at their first values.
void SiteWalk::WalkInit(const BlockNode& block, size_t at) {
  if (at == block.iters.size()) return Walk(block.init);
  const IterVar& iter = block.iters[at];
  if (iter.type != IterType::kReduce) return WalkInit(block, at + 1);
  const Scoped first(this, Step::Condition(EQ(iter.var, iter.domain.min)));
  WalkInit(block, at + 1);
}

void SiteWalk::WalkGuarded(const Expr& condition, const Expr& e) {
  const Scoped holds(this, Step::Condition(condition));
  Walk(e);
}

// tvm_access_ptr(type, data, offset, extent, mask): 1 reads, 2 writes.
void SiteWalk::WalkAccessPtr(const CallNode& call) {
  Walk(call.args[2]);
  Walk(call.args[3]);
  const int64_t* mask = AsInt(call.args[4]);
  const AddressUse use = !mask || *mask < 1 || *mask > 3 ? AddressUse::kAny
                         : *mask == 1                    ? AddressUse::kReads
                         : *mask == 2                    ? AddressUse::kWrites
                                                         : AddressUse::kBoth;
  for (const Var& var : FreeVars(call.args[1])) OnAddress(var, use);
}

void SiteWalk::WalkCall(const CallNode& call) {
  if (call.op == Intrinsic::kIfThenElse) {
    Walk(call.args[0]);
    WalkGuarded(call.args[0], call.args[1]);
    return WalkGuarded(Not(call.args[0]), call.args[2]);
  }
  if (call.op == Intrinsic::kAccessPtr) return WalkAccessPtr(call);
  if (const LoadNode* element = PrefetchedElement(call)) {
    for (const Expr& index : element->indices) Walk(index);
    return;
  }
  const auto* load =
      call.op == Intrinsic::kAddressOf ? call.args[0].As<LoadNode>() : nullptr;
  if (load) {
    for (const Expr& index : load->indices) Walk(index);
    return OnAddress(call.args[0], AddressUse::kAny);
  }
  for (const Expr& arg : call.args) Walk(arg);
}

void SiteWalk::Walk(const Expr& e) {
  if (const auto* call = e.As<CallNode>()) return WalkCall(*call);
  if (e.As<VarNode>()) {
    if (e.dtype().is_handle()) OnAddress(e, AddressUse::kAny);
    return;
  }
  if (const auto* let = e.As<LetNode>()) {
    Walk(let->value);
    const Scoped defined(this, Step::Value(let->var, let->value));
    return Walk(let->body);
  }
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    const auto& both = *e.As<BinaryNode>();
    Walk(both.a);
    return WalkGuarded(e.kind() == ExprKind::kAnd ? both.a : Not(both.a),
                       both.b);
  }
  ForEachOperand(e, [&](const Expr& operand) { Walk(operand); });
  const auto* load = e.As<LoadNode>();
  if (load) OnAccess({load->buffer, load->indices, /*is_store=*/false});
}

}  // namespace kiln::verify_internal
