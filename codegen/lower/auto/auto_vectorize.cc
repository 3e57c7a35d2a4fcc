// No vectorizer runs after lowering, so a loop that no schedule vectorized
// would stay scalar. Independent iterations may run side by side; the code is
// good if they also store to consecutive elements, and load consecutive
// elements or one that they share. On registers of 8 floats,
//
//   for i in 40: C[i] = A[i] * 2
//
// becomes
//
//   for i_o in 5:
//     for i in vectorized(8): C[i_o*8 + i] = A[i_o*8 + i] * 2
//
// The loop need not be the innermost: loops inside of it run in the vectorized
// body, once for all lanes. It is only split, never moved.
#include "kiln/codegen/lower/auto/auto_vectorize.h"

#include <algorithm>

#include "kiln/base/lowering_policy.h"
#include "kiln/codegen/lower/vector/lane_independence.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Whether the body of a loop over `lane` has a good vector form.
class Suitability {
 public:
  explicit Suitability(const Var& lane) : lane_(lane) {}
  bool Check(const Stmt& body) {
    CheckStmt(body);
    return is_good_ && stores_ > 0;
  }
  int64_t element_bytes() const { return element_bytes_; }

 private:
  void CheckStmt(const Stmt& s);
  void CheckExpr(const Expr& e);
  void CheckAccess(const Buffer& buffer, const std::vector<Expr>& indices,
                   bool is_store);
  void Require(bool condition) { is_good_ &= condition; }
  void RequireUniform(const Expr& e) { Require(!UsesVar(e, lane_)); }

  const Var& lane_;
  bool is_good_ = true;
  int stores_ = 0;
  int64_t element_bytes_ = 1;
};

void Suitability::CheckAccess(const Buffer& buffer,
                              const std::vector<Expr>& indices, bool is_store) {
  Require(buffer->dtype.is_scalar() && !buffer->dtype.is_bool() &&
          indices[0].dtype() == DType::Index());
  if (!is_good_) return;
  const Linear form = ToLinear(indices[0]);
  Require(!form.HidesVar([&](const VarNode* v) { return v == lane_.get(); }));
  const int64_t stride = form.Coefficient(lane_.get());
  Require(stride == 1 || (stride == 0 && !is_store));
  if (stride == 1) {
    element_bytes_ = std::max(element_bytes_, buffer->dtype.bytes());
  }
}

void Suitability::CheckExpr(const Expr& e) {
  if (!is_good_) return;
  Require(e.dtype().is_scalar());
  if (const auto* load = e.As<LoadNode>()) {
    return CheckAccess(load->buffer, load->indices, false);
  }
  if (const auto* call = e.As<CallNode>()) {
    Require(GetIntrinsicInfo(call->op).purity == Purity::kPure &&
            call->op != Intrinsic::kCallPureExtern &&
            call->op != Intrinsic::kCallLlvmPureIntrin);
    if (call->op == Intrinsic::kIfThenElse) RequireUniform(call->args[0]);
  }
  Require(e.kind() != ExprKind::kLet);
  ForEachOperand(e, [&](const Expr& x) { CheckExpr(x); });
}

void Suitability::CheckStmt(const Stmt& s) {
  if (!is_good_) return;
  switch (s.kind()) {
    case StmtKind::kFor: {
      const auto* loop = s.As<ForNode>();
      Require(loop->for_kind == ForKind::kSerial ||
              loop->for_kind == ForKind::kUnrolled);
      RequireUniform(loop->min);
      RequireUniform(loop->extent);
      break;
    }
    case StmtKind::kStore:
      ++stores_;
      CheckAccess(s.As<StoreNode>()->buffer, s.As<StoreNode>()->indices, true);
      CheckExpr(s.As<StoreNode>()->value);
      return;
    case StmtKind::kIf:
      RequireUniform(s.As<IfNode>()->condition);
      break;
    case StmtKind::kSeq:
      break;
    case StmtKind::kBlockRealize:
    case StmtKind::kLet:
    case StmtKind::kAllocate:
    case StmtKind::kEvaluate:
      Require(false);
      return;
  }
  ForEachChild(s, [&](const Stmt& child) { CheckStmt(child); });
}

// A loop that can become vectors, and how well it fills them.
struct Choice {
  const ForNode* loop = nullptr;
  int64_t lanes = 0;
  double filling = 0;
};

Choice Rate(const ForNode& loop, const VectorRegisters& vectors) {
  const int64_t* extent = AsInt(loop.extent);
  const bool is_plain =
      loop.for_kind == ForKind::kSerial || loop.for_kind == ForKind::kUnrolled;
  if (!is_plain || !extent || *extent < kMinLanes || !AsInt(loop.min)) {
    return {};
  }
  Suitability suitability(loop.var);
  if (!suitability.Check(loop.body) || !lower::IterationsAreIndependent(loop)) {
    return {};
  }
  const ChosenLanes chosen =
      ChooseLanes(*extent, suitability.element_bytes(), vectors);
  return {&loop, chosen.lanes, chosen.filling};
}

class Chooser {
 public:
  Chooser(Function* f, const VectorRegisters& vectors)
      : f_(f), vectors_(vectors) {}
  Stmt Run(const Stmt& s);

 private:
  Choice Best(const ForNode& outermost) const;
  Stmt Split(const ForNode& loop, int64_t lanes);
  Stmt Part(const ForNode& loop, const Expr& first, int64_t lanes);
  Stmt Apply(const Stmt& s, const Choice& choice);

  Function* f_;
  const VectorRegisters& vectors_;
};

// The best loop of the perfect nest from `outermost` on; of equals the inner.
Choice Chooser::Best(const ForNode& outermost) const {
  Choice best;
  for (const ForNode* loop = &outermost; loop;
       loop = loop->body.As<ForNode>()) {
    const Choice choice = Rate(*loop, vectors_);
    if (choice.loop && choice.filling >= best.filling) best = choice;
  }
  return best;
}

// Iterations first, first + 1, ... of `loop` as one vectorized loop.
Stmt Chooser::Part(const ForNode& loop, const Expr& first, int64_t lanes) {
  const Var lane(loop.var.name());
  const Stmt body = Substitute(loop.body, {{loop.var.get(), Add(first, lane)}});
  return MakeFor(f_->NewId(), lane, Int(lanes), body, ForKind::kVectorized);
}

Stmt Chooser::Split(const ForNode& loop, int64_t lanes) {
  const int64_t extent = *AsInt(loop.extent), min = *AsInt(loop.min);
  if (extent == lanes) return Part(loop, Int(min), lanes);
  const Var outer(loop.var.name() + "_o");
  const Expr first = Add(Mul(outer, Int(lanes)), Int(min));
  ForFields fields = loop.fields();
  fields.var = outer;
  fields.min = Int(0);
  fields.extent = Int(extent / lanes);
  fields.body = Part(loop, first, lanes);
  std::vector<Stmt> parts = {MakeFor(std::move(fields))};
  if (const int64_t rest = extent % lanes; rest > 0) {
    parts.push_back(Part(loop, Int(min + extent - rest), rest));
  }
  return MakeSeq(std::move(parts));
}

Stmt Chooser::Apply(const Stmt& s, const Choice& choice) {
  if (s.get() == choice.loop) return Split(*choice.loop, choice.lanes);
  return MapChildren(s,
                     [&](const Stmt& child) { return Apply(child, choice); });
}

Stmt Chooser::Run(const Stmt& s) {
  if (const auto* loop = s.As<ForNode>()) {
    if (loop->for_kind == ForKind::kVectorized) return s;
    const Choice choice = Best(*loop);
    if (choice.loop) return Apply(s, choice);
  }
  return MapChildren(s, [&](const Stmt& child) { return Run(child); });
}

}  // namespace

absl::StatusOr<Function> AutoVectorize(Function f, const Machine& machine) {
  Stmt body = Chooser(&f, machine.vectors).Run(f.body);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
