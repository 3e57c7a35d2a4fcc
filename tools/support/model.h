// A module with graph functions, made ready to run.
#ifndef KILN_TOOLS_SUPPORT_MODEL_H_
#define KILN_TOOLS_SUPPORT_MODEL_H_

#include <functional>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// A schedule for a tensor function of a module.
using Scheduler =
    std::function<absl::StatusOr<Function>(const Module&, const Function&)>;

// Functions as they are written.
Scheduler KeepSchedules();
// The default schedules for the target; a function for which there is none
// (kNotFound) stays as it is.
Scheduler DefaultSchedules(const Target& target);

// Whether ops that follow each other become one kernel.
enum class Fusion { kNone, kByPattern };

struct PrepareOptions {
  Fusion fusion = Fusion::kByPattern;
  // Whether graph functions that do not say it allow errors that are small
  // beside the largest elements (ir/tensor/numerics.h).
  bool allows_normwise = false;
  // Of what products and convolutions of float32 are computed: that, float16
  // or bfloat16, with sums of float32 (ir/transform/graph/mixed_precision.h).
  DType precision = DType::Float(32);
};

// Inferred, without functions inside of functions; constants folded, batch
// norms that are fixed in their convolutions, channels last where that pays,
// convolutions by Winograd's methods where that is allowed and pays; then
// legalized and fused.
absl::StatusOr<Module> PrepareModel(const Module& module,
                                    const PrepareOptions& options = {});

// Bytecode for the graph functions of a prepared module, whose intermediate
// tensors share memory, and kernels for the tensor functions that they call.
absl::StatusOr<vm::Executable> CompileModel(const Module& module,
                                            const Target& target,
                                            const Scheduler& schedule);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_MODEL_H_
