#include "kiln/codegen/llvm/machine_for_tests.h"

#include <optional>

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

namespace kiln::codegen_internal {

std::unique_ptr<llvm::TargetMachine> MachineForTests(const std::string& cpu) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  const std::string triple = "x86_64-unknown-linux-gnu";
  std::string error;
  const llvm::Target* target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, "", llvm::TargetOptions(), std::nullopt));
}

}  // namespace kiln::codegen_internal
