// Functions as machine code in this process.
#ifndef KILN_TOOLS_SUPPORT_EXECUTE_H_
#define KILN_TOOLS_SUPPORT_EXECUTE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {

// Compiles `f` and loads the object.
absl::StatusOr<LoadedKernel> CompileAndLoad(const Function& f,
                                            const Target& target);

// Compiles `f` for `target` and runs it once on a tensor for each parameter,
// in place, with target.num_cores threads. The compiled counterpart of
// Interpret (ir/interp/interp.h).
absl::Status RunCompiled(const Function& f, std::vector<Tensor>& args,
                         const Target& target);

// Copies between the interpreter's tensors and the runtime's.
absl::StatusOr<NDArray> ToNDArray(const Tensor& tensor);
Tensor ToTensor(const NDArray& array);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_EXECUTE_H_
