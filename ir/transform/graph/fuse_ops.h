// Calls of tensor functions that make one kernel move into a function.
//
//   lv = R.call_tir(cls.matmul, (x, w), ...)   gv = cls.fused_matmul_relu(x, w)
//   gv = R.call_tir(cls.relu, (lv,), ...)
//
// with `fused_matmul_relu` private and Primitive, for fuse_tir.h.
#ifndef KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_H_
#define KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module whose bindings have struct info and whose tensor functions
// have patterns (annotate_patterns.h); those without any are opaque. Looks at
// dataflow blocks. Constants become parameters. A group whose value nobody
// needs is dropped. Groups have at most `max_size` calls.
absl::StatusOr<Module> FuseOps(const Module& module, int max_size = 256);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUSE_OPS_H_
