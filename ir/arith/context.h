// What an Analyzer knows, and the rules that use it. Split by family: facts
// (context.cc), bounds (const_bound.cc), moduli (modular.cc), and one
// simplify_*.cc for each kind of rule.
#ifndef KILN_IR_ARITH_CONTEXT_H_
#define KILN_IR_ARITH_CONTEXT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {

// Whether values of `dtype` follow exact integer arithmetic here: scalar
// signed integers of at least 32 bits. What is loaded may wrap (MayWrap).
inline bool IsExactInt(DType dtype) {
  return dtype.is_int() && dtype.bits() >= 32 && dtype.is_scalar();
}

class Context {
 public:
  // --- Facts.
  void BindRange(const Var& var, const Range& range);
  void BindValue(const Var& var, const Expr& value);
  void Unbind(const VarNode* var);
  size_t depth() const { return undo_.size(); }
  // Adds what follows from `condition` being `value`.
  void Assume(const Expr& condition, bool value);
  void UndoTo(size_t depth);

  static constexpr int kEliminations = 2;
  static constexpr int kMaxEliminations = 128;
  static constexpr size_t kMostKeptBounds = 64;

  // --- Queries on any expression.
  Expr Simplify(const Expr& e);
  ConstBound BoundOf(const Expr& e);
  Modular ModulusOf(const Expr& e);
  // Bounds of a - b, for integers of one exact type.
  ConstBound BoundOfDifference(const Expr& a, const Expr& b);
  // The truth of a scalar condition, where it is known.
  std::optional<bool> Decide(const Expr& condition);

  // --- The normal form.
  // scale * e, simplified, on top of `out`.
  void Linearize(const Expr& e, int64_t scale, Linear* out);
  Linear LinearOf(const Expr& e);
  // Bounds of a normal form. Constraints are used `eliminations` deep.
  ConstBound BoundOf(const Linear& linear, int eliminations = kEliminations);

 private:
  struct VarInfo {
    Var var;
    ConstBound bound;
    Modular modular;
    Expr value;            // null: none
    uint32_t version = 0;  // counts bindings, so that an old undo is skipped
  };
  // min <= terms <= max. `owner` is set for what a binding declares.
  struct Constraint {
    Linear terms;
    ConstBound bound;
    const VarNode* owner = nullptr;
  };
  struct Fact {
    Expr condition;
    bool value;
  };
  struct Undo {
    enum Kind : uint8_t { kVar, kConstraint, kFact } kind;
    uint32_t var = 0, version = 0;
    ConstBound bound;
    Modular modular;
  };

  // Counts work, so that no input takes forever, and depth, so that none
  // overflows the stack. `ok()` is false where the expression stays as it is.
  class Visit {
   public:
    explicit Visit(Context* c) : c_(c) {
      if (c_->level_++ == 0) c_->work_ = 0;
      ++c_->work_;
    }
    ~Visit() { --c_->level_; }
    bool ok() const {
      const bool ok = c_->level_ < kMaxLevel && c_->work_ < c_->work_end_;
      if (!ok) ++c_->cuts_;
      return ok;
    }

   private:
    Context* c_;
  };
  static constexpr int kMaxLevel = 150;
  static constexpr int kMaxWork = 1 << 16;
  // One bound may take that much of it, so that some remains for what follows.
  static constexpr int kMaxWorkOfBound = kMaxWork / 8;

  // context.cc
  VarInfo* FindVar(const VarNode* var);
  VarInfo& VarOf(const Var& var);
  VarInfo& Rebind(const Var& var);
  void Tighten(const Expr& atom, const ConstBound& bound);
  void TightenVar(const Var& var, const ConstBound& bound);
  void AssumeCompare(ExprKind kind, const Expr& a, const Expr& b);
  void AssumeUpper(Linear linear);  // linear <= 0
  void AddUpper(const Linear& linear, const VarNode* owner);
  bool IsKnownUpper(const Linear& linear) const;
  void AssumeModulus(const Expr& a, const Expr& b);
  void AddFact(const Expr& condition, bool value);
  std::optional<bool> LookUp(const Expr& condition) const;

  // const_bound.cc
  // Whether arithmetic on loaded numbers may leave its type: data wraps, where
  // indices are exact. Sums and products keep their normal form anyway.
  bool MayWrap(const Expr& e);
  ConstBound BoundOfAtom(const Expr& atom);
  // The same; bounds of quotients and rests are kept until facts change.
  ConstBound KeptBoundOf(const Expr& atom);
  void ForgetBounds() { kept_bounds_.clear(); }
  ConstBound BoundOfNode(const Expr& e);
  ConstBound BoundOfBinary(const BinaryNode& e);
  ConstBound BoundOfDivision(const BinaryNode& e);
  ConstBound BoundOfCall(const CallNode& e);
  ConstBound BoundOfTerms(const Linear& linear);
  ConstBound BoundByFacts(const Linear& linear, int eliminations);
  ConstBound BoundByFactor(const Linear& linear, int eliminations);
  ConstBound BoundByConstraints(const Linear& linear, int eliminations);
  ConstBound BoundByConstraint(const Linear& linear,
                               const Constraint& constraint, int eliminations);
  ConstBound BoundByDigits(const Linear& linear, int eliminations);

  // simplify_add.cc
  bool IsSimpleSum(const Expr& e);
  bool IsSimpleDigit(const Expr& e);
  bool StandsForItself(const VarNode* var);
  Expr SimplifySum(const Expr& e);
  void LinearizeSum(const Expr& e, int64_t scale, Linear* out);
  void LinearizeProduct(const BinaryNode& e, int64_t scale, Linear* out);
  void LinearizeDivision(const Expr& e, int64_t scale, Linear* out);
  void Multiply(const Linear& a, const Linear& b, DType dtype, int64_t scale,
                Linear* out);

  // simplify_div.cc: scale * (x // c) and scale * (x % c).
  void DivideConst(Linear x, int64_t c, DType dtype, int64_t scale,
                   Linear* out);
  void ModuloConst(Linear x, int64_t c, DType dtype, int64_t scale,
                   Linear* out);
  // Where x = g * t + rest with rest // g a known constant: makes x the
  // quotient x // g, `*removed` what that took away (x - g * (x // g)), and
  // returns g, which divides c. 1 where there is no such g. c = 0 is divided
  // by everything.
  int64_t TakeOutDivisor(Linear* x, int64_t c, Linear* removed);
  bool ModuloOfDivision(Linear* x, int64_t c, DType dtype, int64_t scale,
                        Linear* out);
  // simplify_symbolic.cc: the same for a divisor that is not constant.
  void DivideSymbolic(const BinaryNode& e, int64_t scale, Linear* out);
  // What x // n or x % n does not exceed, where the divisor is positive.
  absl::InlinedVector<Linear, 2> LimitsOfDigit(const BinaryNode& e);

  // recombine.cc: (x // 4) * 4 + x % 4 becomes x, and the like.
  bool Recombine(Linear* linear, DType dtype);  // true if it changed
  bool RecombineOnce(Linear* linear, DType dtype);
  bool RecombineWhole(Linear* linear, DType dtype);
  bool RecombineSymbolic(Linear* linear, DType dtype);

  // simplify_minmax.cc
  Expr SimplifyMinMax(const Expr& e);

  // simplify_compare.cc
  Expr SimplifyCompare(const Expr& e);
  Expr SimplifyLess(Linear difference, DType dtype);
  bool LiftDivision(Linear* difference);
  Expr SimplifyEqual(Linear difference, DType dtype, bool equal);
  std::optional<bool> DecideLess(const Linear& difference);
  std::optional<bool> DecideEqual(const Linear& difference);

  // simplify_logic.cc
  Expr SimplifyBool(const Expr& e);
  Expr SimplifyNot(const Expr& e);
  Expr SimplifyJunction(const Expr& e);
  // Drops operands that follow from the others; false where the others rule
  // one out. `neutral`: the value that leaves the junction as it is.
  bool DropImplied(absl::InlinedVector<Expr, 4>* operands, bool neutral);
  Expr SimplifyChoice(const Expr& e);

  // simplify.cc
  Expr SimplifyNode(const Expr& e);
  Expr SimplifyOperands(const Expr& e);

  std::vector<VarInfo> vars_;
  uint32_t var_bits_ = 0;        // of all of them
  std::vector<uint32_t> index_;  // hash slots: 1 + position in vars_, 0: free
  std::vector<Constraint> constraints_;
  std::vector<Fact> facts_;
  std::vector<Undo> undo_;
  absl::InlinedVector<std::pair<Expr, ConstBound>, 4> kept_bounds_;
  int level_ = 0;
  int work_ = 0, work_end_ = kMaxWork;
  absl::InlinedVector<Expr, 4> sought_;  // whose bounds are being looked for
  // How often a limit was met, and a bound that was being looked for.
  int64_t cuts_ = 0, cycles_ = 0;
  int eliminations_left_ = 0;
};

// The difference whose sign decides a comparison: `a < b` is d < 0 with
// d = a - b, `a == b` is d == 0.
bool IsOrder(ExprKind kind);
bool IsCompare(ExprKind kind);
// The kind that holds exactly where `kind` does not.
ExprKind NegatedCompare(ExprKind kind);

}  // namespace kiln

#endif  // KILN_IR_ARITH_CONTEXT_H_
