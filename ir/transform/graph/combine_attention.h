// Attention that is written as its products becomes one op.
#ifndef KILN_IR_TRANSFORM_GRAPH_COMBINE_ATTENTION_H_
#define KILN_IR_TRANSFORM_GRAPH_COMBINE_ATTENTION_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Products, scale, mask and softmax of float32 or float64, between permutations
// of (batch, sequence, heads, size), whose values nothing else uses:
// R.nn.attention or R.nn.attention_bias. Takes modules with struct info, and
// rounds otherwise than before. Queries or keys that are few, or of unknown
// number, stay as they are.
absl::StatusOr<Module> CombineAttention(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_COMBINE_ATTENTION_H_
