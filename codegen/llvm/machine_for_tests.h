// LLVM's description of an x86 processor, for tests of passes over its code.
#ifndef KILN_CODEGEN_LLVM_MACHINE_FOR_TESTS_H_
#define KILN_CODEGEN_LLVM_MACHINE_FOR_TESTS_H_

#include <memory>
#include <string>

#include "llvm/Target/TargetMachine.h"

namespace kiln::codegen_internal {

// `cpu` as LLVM calls it, such as "haswell", on Linux.
std::unique_ptr<llvm::TargetMachine> MachineForTests(const std::string& cpu);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_MACHINE_FOR_TESTS_H_
