// Tensors that live one after the other share memory.
//
//   a = R.builtin.alloc_tensor(R.shape([8]), "float32", 0, "global")
//
//   s = R.memory.alloc_storage(R.shape([32]), 0, "global", "float32")
//   a = R.memory.alloc_tensor(s, 0, R.shape([8]), "float32", 0)
//
// and a later tensor, allocated when nothing reads `a` any more, is taken from
// `s`, too. A storage is as large as the largest that is taken from it.
#ifndef KILN_IR_TRANSFORM_GRAPH_PLAN_MEMORY_H_
#define KILN_IR_TRANSFORM_GRAPH_PLAN_MEMORY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

struct PlanMemoryOptions {
  // Tensors of less stay allocated on their own: to take them from a storage
  // costs a call, and they are found in a cache anyway.
  int64_t least_bytes = 0;
  // Tensors of known size of a sequence are parts of one storage (arena.h),
  // which takes less than storages that tensors have one after the other.
  bool joins_storages = false;
};

// Takes a module with struct info whose calls hand over tensors for results
// (lower_call_tir.h). What a function gives, and what branches or local
// functions use from outside, stays allocated on its own; with the attribute
// "relax.memory_plan_dynamic_func_output", which is taken off, results of
// symbolic extents have a storage each. Sizes are bounded as memory_size.h
// says; symbolic ones share where they are equal.
absl::StatusOr<Module> PlanMemory(const Module& module,
                                  const PlanMemoryOptions& options = {});

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_PLAN_MEMORY_H_
