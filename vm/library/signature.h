// What a compiled kernel expects of its arguments, and the check against it.
//
// A kernel (kernel_abi.h) sees two flat lists: base addresses of buffers, and
// 64-bit scalars. The signature names both, says which of them the caller
// passes and in which order, and which are found from the shapes of arguments.
// All arguments are compact and row-major. A function may name their strides
// and offsets all the same.
#ifndef KILN_VM_LIBRARY_SIGNATURE_H_
#define KILN_VM_LIBRARY_SIGNATURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/library/kernel_dim.h"

namespace kiln {

struct KernelBuffer {
  std::string name;
  DType dtype;
  std::vector<KernelDim> shape;
  int64_t alignment = 64;  // The base address is a multiple of it, in bytes.
  bool written = false;    // The kernel writes to it.
  // In elements, those of arguments without gaps have to be it; none: any.
  std::vector<KernelDim> strides;
  // In elements, which has to be 0: tensors begin at their address.
  KernelDim offset;
  // Buffers, by number, that are only read and may be the same tensor as this
  // one, which is written ("in_place_buffers", ir/tensor/in_place.h).
  std::vector<int> in_place_of;
  friend bool operator==(const KernelBuffer&, const KernelBuffer&) = default;
};

// A scalar parameter, or one that only the shapes of arguments tell.
struct KernelScalar {
  std::string name;
  DType dtype = DType::Index();
  friend bool operator==(const KernelScalar&, const KernelScalar&) = default;
};

// One parameter as the caller passes it: buffers[index] or scalars[index].
struct KernelParam {
  enum class Kind : uint8_t { kBuffer, kScalar };
  Kind kind = Kind::kBuffer;
  int index = 0;
  friend bool operator==(const KernelParam&, const KernelParam&) = default;
};

struct KernelSignature {
  std::string name;
  std::vector<KernelBuffer> buffers;  // In the order of the kernel's `data`.
  std::vector<KernelScalar> scalars;  // In the order of `scalars`.
  // What the caller passes, in order. Every buffer occurs once. A scalar that
  // does not occur is found from the shapes: it is an extent, a stride or an
  // offset of some buffer, or the one unknown in n + m, 2 * n - 1 and the like.
  std::vector<KernelParam> params;
  // The function declares that what it writes is no other argument's memory
  // ("tir.noalias"): such a call is a mistake. Without the declaration whoever
  // calls may take a copy of what is only read (LoadedKernel::Call).
  bool noalias = false;

  friend bool operator==(const KernelSignature&,
                         const KernelSignature&) = default;
};

// One argument of a call. A buffer has `data`, `dtype` and `shape`; a scalar
// has `value`, encoded as kernel_abi.h says.
struct KernelArgument {
  KernelParam::Kind kind = KernelParam::Kind::kBuffer;
  void* data = nullptr;
  DType dtype;
  absl::Span<const int64_t> shape;
  int64_t value = 0;
};

// What a kernel is called with.
struct BoundArguments {
  std::vector<void*> data;
  std::vector<int64_t> scalars;
};

// The alignment in bytes that a kernel may rely on for a buffer that is
// declared with `stated` and has elements of `element_bytes`: the largest power
// of two that divides `stated`, at least an element and at most
// KILN_KERNEL_ALIGNMENT.
int64_t KernelAlignment(int64_t stated, int64_t element_bytes);

// The signature as a line, such as
// "mm(A: float32[n, 512], B: out float32[n], k: int32)".
std::string ToString(const KernelSignature& signature);
// One buffer of it: "float32[n + m, 512]", "float32[n, 8] strides [s, 1]".
std::string ToString(const KernelSignature& signature,
                     const KernelBuffer& buffer);
std::string ToString(const KernelSignature& signature, const KernelDim& dim);

// Refuses a signature that contradicts itself: an index out of range, a buffer
// passed never or twice, a scalar that no argument determines, a type that has
// no values in memory, a negative extent, an alignment that is no power of two
// up to 64, a constant offset.
absl::Status CheckSignature(const KernelSignature& signature);

// The shape of the argument for each parameter; none for scalars and for those
// that are not known yet.
using ArgumentShapes = std::vector<std::optional<absl::Span<const int64_t>>>;

// What is known of the scalars, and the parameter that told it.
struct ScalarValues {
  explicit ScalarValues(size_t count) : values(count), params(count) {}
  std::vector<std::optional<int64_t>> values;
  std::vector<size_t> params;
};

// Finds what `shapes`, of as many dimensions as the buffers, tell of the
// scalars that have no value yet. Does not compare shapes.
void FindScalars(const KernelSignature& signature, const ArgumentShapes& shapes,
                 ScalarValues* scalars);

// Checks the arguments of a call against a well-formed signature: their number
// and kinds, types, ranks, extents, strides and offsets (the same value for the
// same symbol everywhere), alignment, addresses that are not null, and as
// CheckApart. The error names the parameter, what was expected and what came.
absl::StatusOr<BoundArguments> BindArguments(
    const KernelSignature& signature, absl::Span<const KernelArgument> args);

// Whether `a` and `b` have a byte in common.
bool ShareMemory(const KernelArgument& a, const KernelArgument& b);
// Whether buffer `written` of the signature may be the tensor that buffer
// `other` is.
bool MayBeInPlace(const KernelSignature& signature, int written, int other);

// Refuses buffers that the kernel writes and that share memory with another
// argument. As many arguments as parameters, of their kinds.
absl::Status CheckApart(const KernelSignature& signature,
                        absl::Span<const KernelArgument> args);

// A compact binary form and back. Reading accepts any bytes: what is cut short,
// of another version or not well-formed is an error.
std::string Serialize(const KernelSignature& signature);
absl::StatusOr<KernelSignature> ParseKernelSignature(std::string_view bytes);

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_SIGNATURE_H_
