// Adjoints of variables, as they add up.
#ifndef KILN_IR_TRANSFORM_GRAPH_GRADIENT_ADJOINTS_H_
#define KILN_IR_TRANSFORM_GRAPH_GRADIENT_ADJOINTS_H_

#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// Bindings of a dataflow block. An expression is bound operand by operand, in
// order, and a node that stands in several places once.
class AdjointBlock {
 public:
  std::vector<graph::Binding>& bindings() { return bindings_; }

  // `e`, if it is a leaf; else a variable that is bound to it.
  graph::Expr Leaf(const graph::Expr& e);
  // Binds `var` to `e`.
  void Bind(const graph::Var& var, const graph::Expr& e);

 private:
  // `e` with operands that are leaves.
  graph::Expr WithLeaves(const graph::Expr& e);

  std::vector<graph::Binding> bindings_;
  // By node; the expression keeps it alive.
  struct Known {
    graph::Expr e, leaf;
  };
  std::unordered_map<const graph::GraphNode*, Known> known_;
};

class Adjoints {
 public:
  explicit Adjoints(AdjointBlock* block) : block_(*block) {}

  // What has been added up for the variable; null for nothing.
  graph::Expr Of(const graph::VarNode* var) const;
  // Adds to the adjoints of `target`, a variable or a tuple of those. What is
  // neither takes nothing.
  void Add(const graph::Expr& target, const graph::Expr& increment);
  // Adds to a field of a tuple.
  absl::Status AddToField(const graph::Expr& tuple, int index,
                          const graph::Expr& increment);

 private:
  void Set(const graph::VarNode* var, const graph::Expr& value);

  AdjointBlock& block_;
  std::unordered_map<const graph::VarNode*, graph::Expr> adjoints_;
};

// A value of zeros, of tensors whose extents and types are known.
absl::StatusOr<graph::Expr> ZerosOf(const graph::StructInfo& info);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_GRADIENT_ADJOINTS_H_
