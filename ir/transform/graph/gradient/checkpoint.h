// Values that are computed again in the adjoint part rather than kept.
//
//   s = R.grad.start_checkpoint(x)      a = R.exp(x)     forward
//   a = R.exp(s)                        y = R.exp(a)
//   y = R.exp(a)                        ...
//   e = R.grad.end_checkpoint(y)        a_cp = R.exp(x)  for the adjoint of a
//
// What leads from what starts to what ends is computed again, both ends apart:
// what starts is kept.
#ifndef KILN_IR_TRANSFORM_GRAPH_GRADIENT_CHECKPOINT_H_
#define KILN_IR_TRANSFORM_GRAPH_GRADIENT_CHECKPOINT_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "kiln/ir/graph/expr.h"

namespace kiln {

class Checkpoints {
 public:
  // Bindings in order. Those that start or end give the same value under
  // another name: they go, or, where others see them, become `y = x`.
  explicit Checkpoints(std::vector<graph::Binding> bindings,
                       graph::Expr result);

  const std::vector<graph::Binding>& bindings() const { return bindings_; }
  const graph::Expr& result() const { return result_; }

  // `e`, an operand, with variables that are not kept replaced by others, whose
  // bindings are added to `out` the first time.
  graph::Expr Again(const graph::Expr& e, std::vector<graph::Binding>& out);

 private:
  void AddInside(const graph::Expr& end,
                 const std::unordered_set<const graph::VarNode*>& starts);

  std::vector<graph::Binding> bindings_;
  graph::Expr result_;
  std::unordered_map<const graph::VarNode*, graph::Expr> values_;
  std::unordered_set<const graph::VarNode*> inside_;
  std::unordered_map<const graph::VarNode*, graph::Expr> again_;
};

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_GRADIENT_CHECKPOINT_H_
