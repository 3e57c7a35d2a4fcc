// The whole way from a scheduled function to a callable kernel.
#ifndef KILN_CODEGEN_HOST_KERNEL_H_
#define KILN_CODEGEN_HOST_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

// A relocatable object that exports `symbol` (vm/library/kernel_abi.h), and
// what it expects of its arguments.
struct CompiledKernel {
  std::string object;
  std::string symbol;  // "kiln_" and the name of the function
  KernelSignature signature;
};

// `f` with its symbolic dimensions as scalar parameters at the end. Lowering
// flattens shapes, from which the order of the dimensions could no longer be
// told; this keeps it as the signature has it.
Function WithDimsAsParams(Function f);

// How much is done to make a kernel fast.
enum class Effort {
  kFull,
  // Only the passes of lowering that others rely on.
  kPlain,
};

// Lowers `f` for the vector registers of `target`, its dimensions as above; up
// to the pass or stage `stop_after` (codegen/lower/pipeline.h), or all the way.
absl::StatusOr<Function> LowerForTarget(const Function& f, const Target& target,
                                        Effort effort = Effort::kFull,
                                        const std::string& stop_after = "");

// Lowers and compiles `f`. The error names the function, the stage and the
// reason.
absl::StatusOr<CompiledKernel> CompileKernel(const Function& f,
                                             const Target& target,
                                             Effort effort = Effort::kFull);

}  // namespace kiln

#endif  // KILN_CODEGEN_HOST_KERNEL_H_
