// How much memory tensors take, which may be more than an integer counts.
// Internal to codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
#define KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_

#include "absl/types/span.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Of a buffer of one dimension; where its extent is open, of the smallest one,
// whose open dimensions are 1.
double BytesOf(const Buffer& buffer);

// Of the parameters of `f` and of what it allocates.
double TensorBytes(const Function& f);

// Of `bytes`, the share of one of `cores`, where those of `loops` that run in
// parallel give each a part of what `index` points to.
double ShareOfCore(double bytes, absl::Span<const ForNode* const> loops,
                   const Expr& index, int cores);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_TENSOR_BYTES_H_
