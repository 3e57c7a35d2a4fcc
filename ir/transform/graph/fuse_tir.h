// Graph functions of tensor functions become one tensor function.
//
//   @R.function(private=True)                     @T.prim_func(private=True)
//   def fused_add_exp(x, p):                      def fused_add_exp(x, p, y):
//       R.func_attr({"Primitive": True})              t = T.alloc_buffer(...)
//       t = R.call_tir(cls.add, (x, p), ...)          for ...: t = x + p
//       y = R.call_tir(cls.exp, (t,), ...)            for ...: y = T.exp(t)
//       return y
//
// and a call cls.fused_add_exp(a, b) is R.call_tir(cls.fused_add_exp, (a, b)).
#ifndef KILN_IR_TRANSFORM_GRAPH_FUSE_TIR_H_
#define KILN_IR_TRANSFORM_GRAPH_FUSE_TIR_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module whose bindings have struct info (ir/ops/infer.h). A function
// with the attribute Primitive that does anything but call tensor functions of
// blocks, on tensors of known extents, stays as it is. Tensor functions that
// only fused functions called are dropped.
absl::StatusOr<Module> FuseTensorFunctions(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_FUSE_TIR_H_
