// Results of calls become tensors that the program allocates and hands over.
//
//   lv = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((n,), "float32"))
//
//   alloc = R.builtin.alloc_tensor(R.shape([n]), "float32", 0, "global")
//   cls.exp(x, alloc)
//   lv = alloc
//
// Calls with numbers become R.vm.call_tir_dyn, those of packed functions
// R.call_packed. Memory is planned afterwards (plan_memory.h).
#ifndef KILN_IR_TRANSFORM_GRAPH_LOWER_CALL_TIR_H_
#define KILN_IR_TRANSFORM_GRAPH_LOWER_CALL_TIR_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes a module with struct info. A function with such a call has no dataflow
// blocks any more, and says "relax.force_pure" where it was pure.
// InvalidArgument, with the variable, for a result whose shape or type nothing
// tells.
absl::StatusOr<Module> LowerCallTir(const Module& module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_LOWER_CALL_TIR_H_
