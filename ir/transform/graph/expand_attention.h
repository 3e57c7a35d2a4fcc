// Attention of an open number of keys becomes its products.
#ifndef KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_
#define KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// R.nn.attention and R.nn.attention_bias of an open number of keys and another
// one of queries, which see all keys, with a head of keys for each of queries:
// matmul, multiply, add, softmax and matmul, what combine_attention makes one
// op of elsewhere. Takes modules with struct info, and rounds otherwise than
// before.
absl::StatusOr<Module> ExpandAttention(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_EXPAND_ATTENTION_H_
