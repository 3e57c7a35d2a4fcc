// What half precision does to ops.
#ifndef KILN_IR_TRANSFORM_GRAPH_PRECISION_POLICY_H_
#define KILN_IR_TRANSFORM_GRAPH_PRECISION_POLICY_H_

#include "kiln/ir/graph/expr.h"

namespace kiln {

enum class PrecisionPolicy {
  kAlways,  // sums of products: of float16, with sums of another type
  kFollow,  // in float16 where its operands are: moves, bounded functions
  kNever,   // long sums, exponentials, and what is not known
};

PrecisionPolicy PolicyOf(const graph::Expr& value);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_PRECISION_POLICY_H_
