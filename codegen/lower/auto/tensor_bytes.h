// How much memory tensors take. Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
#define KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_

#include <cstdint>

#include "kiln/ir/tensor/module.h"

namespace kiln::lower {

// Of a buffer of one dimension; 0 where its extent is not known.
int64_t BytesOf(const Buffer& buffer);

// Of the parameters of `f` and of what it allocates, where it is known.
int64_t TensorBytes(const Function& f);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
