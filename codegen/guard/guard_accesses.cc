// Blocks are lowered first, so that loops, conditions and accesses with one
// index for each dimension are all there is. Then, where idx[i] may be
// anything,
//
//   O[i, j] = E[idx[i], j]
//
// becomes
//
//   if not (0 <= idx[i] and idx[i] < 10):
//       if report[0] == 0:
//           report[1] = idx[i]
//           report[2] = 10
//           report[0] = 1
//   O[i, j] = T.if_then_else(0 <= idx[i] and idx[i] < 10, E[idx[i], j], 0)
#include "kiln/codegen/guard/guard_accesses.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

// a and b, where null stands for true.
Expr Both(const Expr& a, const Expr& b) {
  if (!a) return b;
  return b ? And(a, b) : a;
}

class Guard {
 public:
  explicit Guard(Buffer report) : report_(std::move(report)) {}

  Stmt Map(const Stmt& s);
  std::vector<GuardedAccess> TakeAccesses() { return std::move(accesses_); }

 private:
  Stmt MapHere(const Stmt& s);
  Stmt MapFor(const ForNode& loop);
  Stmt MapStore(const StoreNode& store);
  Stmt MapIf(const IfNode& node);

  // The same value without an access outside of a buffer; checks that tell of
  // one go to checks_.
  Expr Safe(const Expr& e);
  Expr SafeCall(const Expr& e);
  Expr SafeLoad(const LoadNode& load);
  // Safe(e), where it is only evaluated if `condition` holds.
  Expr SafeIf(const Expr& condition, const Expr& e);
  std::vector<Expr> SafeAll(const std::vector<Expr>& list);

  // What has to hold for the indices to be in bounds; null: they are.
  Expr InBounds(const Buffer& buffer, const std::vector<Expr>& indices,
                bool is_store, const Expr& access);
  // The same for one element and dimension; reports where it does not hold.
  Expr Check(const Expr& index, const Expr& extent, GuardedAccess access);

  const Buffer report_;
  Analyzer analyzer_;
  Expr condition_;  // under which the expression at hand is evaluated
  std::vector<Stmt> checks_;
  std::vector<GuardedAccess> accesses_;
};

Stmt Guard::Map(const Stmt& s) {
  std::vector<Stmt> outer = std::exchange(checks_, {});
  const Stmt mapped = MapHere(s);
  std::vector<Stmt> all = std::exchange(checks_, std::move(outer));
  all.push_back(mapped);
  return MakeSeq(std::move(all));
}

Stmt Guard::MapHere(const Stmt& s) {
  switch (s.kind()) {
    case StmtKind::kFor:
      return MapFor(*s.As<ForNode>());
    case StmtKind::kStore:
      return MapStore(*s.As<StoreNode>());
    case StmtKind::kIf:
      return MapIf(*s.As<IfNode>());
    case StmtKind::kLet: {
      const auto& let = *s.As<LetStmtNode>();
      const Expr value = Safe(let.value);
      return MakeLet(let.var, value, Map(let.body));
    }
    case StmtKind::kEvaluate:
      return MakeEvaluate(Safe(s.As<EvaluateNode>()->value));
    case StmtKind::kSeq:
    case StmtKind::kAllocate:
    case StmtKind::kBlockRealize:
      break;
  }
  return MapChildren(s, [this](const Stmt& child) { return Map(child); });
}

Stmt Guard::MapFor(const ForNode& loop) {
  ForFields fields = loop.fields();
  fields.min = Safe(fields.min);
  fields.extent = Safe(fields.extent);
  fields.for_kind = ForKind::kSerial;
  fields.annotations.clear();
  analyzer_.Bind(fields.var, Range{fields.min, fields.extent});
  fields.body = Map(fields.body);
  analyzer_.Unbind(fields.var);
  return MakeFor(std::move(fields));
}

Stmt Guard::MapStore(const StoreNode& store) {
  const Expr value = Safe(store.value);
  const std::vector<Expr> indices = SafeAll(store.indices);
  const Expr inside =
      InBounds(store.buffer, indices, true, Load(store.buffer, store.indices));
  const Stmt safe = MakeStore(store.buffer, value, indices);
  return inside ? MakeIf(inside, safe) : safe;
}

Stmt Guard::MapIf(const IfNode& node) {
  const Expr condition = Safe(node.condition);
  // What a store in between may change is not assumed.
  const bool lasts = !condition->has_loads;
  Stmt then_case, else_case;
  {
    const auto known = analyzer_.Assume(lasts ? condition : Bool(true));
    then_case = Map(node.then_case);
  }
  if (node.else_case) {
    const auto known = analyzer_.Assume(lasts ? Not(condition) : Bool(true));
    else_case = Map(node.else_case);
  }
  return MakeIf(condition, then_case, else_case);
}

std::vector<Expr> Guard::SafeAll(const std::vector<Expr>& list) {
  std::vector<Expr> safe;
  for (const Expr& e : list) safe.push_back(Safe(e));
  return safe;
}

Expr Guard::SafeIf(const Expr& condition, const Expr& e) {
  if (!e->has_loads) return e;
  const Expr outer = condition_;
  condition_ = Both(condition_, condition);
  const auto known = analyzer_.Assume(condition);
  Expr safe = Safe(e);
  condition_ = outer;
  return safe;
}

Expr Guard::SafeCall(const Expr& e) {
  const auto& call = *e.As<CallNode>();
  if (call.op == Intrinsic::kAddressOf || call.op == Intrinsic::kAssume) {
    return e;
  }
  if (const LoadNode* element = PrefetchedElement(call)) {
    std::vector<Expr> args = call.args;
    args[0] = Call(DType::Handle(), Intrinsic::kAddressOf,
                   {Load(element->buffer, SafeAll(element->indices))});
    return Call(e.dtype(), call.op, std::move(args));
  }
  if (call.op != Intrinsic::kIfThenElse) {
    return MapOperands(e, [this](const Expr& x) { return Safe(x); });
  }
  const Expr condition = Safe(call.args[0]);
  const Expr yes = SafeIf(condition, call.args[1]);
  const Expr no = SafeIf(Not(condition), call.args[2]);
  return Call(e.dtype(), Intrinsic::kIfThenElse, {condition, yes, no});
}

Expr Guard::SafeLoad(const LoadNode& load) {
  std::vector<Expr> indices = SafeAll(load.indices);
  const Expr inside =
      InBounds(load.buffer, indices, false, Load(load.buffer, load.indices));
  Expr safe = Load(load.buffer, std::move(indices));
  if (!inside) return safe;
  const DType dtype = safe.dtype();
  return Call(dtype, Intrinsic::kIfThenElse,
              {inside, safe,
               Broadcast(Constant(0, dtype.WithLanes(1)), dtype.lanes())});
}

Expr Guard::Safe(const Expr& e) {
  if (!e->has_loads) return e;
  if (const auto* load = e.As<LoadNode>()) return SafeLoad(*load);
  if (e.As<CallNode>()) return SafeCall(e);
  if (const auto* let = e.As<LetNode>()) {
    return Safe(Substitute(let->body, let->var, let->value));
  }
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    const auto& both = *e.As<BinaryNode>();
    const Expr first = Safe(both.a);
    const bool is_and = e.kind() == ExprKind::kAnd;
    return Binary(e.kind(), first, SafeIf(is_and ? first : Not(first), both.b));
  }
  return MapOperands(e, [this](const Expr& x) { return Safe(x); });
}

Expr Guard::InBounds(const Buffer& buffer, const std::vector<Expr>& indices,
                     bool is_store, const Expr& access) {
  Expr all;
  for (size_t d = 0; d < indices.size(); ++d) {
    const GuardedAccess here = {PrintExpr(access), buffer->name,
                                static_cast<int>(d), is_store};
    const Expr& extent = buffer->shape[d];
    if (indices[d].dtype().lanes() == 1) {
      all = Both(all, Check(indices[d], extent, here));
    } else if (const auto* ramp = indices[d].As<RampNode>()) {
      const Expr last =
          Add(ramp->base, Mul(ramp->stride, Int(ramp->lanes - 1)));
      all = Both(all, Check(ramp->base, extent, here));
      all = Both(all, Check(last, extent, here));
    }
  }
  return all;
}

Expr Guard::Check(const Expr& index, const Expr& extent, GuardedAccess access) {
  if (analyzer_.CanProveLessEqual(Int(0), index) &&
      analyzer_.CanProveLess(index, extent)) {
    return Expr();
  }
  const Expr inside = And(LE(Int(0), index), LT(index, extent));
  accesses_.push_back(std::move(access));
  const auto number = static_cast<int64_t>(accesses_.size());
  const Stmt tell = MakeSeq({MakeStore(report_, index, {Int(1)}),
                             MakeStore(report_, extent, {Int(2)}),
                             MakeStore(report_, Int(number), {Int(0)})});
  const Stmt tell_first = MakeIf(EQ(Load(report_, {Int(0)}), Int(0)), tell);
  checks_.push_back(MakeIf(Both(condition_, Not(inside)), tell_first));
  return inside;
}

}  // namespace

absl::StatusOr<std::optional<GuardedFunction>> GuardAccesses(
    const Function& f) {
  LowerOptions without_blocks;
  without_blocks.stop_after = "remove_blocks";
  KILN_ASSIGN_OR_RETURN(Function lowered, Lower(f, without_blocks));
  const Buffer report =
      MakeBuffer("report", DType::Int(64), {Int(kGuardReportSize)});
  Guard guard(report);
  GuardedFunction guarded;
  lowered.body = guard.Map(lowered.body);
  guarded.accesses = guard.TakeAccesses();
  if (guarded.accesses.empty()) return std::nullopt;
  guarded.function = std::move(lowered);
  guarded.function.params.push_back(
      {Var("report_handle", DType::Handle()), report});
  return guarded;
}

absl::Status ReadGuardReport(const GuardedFunction& guarded,
                             absl::Span<const int64_t> report) {
  if (report[0] == 0) return absl::OkStatus();
  if (report[0] < 1 ||
      report[0] > static_cast<int64_t>(guarded.accesses.size())) {
    return absl::InternalError("a guarded run left no report");
  }
  const GuardedAccess& access = guarded.accesses[report[0] - 1];
  return absl::OutOfRangeError(
      absl::StrCat(guarded.function.name, ": ", access.access, " is ",
                   access.is_store ? "written" : "read", " outside of buffer ",
                   access.buffer, ": index ", report[1], " in dimension ",
                   access.dimension, ", whose extent is ", report[2]));
}

}  // namespace kiln
