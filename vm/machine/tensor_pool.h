// Memory for tensors that come and go: what a tensor gives back is handed to
// the next one of a like size, so a warm machine does not reach malloc.
#ifndef KILN_VM_MACHINE_TENSOR_POOL_H_
#define KILN_VM_MACHINE_TENSOR_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::vm {

// Tensors may outlive the pool and be dropped by any thread.
class TensorPool {
 public:
  TensorPool();
  ~TensorPool();
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;

  // As NDArray::Empty.
  absl::StatusOr<NDArray> Empty(std::vector<int64_t> shape, DType dtype);

  // Bytes that idle blocks hold; Trim gives them back to the system.
  uint64_t IdleBytes() const;
  void Trim();

 private:
  struct Blocks;
  std::shared_ptr<Blocks> blocks_;
};

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_TENSOR_POOL_H_
