// How much memory tensors take, which may be more than an integer counts.
// Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
#define KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_

#include "kiln/ir/tensor/module.h"

namespace kiln::lower {

// Of a buffer of one dimension; 0 where its extent is not known.
double BytesOf(const Buffer& buffer);

// Of the parameters of `f` and of what it allocates, where it is known.
double TensorBytes(const Function& f);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
