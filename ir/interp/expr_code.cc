// An expression becomes a tree of objects, one class for each kind of node and
// operator. Kinds, types and names are looked at once, when the tree is made;
// evaluating a node is one virtual call:
//
//   A[i + 1] * x of float32     RealBinary<Mul>
//                                 LoadCode      the slot of A
//                                   IntBinary<Add>    VarCode i, IntConstant 1
//                                 VarCode x
//
// There are no vector values. A lane is asked for by its number, Ramp counts
// with it, Broadcast ignores it; a node above a vector is so evaluated once per
// lane.
//
// A failure goes to the frame, evaluation continues with 0, and the next
// statement does not run. Overflow and a division by 0 are failures of index
// arithmetic alone (int64, no load in it); data wraps, and has x // 0 = 0 and
// x % 0 = x.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/interp/scope.h"

namespace kiln::interp_internal {
namespace {

class IntConstant : public ExprCode {
 public:
  explicit IntConstant(int64_t value) : value_(value) {}
  int64_t Int(Frame&, int) const override { return value_; }

 private:
  int64_t value_;
};

class RealConstant : public ExprCode {
 public:
  explicit RealConstant(double value) : value_(value) {}
  double Real(Frame&, int) const override { return value_; }

 private:
  double value_;
};

class VarCode : public ExprCode {
 public:
  explicit VarCode(int slot) : slot_(slot) {}
  int64_t Int(Frame& frame, int) const override { return frame.slots[slot_].i; }
  double Real(Frame& frame, int) const override { return frame.slots[slot_].f; }

 private:
  int slot_;
};

class VectorVarCode : public ExprCode {
 public:
  explicit VectorVarCode(int slot) : slot_(slot) {}
  int64_t Int(Frame& frame, int lane) const override {
    return frame.slots[slot_ + lane].i;
  }
  double Real(Frame& frame, int lane) const override {
    return frame.slots[slot_ + lane].f;
  }

 private:
  int slot_;
};

// Operators on integers and bools. Narrower types are extended, so that one
// arithmetic serves all but uint64. And and Or evaluate their right operand
// only where it decides.
template <ExprKind K>
class IntBinary : public ExprCode {
 public:
  IntBinary(ExprPtr a, ExprPtr b, DType dtype, bool exact, const Place* place)
      : a_(std::move(a)),
        b_(std::move(b)),
        dtype_(dtype),
        exact_(exact),
        place_(place) {}

  int64_t Int(Frame& frame, int lane) const override {
    if constexpr (K == ExprKind::kAnd) {
      return a_->Int(frame, lane) && b_->Int(frame, lane);
    } else if constexpr (K == ExprKind::kOr) {
      return a_->Int(frame, lane) || b_->Int(frame, lane);
    } else {
      return Apply(frame, a_->Int(frame, lane), b_->Int(frame, lane));
    }
  }

 private:
  int64_t Apply(Frame& frame, int64_t x, int64_t y) const {
    int64_t out;
    bool fits;
    if constexpr (K == ExprKind::kAdd) {
      fits = !__builtin_add_overflow(x, y, &out);
    } else if constexpr (K == ExprKind::kSub) {
      fits = !__builtin_sub_overflow(x, y, &out);
    } else if constexpr (K == ExprKind::kMul) {
      fits = !__builtin_mul_overflow(x, y, &out);
    } else {
      fits = FoldInt(K, x, y, &out);
      if (!fits && exact_) return FailDivision(frame, x, y);
      if (!fits) out = UncommonDivision(x, y);
    }
    if (!fits && exact_) FailOverflow(frame, x, y);
    return WrapInt(dtype_, out);
  }

  // The value of a division by 0, and of the least number by -1.
  static int64_t UncommonDivision(int64_t x, int64_t y) {
    const bool divides = K == ExprKind::kFloorDiv || K == ExprKind::kTruncDiv;
    return (y == 0) == divides ? 0 : x;
  }

  int64_t FailDivision(Frame& frame, int64_t x, int64_t y) const {
    frame.Fail(place_, absl::StatusCode::kInvalidArgument,
               absl::StrCat("integer division of ", x, " by ", y));
    return 0;
  }

  void FailOverflow(Frame& frame, int64_t x, int64_t y) const {
    frame.Fail(place_, absl::StatusCode::kOutOfRange,
               absl::StrCat(
                   "index arithmetic overflows: ", std::string(ExprKindName(K)),
                   "(", x, ", ", y, ")"));
  }

  ExprPtr a_, b_;
  DType dtype_;
  bool exact_;
  const Place* place_;
};

// Operators on uint64 that its sign bit would change.
class UInt64Binary : public ExprCode {
 public:
  UInt64Binary(ExprKind kind, ExprPtr a, ExprPtr b)
      : kind_(kind), a_(std::move(a)), b_(std::move(b)) {}

  int64_t Int(Frame& frame, int lane) const override {
    const uint64_t x = a_->Int(frame, lane), y = b_->Int(frame, lane);
    if (kind_ == ExprKind::kLT) return x < y;
    if (kind_ == ExprKind::kLE) return x <= y;
    if (kind_ == ExprKind::kGT) return x > y;
    if (kind_ == ExprKind::kGE) return x >= y;
    if (kind_ == ExprKind::kMin) return std::min(x, y);
    if (kind_ == ExprKind::kMax) return std::max(x, y);
    const bool quotient =
        kind_ == ExprKind::kFloorDiv || kind_ == ExprKind::kTruncDiv;
    if (y == 0) return quotient ? 0 : x;
    return quotient ? x / y : x % y;
  }

 private:
  ExprKind kind_;
  ExprPtr a_, b_;
};

// Float operands. Comparisons answer Int, the others Real.
template <ExprKind K>
class RealBinary : public ExprCode {
 public:
  RealBinary(ExprPtr a, ExprPtr b, DType dtype)
      : a_(std::move(a)), b_(std::move(b)), dtype_(dtype) {}

  int64_t Int(Frame& frame, int lane) const override {
    const double x = a_->Real(frame, lane), y = b_->Real(frame, lane);
    if constexpr (K == ExprKind::kEQ) return x == y;
    if constexpr (K == ExprKind::kNE) return x != y;
    if constexpr (K == ExprKind::kLT) return x < y;
    if constexpr (K == ExprKind::kLE) return x <= y;
    if constexpr (K == ExprKind::kGT) return x > y;
    if constexpr (K == ExprKind::kGE) return x >= y;
    return ExprCode::Int(frame, lane);
  }

  double Real(Frame& frame, int lane) const override {
    const double x = a_->Real(frame, lane), y = b_->Real(frame, lane);
    return RoundReal(dtype_, Apply(x, y));
  }

 private:
  double Rounded(double value) const { return RoundReal(dtype_, value); }

  double Apply(double x, double y) const {
    if constexpr (K == ExprKind::kAdd) return x + y;
    if constexpr (K == ExprKind::kSub) return x - y;
    if constexpr (K == ExprKind::kMul) return x * y;
    if constexpr (K == ExprKind::kDiv) return x / y;
    if constexpr (K == ExprKind::kFloorDiv) return std::floor(Rounded(x / y));
    if constexpr (K == ExprKind::kFloorMod) {
      return x - Rounded(std::floor(Rounded(x / y)) * y);
    }
    if constexpr (K == ExprKind::kTruncDiv) return std::trunc(Rounded(x / y));
    if constexpr (K == ExprKind::kTruncMod) return std::fmod(x, y);
    if constexpr (K == ExprKind::kMin) return x < y ? x : y;
    if constexpr (K == ExprKind::kMax) return x > y ? x : y;
    KILN_CHECK(false) << "not a float operator";
    return 0;
  }

  ExprPtr a_, b_;
  DType dtype_;
};

class CastCode : public ExprCode {
 public:
  CastCode(ExprPtr value, DType from, DType to)
      : value_(std::move(value)), from_(from), to_(to) {}

  int64_t Int(Frame& frame, int lane) const override {
    return from_.is_float() ? RealToInt(value_->Real(frame, lane), to_)
                            : WrapInt(to_, value_->Int(frame, lane));
  }
  double Real(Frame& frame, int lane) const override {
    return from_.is_float() ? RoundReal(to_, value_->Real(frame, lane))
                            : IntToReal(value_->Int(frame, lane), from_, to_);
  }

 private:
  ExprPtr value_;
  DType from_, to_;
};

class NotCode : public ExprCode {
 public:
  explicit NotCode(ExprPtr value) : value_(std::move(value)) {}
  int64_t Int(Frame& frame, int lane) const override {
    return !value_->Int(frame, lane);
  }

 private:
  ExprPtr value_;
};

// Select evaluates both branches (so that both are checked), IfThenElse one.
class ChoiceCode : public ExprCode {
 public:
  ChoiceCode(ExprPtr condition, ExprPtr yes, ExprPtr no, bool lazy)
      : condition_(std::move(condition)),
        yes_(std::move(yes)),
        no_(std::move(no)),
        lazy_(lazy) {}

  int64_t Int(Frame& frame, int lane) const override {
    const bool chosen = condition_->Int(frame, lane);
    if (lazy_) return (chosen ? yes_ : no_)->Int(frame, lane);
    const int64_t x = yes_->Int(frame, lane), y = no_->Int(frame, lane);
    return chosen ? x : y;
  }
  double Real(Frame& frame, int lane) const override {
    const bool chosen = condition_->Int(frame, lane);
    if (lazy_) return (chosen ? yes_ : no_)->Real(frame, lane);
    const double x = yes_->Real(frame, lane), y = no_->Real(frame, lane);
    return chosen ? x : y;
  }

 private:
  ExprPtr condition_, yes_, no_;
  bool lazy_;
};

class LoadCode : public ExprCode {
 public:
  LoadCode(int slot, const Buffer& buffer, std::vector<IndexCode> indices,
           const Place* place)
      : slot_(slot),
        element_(buffer->dtype.Element()),
        lanes_(buffer->dtype.lanes()),
        name_(buffer->name),
        indices_(std::move(indices)),
        place_(place) {}

  int64_t Int(Frame& frame, int lane) const override {
    const uint8_t* at = Find(frame, lane);
    return at ? LoadInt(element_, at) : 0;
  }
  double Real(Frame& frame, int lane) const override {
    const uint8_t* at = Find(frame, lane);
    return at ? LoadReal(element_, at) : 0;
  }

 private:
  const uint8_t* Find(Frame& frame, int lane) const {
    int64_t indices[kMaxRank];
    const int index_lane = lanes_ == 1 ? lane : lane / lanes_;
    for (size_t d = 0; d < indices_.size(); ++d) {
      indices[d] = indices_[d].Get(frame, index_lane);
    }
    const View& view = frame.views[slot_];
    const uint8_t* at = Address(frame, view, indices, name_, place_);
    if (!at) return nullptr;
    if (lanes_ > 1) at += lane % lanes_ * element_.bytes();
    if (IsWritten(view, at, element_.bytes())) return at;
    if (frame.source && frame.source->Provide(frame, slot_, indices)) return at;
    frame.Fail(place_, absl::StatusCode::kFailedPrecondition,
               absl::StrCat(FormatAccess(name_, indices, indices_.size()),
                            " is read but was never written"));
    return nullptr;
  }

  int slot_;
  DType element_;
  int lanes_;
  std::string name_;
  std::vector<IndexCode> indices_;
  const Place* place_;
};

class RampCode : public ExprCode {
 public:
  RampCode(ExprPtr base, ExprPtr stride, DType dtype)
      : base_(std::move(base)), stride_(std::move(stride)), dtype_(dtype) {}
  int64_t Int(Frame& frame, int lane) const override {
    // As unsigned numbers: those wrap around.
    const auto step = static_cast<uint64_t>(stride_->Int(frame, 0));
    const auto base = static_cast<uint64_t>(base_->Int(frame, 0));
    return WrapInt(dtype_, static_cast<int64_t>(base + lane * step));
  }
  double Real(Frame& frame, int lane) const override {
    return RoundReal(dtype_,
                     base_->Real(frame, 0) + lane * stride_->Real(frame, 0));
  }

 private:
  ExprPtr base_, stride_;
  DType dtype_;
};

class BroadcastCode : public ExprCode {
 public:
  explicit BroadcastCode(ExprPtr value) : value_(std::move(value)) {}
  int64_t Int(Frame& frame, int) const override {
    return value_->Int(frame, 0);
  }
  double Real(Frame& frame, int) const override {
    return value_->Real(frame, 0);
  }

 private:
  ExprPtr value_;
};

class LetCode : public ExprCode {
 public:
  LetCode(int slot, DType dtype, ExprPtr value, ExprPtr body)
      : slot_(slot),
        dtype_(dtype),
        value_(std::move(value)),
        body_(std::move(body)) {}
  int64_t Int(Frame& frame, int lane) const override {
    Bind(frame);
    return body_->Int(frame, lane);
  }
  double Real(Frame& frame, int lane) const override {
    Bind(frame);
    return body_->Real(frame, lane);
  }

 private:
  void Bind(Frame& frame) const {
    for (int lane = 0; lane < dtype_.lanes(); ++lane) {
      Value& value = frame.slots[slot_ + lane];
      if (dtype_.is_float()) {
        value.f = value_->Real(frame, lane);
      } else {
        value.i = value_->Int(frame, lane);
      }
    }
  }

  int slot_;
  DType dtype_;
  ExprPtr value_, body_;
};

bool NeedsUnsigned(ExprKind kind, DType dtype) {
  return dtype.is_uint() && dtype.bits() == 64 && kind != ExprKind::kAdd &&
         kind != ExprKind::kSub && kind != ExprKind::kMul &&
         kind != ExprKind::kEQ && kind != ExprKind::kNE;
}

template <ExprKind K>
ExprPtr MakeBinary(const BinaryNode& node, Scope& scope) {
  const DType dtype = node.a.dtype().Element();
  ExprPtr a = CompileExpr(node.a, scope), b = CompileExpr(node.b, scope);
  if (dtype.is_float()) {
    return std::make_unique<RealBinary<K>>(std::move(a), std::move(b), dtype);
  }
  if (NeedsUnsigned(K, dtype)) {
    return std::make_unique<UInt64Binary>(K, std::move(a), std::move(b));
  }
  const bool exact = IsIndexArithmetic(node.a) && IsIndexArithmetic(node.b);
  return std::make_unique<IntBinary<K>>(std::move(a), std::move(b), dtype,
                                        exact, scope.place());
}

ExprPtr CompileBinary(const BinaryNode& node, Scope& scope) {
  const bool is_logical =
      node.kind == ExprKind::kAnd || node.kind == ExprKind::kOr;
  if ((is_logical && !node.a.dtype().is_bool()) ||
      (node.kind == ExprKind::kDiv && !node.a.dtype().is_float())) {
    scope.Fail(absl::StatusCode::kInvalidArgument,
               absl::StrCat(std::string(ExprKindName(node.kind)), " of ",
                            node.a.dtype().ToString()));
  }
  switch (node.kind) {
#define KILN_CASE(kind, ...) \
  case ExprKind::k##kind:    \
    return MakeBinary<ExprKind::k##kind>(node, scope);
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
#define KILN_CASE(kind) case ExprKind::k##kind:
    KILN_OTHER_EXPR_KINDS(KILN_CASE)
#undef KILN_CASE
    break;
  }
  KILN_CHECK(false) << "not binary";
  return nullptr;
}

ExprPtr CompileLoad(const LoadNode& node, Scope& scope) {
  if (node.indices.size() > kMaxRank ||
      node.indices.size() != node.buffer->shape.size()) {
    scope.Fail(absl::StatusCode::kInvalidArgument,
               absl::StrCat("load from ", node.buffer->name, " with ",
                            node.indices.size(), " indices"));
  }
  return std::make_unique<LoadCode>(scope.Slot(node.buffer), node.buffer,
                                    CompileIndices(node.indices, scope),
                                    scope.place());
}

ExprPtr CompileLet(const LetNode& node, Scope& scope) {
  ExprPtr value = CompileExpr(node.value, scope);
  const int slot = scope.Define(node.var);
  ExprPtr body = CompileExpr(node.body, scope);
  scope.Forget(node.var);
  return std::make_unique<LetCode>(slot, node.var.dtype(), std::move(value),
                                   std::move(body));
}

ExprPtr CompileChoice(const Expr& condition, const Expr& yes, const Expr& no,
                      bool lazy, Scope& scope) {
  return std::make_unique<ChoiceCode>(CompileExpr(condition, scope),
                                      CompileExpr(yes, scope),
                                      CompileExpr(no, scope), lazy);
}

ExprPtr CompileVar(const VarNode& node, Scope& scope) {
  const int slot = scope.Slot(Var(&node));
  if (node.dtype.lanes() > 1) return std::make_unique<VectorVarCode>(slot);
  return std::make_unique<VarCode>(slot);
}

ExprPtr CompileAnyCall(const CallNode& node, Scope& scope) {
  if (node.op == Intrinsic::kIfThenElse) {
    return CompileChoice(node.args[0], node.args[1], node.args[2],
                         /*lazy=*/true, scope);
  }
  if (node.op == Intrinsic::kLikely) return CompileExpr(node.args[0], scope);
  return CompileCall(node, scope);
}

}  // namespace

bool IsIndexArithmetic(const Expr& e) {
  if (e.dtype().Element() != DType::Index()) return false;
  bool loads = false;
  Visit(e, [&](const Expr& node) {
    loads = loads || node.kind() == ExprKind::kLoad;
    return !loads;
  });
  return !loads;
}

std::vector<ExprPtr> CompileList(const std::vector<Expr>& list, Scope& scope) {
  std::vector<ExprPtr> codes;
  codes.reserve(list.size());
  for (const Expr& e : list) codes.push_back(CompileExpr(e, scope));
  return codes;
}

IndexCode::IndexCode(const Expr& e, Scope& scope) {
  const auto* var = e.As<VarNode>();
  if (var && var->dtype.is_scalar()) {
    slot_ = scope.Slot(Var(var));
  } else if (const int64_t* value = AsInt(e)) {
    constant_ = *value;
  } else {
    code_ = CompileExpr(e, scope);
  }
}

std::vector<IndexCode> CompileIndices(const std::vector<Expr>& list,
                                      Scope& scope) {
  std::vector<IndexCode> codes;
  codes.reserve(list.size());
  for (const Expr& e : list) codes.emplace_back(e, scope);
  return codes;
}

ExprPtr CompileExpr(const Expr& e, Scope& scope) {
  if (IsBinary(e.kind())) return CompileBinary(*e.As<BinaryNode>(), scope);
  const DType element = e.dtype().Element();
  if (const auto* imm = e.As<IntImmNode>()) {
    return std::make_unique<IntConstant>(WrapInt(element, imm->value));
  } else if (const auto* real = e.As<FloatImmNode>()) {
    return std::make_unique<RealConstant>(RoundReal(element, real->value));
  } else if (e.kind() == ExprKind::kStringImm) {
    return std::make_unique<IntConstant>(0);
  } else if (const auto* var = e.As<VarNode>()) {
    return CompileVar(*var, scope);
  } else if (const auto* cast = e.As<CastNode>()) {
    return std::make_unique<CastCode>(CompileExpr(cast->value, scope),
                                      cast->value.dtype().Element(), element);
  } else if (const auto* negation = e.As<NotNode>()) {
    return std::make_unique<NotCode>(CompileExpr(negation->value, scope));
  } else if (const auto* select = e.As<SelectNode>()) {
    return CompileChoice(select->condition, select->true_value,
                         select->false_value, /*lazy=*/false, scope);
  } else if (const auto* load = e.As<LoadNode>()) {
    return CompileLoad(*load, scope);
  } else if (const auto* ramp = e.As<RampNode>()) {
    return std::make_unique<RampCode>(CompileExpr(ramp->base, scope),
                                      CompileExpr(ramp->stride, scope),
                                      element);
  } else if (const auto* broadcast = e.As<BroadcastNode>()) {
    return std::make_unique<BroadcastCode>(
        CompileExpr(broadcast->value, scope));
  } else if (const auto* let = e.As<LetNode>()) {
    return CompileLet(*let, scope);
  }
  return CompileAnyCall(*e.As<CallNode>(), scope);
}

}  // namespace kiln::interp_internal
