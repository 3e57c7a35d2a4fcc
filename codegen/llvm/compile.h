// From a lowered function to machine code.
#ifndef KILN_CODEGEN_LLVM_COMPILE_H_
#define KILN_CODEGEN_LLVM_COMPILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Compiles `lowered` (see codegen/lower) into a relocatable object that exports
// `symbol` with the kernel ABI. Refers to nothing outside but libm.
// Thread-safe: each thread keeps a code generator of its own for the target.
absl::StatusOr<std::string> CompileToObject(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target);

// The same at an earlier or a more readable stage: LLVM IR after optimization,
// and assembly.
absl::StatusOr<std::string> CompileToLlvmIr(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target);
absl::StatusOr<std::string> CompileToAssembly(const Function& lowered,
                                              const std::string& symbol,
                                              const Target& target);

// The release of LLVM that generates the code, such as "19.1.7".
std::string CompilerVersion();

}  // namespace kiln

#endif  // KILN_CODEGEN_LLVM_COMPILE_H_
