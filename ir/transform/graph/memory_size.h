// How many bytes a tensor takes at most.
#ifndef KILN_IR_TRANSFORM_GRAPH_MEMORY_SIZE_H_
#define KILN_IR_TRANSFORM_GRAPH_MEMORY_SIZE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/var_table.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// What a function promises of the dimensions that its parameters bring in, by
// name: "tir_var_upper_bound" and "tir_var_lower_bound" hold the largest and
// the smallest value that each has, "tir_non_negative_var" names some that are
// not below 0. Extents of parameters are never below 0.
class DimBounds {
 public:
  // InvalidArgument for attributes that are no dictionaries of integers, or no
  // list of names.
  static absl::StatusOr<DimBounds> Create(const graph::FunctionNode& f);

  // The largest value of `e`, as far as it can be told, over the dimensions
  // that have no upper bound.
  Expr Largest(const Expr& e, Analyzer& analyzer) const;

 private:
  // Null: unknown.
  struct Interval {
    Expr min, max;
  };
  Interval Of(const Expr& e, Analyzer& analyzer) const;
  static Interval OfBinary(ExprKind kind, const Interval& a, const Interval& b);
  static Interval OfProduct(const Interval& a, const Interval& b);
  static Interval OfQuotient(const Interval& a, const Interval& b);

  VarTable<Interval> dims_;
};

// The bytes of a tensor with extents at their largest, simplified.
Expr LargestBytes(const std::vector<Expr>& extents, DType dtype,
                  const DimBounds& bounds, Analyzer& analyzer);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_MEMORY_SIZE_H_
