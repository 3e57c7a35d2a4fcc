// Products of one tensor with several weights become one product.
//
//   a = R.matmul(x, w1)      w = R.concat((w1, w2), axis=1)
//   b = R.matmul(x, w2)      y = R.matmul(x, w)
//                            t = R.split(y, [n1], axis=1)
//                            a = t[0]; b = t[1]
#ifndef KILN_IR_TRANSFORM_GRAPH_COMBINE_PARALLEL_MATMUL_H_
#define KILN_IR_TRANSFORM_GRAPH_COMBINE_PARALLEL_MATMUL_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// What would become one product.
struct ParallelMatmuls {
  graph::Expr left;
  std::vector<graph::Expr> weights;
  std::vector<graph::Expr> biases;  // none where not all products have one
};
using AcceptsMatmuls = std::function<bool(const ParallelMatmuls&)>;

// Takes a module with struct info; looks at dataflow blocks, those of branches
// and of local functions, too. Weights have to be known where the first product
// stands, and agree in all extents but the last, of which one may be unknown.
// Sums with a bias and activations that all products share are combined, too.
// Products that `accepts` refuses stay; null accepts all.
absl::StatusOr<Module> CombineParallelMatmul(
    const Module& module, const AcceptsMatmuls& accepts = nullptr);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_COMBINE_PARALLEL_MATMUL_H_
