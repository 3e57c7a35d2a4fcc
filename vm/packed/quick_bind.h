// Arguments of a kernel bound without an allocation, where nothing about the
// call is unusual: what a machine does for each of many small kernels.
#ifndef KILN_VM_PACKED_QUICK_BIND_H_
#define KILN_VM_PACKED_QUICK_BIND_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {

// A tensor, or an integer where `array` is null.
struct QuickArgument {
  const NDArray* array = nullptr;
  int64_t integer = 0;
};

struct QuickArguments {
  absl::InlinedVector<void*, 8> data;
  absl::InlinedVector<int64_t, 8> scalars;
};

// Whether calls of the kernel can be bound so at all: extents are numbers or
// single scalars, all scalars are int64, and there are no strides and offsets.
bool CanBindQuickly(const KernelSignature& signature);

// True where the arguments are all as BindArguments (vm/library/signature.h)
// wants them, aligned, and none that is written shares memory with another.
// False is no error: somebody else has to say what is wrong, or make copies.
bool BindQuickly(const KernelSignature& signature,
                 absl::Span<const QuickArgument> args, QuickArguments* bound);

}  // namespace kiln

#endif  // KILN_VM_PACKED_QUICK_BIND_H_
