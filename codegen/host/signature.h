// How the host calls a compiled function.
#ifndef KILN_CODEGEN_HOST_SIGNATURE_H_
#define KILN_CODEGEN_HOST_SIGNATURE_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

// The signature of `f`: its buffers in order of the parameters, then its
// scalar parameters, then its symbolic dimensions. Refuses extents, strides and
// offsets that are no KernelDim, and variables in them that no call tells.
// Takes the function before lowering, since that one knows the shapes.
absl::StatusOr<KernelSignature> MakeSignature(const Function& f);

}  // namespace kiln

#endif  // KILN_CODEGEN_HOST_SIGNATURE_H_
