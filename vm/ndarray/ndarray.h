// Tensors in memory, as kernels take them: compact, row-major, on the CPU.
#ifndef KILN_VM_NDARRAY_NDARRAY_H_
#define KILN_VM_NDARRAY_NDARRAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/ndarray/dlpack.h"

namespace kiln {

// A handle: copies share their memory, Clone does not. A default-constructed
// one is null: it has no type and no memory.
class NDArray {
 public:
  NDArray() = default;

  // Memory aligned to 64 bytes, with undefined contents or zeros. Refuses
  // negative extents, sizes that overflow, types without values, and sizes
  // that the system cannot give (RESOURCE_EXHAUSTED).
  static absl::StatusOr<NDArray> Empty(std::vector<int64_t> shape, DType dtype);
  static absl::StatusOr<NDArray> Zeros(std::vector<int64_t> shape, DType dtype);

  // A view of foreign memory of the right size; `keep_alive` lives as long as
  // any handle to it.
  static absl::StatusOr<NDArray> View(void* data, std::vector<int64_t> shape,
                                      DType dtype,
                                      std::shared_ptr<void> keep_alive);

  // Takes over a DLPack tensor without a copy. On an error (another device,
  // strides that are not compact, lanes, an unknown type) the caller keeps it.
  static absl::StatusOr<NDArray> FromDlpack(KilnDlManagedTensor* managed);
  // A DLPack tensor that shares this array's memory. Not for null arrays.
  KilnDlManagedTensor* ToDlpack() const;
  // The same without an owner: for as long as the array is held. Who reads it
  // leaves its shape as it is.
  KilnDlTensor BorrowDlpack() const;

  bool is_null() const { return rep_ == nullptr; }
  // Whether no other handle shares the memory; everything that those did to it
  // is seen. Where they may still be copied, the answer is no more true.
  bool is_unique() const;
  // The accessors below are for arrays that are not null.
  DType dtype() const { return rep_->dtype; }
  absl::Span<const int64_t> shape() const { return rep_->shape; }
  int rank() const { return static_cast<int>(rep_->shape.size()); }
  int64_t num_elements() const { return rep_->num_elements; }
  int64_t bytes() const { return rep_->num_elements * rep_->dtype.bytes(); }
  void* data() const { return rep_->data; }
  template <typename T>
  T* data_as() const {
    return static_cast<T*>(rep_->data);
  }
  // All elements in row-major order. T must be as wide as the element type.
  template <typename T>
  absl::Span<T> elements() const {
    return absl::Span<T>(data_as<T>(), num_elements());
  }

  absl::StatusOr<NDArray> Clone() const;
  // Copies the elements of `other`, which has the same type and shape.
  absl::Status CopyFrom(const NDArray& other) const;

  // "float32[3, 4]"; "null" for a null array.
  std::string TypeString() const;

 private:
  struct Rep {
    void* data = nullptr;
    DType dtype;
    std::vector<int64_t> shape;
    int64_t num_elements = 0;
    std::shared_ptr<void> owner;
  };

  explicit NDArray(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

  std::shared_ptr<const Rep> rep_;
};

// The number of elements, 1 for rank 0. Refuses negative extents and products
// whose bytes at `dtype` overflow 63 bits.
absl::StatusOr<int64_t> CheckedNumElements(absl::Span<const int64_t> shape,
                                           DType dtype);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_NDARRAY_H_
