#include "kiln/codegen/llvm/compile.h"

#include <map>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/llvm/emitter.h"
#include "kiln/codegen/llvm/optimize.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace kiln {
namespace {

// Turns off the reduction of strength in loops: a quarter of the time that code
// generation takes, to save an instruction or two in a loop whose indices
// lowering has put in order already. LLVM offers no other way than its option.
void DisableStrengthReduction() {
  static const bool done = [] {
    auto& options = llvm::cl::getRegisteredOptions();
    auto found = options.find("disable-lsr");
    if (found == options.end()) return false;
    return !found->second->addOccurrence(0, "disable-lsr", "true");
  }();
  static_cast<void>(done);
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(
    const Target& target) {
  DisableStrengthReduction();
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) return absl::InvalidArgumentError(error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less));
  if (!machine) {
    return absl::InternalError(
        absl::StrCat("LLVM has no code generator for ", target.triple));
  }
  return machine;
}

// This thread's code generator for `target`.
absl::StatusOr<llvm::TargetMachine*> GetMachine(const Target& target) {
  thread_local std::map<std::string, std::unique_ptr<llvm::TargetMachine>>
      machines;
  auto& machine = machines[target.Fingerprint()];
  if (!machine) {
    KILN_ASSIGN_OR_RETURN(machine, MakeMachine(target));
  }
  return machine.get();
}

// An optimized LLVM module, and the context that it lives in.
struct Compilation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine* machine = nullptr;
};

absl::StatusOr<Compilation> EmitAndOptimize(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target) {
  Compilation result;
  KILN_ASSIGN_OR_RETURN(result.machine, GetMachine(target));
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = std::make_unique<llvm::Module>(symbol, *result.context);
  result.module->setTargetTriple(target.triple);
  result.module->setDataLayout(result.machine->createDataLayout());
  codegen_internal::Emitter emitter(result.module.get(), target);
  absl::Status status = emitter.EmitKernel(lowered, symbol);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("function ", lowered.name, ": ",
                                     std::string(status.message())));
  }
  std::string error;
  llvm::raw_string_ostream stream(error);
  if (llvm::verifyModule(*result.module, &stream)) {
    return absl::InternalError(absl::StrCat(
        "function ", lowered.name, " gives invalid LLVM IR: ", stream.str()));
  }
  codegen_internal::Optimize(*result.module, *result.machine);
  return result;
}

absl::StatusOr<std::string> EmitFile(const Function& lowered,
                                     const std::string& symbol,
                                     const Target& target,
                                     llvm::CodeGenFileType type) {
  KILN_ASSIGN_OR_RETURN(Compilation compiled,
                        EmitAndOptimize(lowered, symbol, target));
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (compiled.machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    return absl::InternalError("LLVM cannot write this kind of file");
  }
  passes.run(*compiled.module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

absl::StatusOr<std::string> CompileToObject(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target) {
  return EmitFile(lowered, symbol, target, llvm::CodeGenFileType::ObjectFile);
}

absl::StatusOr<std::string> CompileToAssembly(const Function& lowered,
                                              const std::string& symbol,
                                              const Target& target) {
  return EmitFile(lowered, symbol, target, llvm::CodeGenFileType::AssemblyFile);
}

absl::StatusOr<std::string> CompileToLlvmIr(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target) {
  KILN_ASSIGN_OR_RETURN(Compilation compiled,
                        EmitAndOptimize(lowered, symbol, target));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled.module->print(stream, nullptr);
  return text;
}

std::string CompilerVersion() { return LLVM_VERSION_STRING; }

}  // namespace kiln
