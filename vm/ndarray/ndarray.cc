// An array is a shared, unchangeable description (address, type, shape) and the
// owner of its memory, whatever that is: memory of its own, another library's
// tensor, or nothing for a view that somebody else keeps. Shapes are checked
// where a description is made (CheckedNumElements), so sizes in bytes never
// overflow later. From DLPack
//
//   {data p, byte_offset 64, float32, shape [2, 1, 3], strides [3, 7, 1]}
//
// becomes float32[2, 1, 3] at p + 64, without a copy: the stride of an extent
// of 1 does not count. When the last handle goes, the tensor's deleter is
// called. If it is refused, nothing was taken, and the caller still owns it.
#include "kiln/vm/ndarray/ndarray.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "kiln/base/aligned_memory.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr int32_t kMaxRank = 32;

std::string ShapeString(DType dtype, absl::Span<const int64_t> shape) {
  std::string text = dtype.ToString() + "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

uint8_t DlCode(TypeCode code) {
  switch (code) {
    case TypeCode::kInt:
      return KILN_DL_INT;
    case TypeCode::kUInt:
      return KILN_DL_UINT;
    case TypeCode::kFloat:
      return KILN_DL_FLOAT;
    case TypeCode::kBFloat:
      return KILN_DL_BFLOAT;
    case TypeCode::kBool:
      return KILN_DL_BOOL;
    case TypeCode::kHandle:
    case TypeCode::kVoid:
      return KILN_DL_HANDLE;
  }
  return KILN_DL_HANDLE;
}

KilnDlType ToDlType(DType dtype) {
  const int bits = dtype.is_bool() ? 8 : dtype.bits();
  return {DlCode(dtype.code()), static_cast<uint8_t>(bits), 1};
}

std::optional<DType> FromDlType(KilnDlType type) {
  static constexpr DType kTypes[] = {
      DType::Int(8),    DType::Int(16),    DType::Int(32),   DType::Int(64),
      DType::UInt(8),   DType::UInt(16),   DType::UInt(32),  DType::UInt(64),
      DType::Float(16), DType::BFloat16(), DType::Float(32), DType::Float(64),
      DType::Bool()};
  for (DType dtype : kTypes) {
    const KilnDlType known = ToDlType(dtype);
    if (known.code == type.code && known.bits == type.bits &&
        known.lanes == type.lanes) {
      return dtype;
    }
  }
  return std::nullopt;
}

bool IsCompact(const KilnDlTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = tensor.ndim - 1; i >= 0; --i) {
    const int64_t extent = tensor.shape[i];
    if (extent == 0) return true;
    if (extent != 1 && tensor.strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, extent, &expected)) return false;
  }
  return true;
}

absl::Status CheckDlpack(const KilnDlTensor& tensor) {
  if (tensor.device.type != KILN_DL_CPU) {
    return Invalid("the DLPack tensor lies on device type " +
                   std::to_string(tensor.device.type) +
                   "; copy it to the CPU first");
  }
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank ||
      (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return Invalid("the DLPack tensor has rank " + std::to_string(tensor.ndim) +
                   " or no shape; ranks up to " + std::to_string(kMaxRank) +
                   " are supported");
  }
  if (!FromDlType(tensor.dtype)) {
    return Invalid("the DLPack tensor has an unsupported element type (code " +
                   std::to_string(tensor.dtype.code) + ", bits " +
                   std::to_string(tensor.dtype.bits) + ", lanes " +
                   std::to_string(tensor.dtype.lanes) + ")");
  }
  if (!IsCompact(tensor)) {
    return Invalid(
        "the DLPack tensor is strided; make it contiguous (row-major) first");
  }
  return absl::OkStatus();
}

// What ToDlpack hands out: the struct, and what it points to.
struct Exported {
  KilnDlManagedTensor managed;
  std::vector<int64_t> shape;
  std::shared_ptr<const void> keep_alive;
};

}  // namespace

absl::StatusOr<int64_t> CheckedNumElements(absl::Span<const int64_t> shape,
                                           DType dtype) {
  if (!dtype.is_scalar() || dtype.is_void() || dtype.is_handle()) {
    return Invalid("no tensor can have elements of type " + dtype.ToString());
  }
  if (shape.size() > kMaxRank) {
    return Invalid("rank " + std::to_string(shape.size()) + " is over " +
                   std::to_string(kMaxRank));
  }
  int64_t elements = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0) {
      return Invalid("negative extent in " + ShapeString(dtype, shape));
    }
    empty |= extent == 0;
  }
  if (empty) return 0;
  int64_t bytes = dtype.bytes();
  for (int64_t extent : shape) {
    elements = static_cast<int64_t>(static_cast<uint64_t>(elements) * extent);
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return Invalid("the size of " + ShapeString(dtype, shape) +
                     " overflows 63 bits");
    }
  }
  return elements;
}

absl::StatusOr<NDArray> NDArray::Empty(std::vector<int64_t> shape,
                                       DType dtype) {
  KILN_ASSIGN_OR_RETURN(const int64_t elements,
                        CheckedNumElements(shape, dtype));
  AlignedMemory memory = AllocateAligned(elements * dtype.bytes());
  if (memory == nullptr) {
    return absl::ResourceExhaustedError("no memory for " +
                                        ShapeString(dtype, shape));
  }
  auto rep = std::make_shared<Rep>();
  rep->data = memory.get();
  rep->dtype = dtype;
  rep->shape = std::move(shape);
  rep->num_elements = elements;
  rep->owner = std::move(memory);
  return NDArray(std::move(rep));
}

absl::StatusOr<NDArray> NDArray::Zeros(std::vector<int64_t> shape,
                                       DType dtype) {
  KILN_ASSIGN_OR_RETURN(NDArray array, Empty(std::move(shape), dtype));
  std::memset(array.data(), 0, array.bytes());
  return array;
}

absl::StatusOr<NDArray> NDArray::View(void* data, std::vector<int64_t> shape,
                                      DType dtype,
                                      std::shared_ptr<void> keep_alive) {
  KILN_ASSIGN_OR_RETURN(const int64_t elements,
                        CheckedNumElements(shape, dtype));
  if (data == nullptr && elements > 0) {
    return Invalid("a view of " + ShapeString(dtype, shape) +
                   " needs memory, got a null address");
  }
  auto rep = std::make_shared<Rep>();
  rep->data = data;
  rep->dtype = dtype;
  rep->shape = std::move(shape);
  rep->num_elements = elements;
  rep->owner = std::move(keep_alive);
  return NDArray(std::move(rep));
}

absl::StatusOr<NDArray> NDArray::FromDlpack(KilnDlManagedTensor* managed) {
  if (managed == nullptr) return Invalid("the DLPack tensor is null");
  const KilnDlTensor& tensor = managed->tensor;
  KILN_RETURN_IF_ERROR(CheckDlpack(tensor));
  char* data = static_cast<char*>(tensor.data);
  if (data != nullptr) data += tensor.byte_offset;
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  KILN_ASSIGN_OR_RETURN(NDArray view, View(data, std::move(shape),
                                           *FromDlType(tensor.dtype), nullptr));
  auto rep = std::make_shared<Rep>(*view.rep_);
  rep->owner = std::shared_ptr<void>(managed, [](void* self) {
    auto* tensor = static_cast<KilnDlManagedTensor*>(self);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  return NDArray(std::move(rep));
}

bool NDArray::is_unique() const {
  if (rep_.use_count() != 1) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return true;
}

KilnDlTensor NDArray::BorrowDlpack() const {
  return {rep_->data,
          {KILN_DL_CPU, 0},
          rank(),
          ToDlType(dtype()),
          const_cast<int64_t*>(rep_->shape.data()),
          nullptr,
          0};
}

KilnDlManagedTensor* NDArray::ToDlpack() const {
  auto* exported = new Exported;
  exported->shape = rep_->shape;
  exported->keep_alive = rep_;
  exported->managed.tensor = BorrowDlpack();
  exported->managed.tensor.shape = exported->shape.data();
  exported->managed.owner = exported;
  exported->managed.deleter = [](KilnDlManagedTensor* self) {
    delete static_cast<Exported*>(self->owner);
  };
  return &exported->managed;
}

absl::StatusOr<NDArray> NDArray::Clone() const {
  KILN_ASSIGN_OR_RETURN(NDArray copy, Empty(rep_->shape, dtype()));
  KILN_RETURN_IF_ERROR(copy.CopyFrom(*this));
  return copy;
}

absl::Status NDArray::CopyFrom(const NDArray& other) const {
  if (is_null() || other.is_null() || dtype() != other.dtype() ||
      shape() != other.shape()) {
    return Invalid("cannot copy " + other.TypeString() + " into " +
                   TypeString());
  }
  if (bytes() > 0) std::memmove(data(), other.data(), bytes());
  return absl::OkStatus();
}

std::string NDArray::TypeString() const {
  return is_null() ? "null" : ShapeString(dtype(), shape());
}

}  // namespace kiln
