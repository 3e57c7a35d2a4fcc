// Ops become tensor functions.
//
//   y = R.add(x, x)   y = R.call_tir(cls.add, (x, x), out_sinfo=R.Tensor(...))
//
// and `add` is a private function of the module; equal ones are shared. Some
// become calls of packed functions and of other ops. What has no lowering, or
// lacks extents that a formula needs, stays as it is.
#ifndef KILN_IR_OPS_LEGALIZE_H_
#define KILN_IR_OPS_LEGALIZE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/graph/rewrite.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module whose bindings have struct info (ir/ops/infer.h).
absl::StatusOr<Module> LegalizeOps(const Module& module);

// One call, whose operands and result have this struct info: a call of a tensor
// function, which is added to the module, or what the op expands to, which may
// be a call of other ops. Fields of tuples that it needs are emitted ahead.
// Null where the op stays.
absl::StatusOr<graph::Expr> LegalizeCall(const graph::CallNode& call,
                                         const graph::StructInfo& result,
                                         graph::Emitter& emit, Module& module);

}  // namespace kiln

#endif  // KILN_IR_OPS_LEGALIZE_H_
