// What is known about integer expressions, and what follows from it.
//
//   Analyzer analyzer;
//   analyzer.Bind(i, Range{Int(0), Int(128)});
//   analyzer.Simplify(FloorDiv(Add(Mul(i, Int(4)), Int(3)), Int(4)));  // i
//   analyzer.CanProve(LT(i, Int(128)));                                // true
//
// Index arithmetic is exact integer arithmetic. Cheap to construct; not
// thread-safe.
#ifndef KILN_IR_ARITH_ANALYZER_H_
#define KILN_IR_ARITH_ANALYZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kiln/ir/arith/const_bound.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// All values are `base` modulo `coefficient`; coefficient 0: the value is
// `base` itself, 1: nothing is known.
struct Modular {
  int64_t coefficient = 1;
  int64_t base = 0;
};

class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(Analyzer&&) noexcept;
  Analyzer& operator=(Analyzer&&) noexcept;

  // Declares the values of `var`. A range of extent 1 makes it that value.
  // A later binding of the same variable replaces the earlier one.
  void Bind(const Var& var, const Range& range);
  void Bind(const Var& var, const Expr& value);

  // Forgets what Bind said about `var`.
  void Unbind(const Var& var);

  // Assumes `condition` until the returned object goes out of scope.
  class Assumption {
   public:
    Assumption(Assumption&& other) noexcept;
    ~Assumption();

   private:
    friend class Analyzer;
    explicit Assumption(Analyzer* analyzer, size_t depth);
    Analyzer* analyzer_;
    size_t depth_;
  };
  [[nodiscard]] Assumption Assume(const Expr& condition);

  // An equal, simpler expression: constants folded, sums and products in one
  // normal form, divisions and moduli by constants resolved where bounds and
  // moduli allow, conditions decided where they can be. Idempotent; the same
  // node comes back when nothing changes. Works on any dtype, but only
  // integers and bools are changed.
  Expr Simplify(const Expr& e);

  // Whether `condition` follows from what is known. False also means "cannot
  // tell".
  bool CanProve(const Expr& condition);
  bool CanProveEqual(const Expr& a, const Expr& b);
  bool CanProveLess(const Expr& a, const Expr& b);       // a < b
  bool CanProveLessEqual(const Expr& a, const Expr& b);  // a <= b

  ConstBound Bound(const Expr& e);
  Modular Modulus(const Expr& e);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Simplifies every integer expression of a statement, with loop variables and
// block iterators bound to their ranges and conditions assumed where they hold.
Stmt SimplifyStmt(const Stmt& s);

}  // namespace kiln

#endif  // KILN_IR_ARITH_ANALYZER_H_
