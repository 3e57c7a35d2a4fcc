// Symbolic interval sets: the values an index takes while some variables run.
#ifndef KILN_IR_ARITH_INT_SET_H_
#define KILN_IR_ARITH_INT_SET_H_

#include <optional>
#include <vector>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/expr/var_table.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln {

// The integers between two symbolic bounds, both included. A null bound is
// unbounded.
struct IntSet {
  Expr min, max;
  bool IsBounded() const { return min && max; }
};

// What variables range over. Variables not named stay symbolic.
using Domains = VarTable<Range>;

// A set that holds every value of `e`; as tight as interval arithmetic on the
// normal form makes it (exact for affine expressions with each variable once).
IntSet EvalSet(const Expr& e, const Domains& domains, Analyzer* analyzer);

// The same where `predicate` holds (null or true: everywhere). Its conjuncts
// `a < b`, `a <= b` ... tighten the set.
IntSet EvalSet(const Expr& e, const Domains& domains, const Expr& predicate,
               Analyzer* analyzer);

// The smallest set that holds both.
IntSet UnionSet(const IntSet& a, const IntSet& b, Analyzer* analyzer);
// The set as min and extent; nullopt when unbounded.
std::optional<Range> ToRange(const IntSet& set, Analyzer* analyzer);

// The box that `region` covers while `domains` run, where `predicate` holds
// (its conjuncts `x < c` and the like tighten the box).
std::vector<IntSet> EvalRegion(const std::vector<Range>& region,
                               const Domains& domains, const Expr& predicate,
                               Analyzer* analyzer);

}  // namespace kiln

#endif  // KILN_IR_ARITH_INT_SET_H_
