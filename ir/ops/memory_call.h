// What calls that manage memory do, however they are spelled.
//
//   R.builtin.alloc_tensor(R.shape([n]), "float32", 0, "global")     kAllocate
//   R.memory.alloc_storage(R.shape([4 * n]), 0, "global", "float32") kAllocate
//   R.memory.alloc_tensor(storage, 0, R.shape([n]), "float32", 0)    kTake
//   R.memory.view(x, R.shape([2, 3])),  vm.builtin.reshape(x, shape) kView
//   R.memory.ensure_zero_offset(x),  R.builtin.stop_lift_params(x)   kSame
//   R.memory.kill_tensor(x),  R.memory.kill_storage(s)               kEnd
#ifndef KILN_IR_OPS_MEMORY_CALL_H_
#define KILN_IR_OPS_MEMORY_CALL_H_

#include <optional>

#include "absl/status/statusor.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

enum class MemoryAction {
  kAllocate,  // a new tensor of `info`, its contents undefined
  kTake,  // a part of the storage `source` from `offset` on, for a tensor of
          // `info`, its contents undefined; ends what took it before
  kView,  // the bytes of `source` from `offset` on, as a tensor of `info`
  kSame,  // `source`
  kEnd,   // nothing: `source` by this name is not used any more
};

struct MemoryCall {
  MemoryAction action = MemoryAction::kEnd;
  // Of a storage it is a vector of bytes, as uint8.
  graph::StructInfo info;
  graph::Expr source;
  graph::Scalar offset;  // in bytes
};

// nullopt for any other call. InvalidArgument where the arguments do not say
// what the tensor is: without a type, or with a shape of unknown values.
absl::StatusOr<std::optional<MemoryCall>> AsMemoryCall(
    const graph::CallNode& call);

// Whether `call` is `R.builtin.alloc_tensor(...)`.
bool IsTensorAllocation(const graph::Expr& call);

}  // namespace kiln

#endif  // KILN_IR_OPS_MEMORY_CALL_H_
