// How much memory tensors take, which may be more than an integer counts.
// Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
#define KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_

#include "kiln/ir/tensor/module.h"

namespace kiln::lower {

// Of a buffer of one dimension; where its extent is open, of the smallest one,
// whose open dimensions are 1.
double BytesOf(const Buffer& buffer);

// Of the parameters of `f` and of what it allocates.
double TensorBytes(const Function& f);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
