// Arguments of a call from C as values, and results that outlive them.
#ifndef KILN_VM_CAPI_ARGUMENTS_H_
#define KILN_VM_CAPI_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::capi {

// The arguments of one call. Tensors are views of the caller's memory.
class Arguments {
 public:
  // The error names the argument by its position, from 0.
  absl::Status Add(const KilnArgument* arguments, int32_t count);

  std::vector<vm::Value>& values() { return values_; }

  // `result` with copies of the tensors that lie in memory of the caller's.
  // Refuses tuples that lie in each other more than a thousand times.
  absl::StatusOr<vm::Value> Detached(vm::Value result, int depth = 0) const;

 private:
  absl::StatusOr<vm::Value> ValueOf(const KilnArgument& argument, int depth);
  absl::StatusOr<vm::Value> TensorOf(const KilnDlTensor* tensor);
  absl::StatusOr<vm::Value> TupleOf(const KilnArgument& argument, int depth);
  bool IsBorrowed(const NDArray& array) const;

  std::vector<vm::Value> values_;
  std::vector<NDArray> borrowed_;
};

}  // namespace kiln::capi

#endif  // KILN_VM_CAPI_ARGUMENTS_H_
