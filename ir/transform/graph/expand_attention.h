// Attention of lengths that are open becomes its products.
#ifndef KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_
#define KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// R.nn.attention and R.nn.attention_bias of queries or keys whose number is not
// known, which see all keys, with a head of keys for each of queries: matmul,
// multiply, add, softmax and matmul, what combine_attention makes of known ones
// the other way round. Takes modules with struct info, and rounds otherwise
// than before.
absl::StatusOr<Module> ExpandAttention(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_
