// Which values the bindings of an iterator map determine. A value is taken
// apart digit by digit, as a number is:
//
//   i * 8 + j with 0 <= j < 8 gives i and j;
//   f // 4 and f % 4 give f, and if f is i * 8 + j, then i and j.
#ifndef KILN_IR_ARITH_ITER_MAP_SOLVER_H_
#define KILN_IR_ARITH_ITER_MAP_SOLVER_H_

#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kiln/ir/arith/context.h"
#include "kiln/ir/arith/iter_map.h"
#include "kiln/ir/arith/linear.h"

namespace kiln {

class IterMapSolver {
 public:
  // Binds the loops and assumes the predicate (may be null).
  IterMapSolver(const std::vector<LoopRange>& loops, const Expr& predicate);

  Context& context() { return context_; }
  bool Varies(const Expr& e) const;
  // Whether `e` is a sum of multiples of quasi-affine digits.
  bool IsQuasiAffine(const Linear& linear, int depth = 0) const;

  // One more than the largest value of `linear`, as an index; null when
  // unbounded or not known to start at 0 or above.
  Expr ExtentOf(const Linear& linear);

  // `linear` is known to be `value` (null: known, but not needed as an
  // expression).
  void Know(const Linear& linear, const Expr& value);
  // Draws all conclusions.
  void Solve();
  // What is known of a loop variable: whether, and its expression.
  bool IsKnown(const VarNode* var) const;
  Expr ValueOf(const VarNode* var) const;

 private:
  // (x % high) // low is `value`; null low: 1, null high: no remainder.
  struct Digits {
    Expr x, low, high, value;
  };
  struct Sum {
    Linear linear;
    Expr value;
  };
  // coefficient * symbol * atom; null symbol: 1.
  struct Item {
    Expr atom, symbol;
    int64_t coefficient;
  };
  using Items = absl::InlinedVector<Item, 6>;

  bool TakeApart(Sum* sum);
  bool TakeHighest(Sum* sum, Items* items);
  void RemoveKnown(Sum* sum);
  bool ToItems(const Linear& linear, Items* items) const;
  bool Dominates(const Item& item, const Linear& rest);
  void Record(const Expr& atom, const Expr& value);
  void Merge(Digits digits);
  bool Covers(const Digits& digits);
  const Digits* FindKnown(const Expr& atom) const;

  const std::vector<LoopRange>& loops_;
  Context context_;
  absl::InlinedVector<Digits, 8> known_;   // whole expressions
  absl::InlinedVector<Digits, 4> digits_;  // parts
  absl::InlinedVector<Sum, 4> sums_;
};

}  // namespace kiln

#endif  // KILN_IR_ARITH_ITER_MAP_SOLVER_H_
