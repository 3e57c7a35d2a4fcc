// A lowered function passes through four steps in one LLVM module of its own:
//
//   Emitter::EmitKernel → verifyModule → Optimize → Generator::Write
//
// and text of LLVM IR is what the module prints as before the last of them. To
// set up LLVM's code generator takes long compared with its work on one kernel,
// so each thread keeps one for each target and type of file, and runs it on one
// module after the other: a tuning run of many candidates pays once.
#include "kiln/codegen/llvm/compile.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

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
#include "llvm/TargetParser/Triple.h"

namespace kiln {
namespace {

// Whether generators set up from now on have the reduction of strength in
// loops. On x86 it is a quarter of the time that code generation takes, to save
// an instruction or two in a loop whose indices lowering has put in order
// already; multiples of counters are left to step_multiples.h. AArch64 adds
// either a register or a constant to an address, and without it keeps one
// register for each row of a tile, and on the stack those that are too many.
// LLVM offers no other way than its option, which all threads share.
void SetStrengthReduction(bool on) {
  auto& options = llvm::cl::getRegisteredOptions();
  auto found = options.find("disable-lsr");
  if (found == options.end()) return;
  static_cast<llvm::cl::opt<bool>*>(found->second)->setValue(!on);
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeMachine(
    const Target& target) {
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) return absl::InvalidArgumentError(error);
  llvm::TargetOptions options;
  // Where the instructions allow it: a strict function's do not.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less));
  if (!machine) {
    return absl::InternalError(
        absl::StrCat("LLVM has no code generator for ", target.triple));
  }
  return machine;
}

// A code generator for `target` that writes files of one type. It is used for
// many modules, one after the other: to set up its hundred passes takes as long
// as to run a tenth of them.
class Generator {
 public:
  static absl::StatusOr<std::unique_ptr<Generator>> Make(
      const Target& target, llvm::CodeGenFileType type) {
    auto made = std::make_unique<Generator>();
    KILN_ASSIGN_OR_RETURN(made->machine_, MakeMachine(target));
    static auto* const one_at_a_time = new std::mutex;
    const std::lock_guard<std::mutex> lock(*one_at_a_time);
    SetStrengthReduction(llvm::Triple(target.triple).isAArch64());
    if (made->machine_->addPassesToEmitFile(made->passes_, made->stream_,
                                            nullptr, type)) {
      return absl::InternalError("LLVM cannot write this kind of file");
    }
    return made;
  }

  llvm::TargetMachine& machine() { return *machine_; }

  std::string Write(llvm::Module& module) {
    passes_.run(module);
    std::string file(bytes_.begin(), bytes_.end());
    bytes_.clear();
    return file;
  }

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
  llvm::legacy::PassManager passes_;
};

// This thread's code generator for `target`.
absl::StatusOr<Generator*> GetGenerator(const Target& target,
                                        llvm::CodeGenFileType type) {
  thread_local std::map<std::pair<std::string, llvm::CodeGenFileType>,
                        std::unique_ptr<Generator>>
      generators;
  auto& generator = generators[{target.Fingerprint(), type}];
  if (!generator) {
    KILN_ASSIGN_OR_RETURN(generator, Generator::Make(target, type));
  }
  return generator.get();
}

// An optimized LLVM module, and the context that it lives in.
struct Compilation {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

absl::StatusOr<Compilation> EmitAndOptimize(const Function& lowered,
                                            const std::string& symbol,
                                            const Target& target,
                                            llvm::TargetMachine& machine) {
  Compilation result;
  result.context = std::make_unique<llvm::LLVMContext>();
  result.module = std::make_unique<llvm::Module>(symbol, *result.context);
  result.module->setTargetTriple(target.triple);
  result.module->setDataLayout(machine.createDataLayout());
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
  codegen_internal::Optimize(*result.module, machine);
  return result;
}

absl::StatusOr<std::string> EmitFile(const Function& lowered,
                                     const std::string& symbol,
                                     const Target& target,
                                     llvm::CodeGenFileType type) {
  KILN_ASSIGN_OR_RETURN(Generator * generator, GetGenerator(target, type));
  KILN_ASSIGN_OR_RETURN(
      Compilation compiled,
      EmitAndOptimize(lowered, symbol, target, generator->machine()));
  return generator->Write(*compiled.module);
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
  KILN_ASSIGN_OR_RETURN(
      Generator * generator,
      GetGenerator(target, llvm::CodeGenFileType::ObjectFile));
  KILN_ASSIGN_OR_RETURN(
      Compilation compiled,
      EmitAndOptimize(lowered, symbol, target, generator->machine()));
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled.module->print(stream, nullptr);
  return text;
}

std::string CompilerVersion() { return LLVM_VERSION_STRING; }

}  // namespace kiln
