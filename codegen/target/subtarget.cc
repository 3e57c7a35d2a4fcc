#include "kiln/codegen/target/subtarget.h"

#include <mutex>
#include <string>

#include "kiln/base/machine.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

namespace kiln::codegen_internal {
namespace {

// Registers the code generators that CanEmit speaks of.
void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // of the system call for tiles
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

// Whether vdpbf16ps takes no longer than a multiply-add. AMD's guides say so of
// Zen 4 and 5; a Xeon of the fourth generation has half the rate, so that 512 x
// 512 x 512 takes 3.4 ms with it and 3.0 with conversions to float32.
bool MultipliesBf16Fast(const std::string& cpu) {
  return cpu.rfind("znver", 0) == 0;
}

VectorRegisters VectorsOf(const Target& target,
                          const llvm::MCSubtargetInfo& subtarget) {
  if (!llvm::Triple(target.triple).isX86()) return kNeonRegisters;
  const auto has = [&](const char* features) {
    return subtarget.checkFeatures(features);
  };
  VectorRegisters vectors = has("+avx512f") ? kAvx512Registers
                            : has("+avx")   ? kAvxRegisters
                                            : kSseRegisters;
  const bool has_pairs = has("+avx512f") ? has("+avx512bw,+avx512vl")
                         : has("+avx")   ? has("+avx2")
                                         : has("+sse2");
  const bool has_quads = has("+avx512f") ? has("+avx512vnni") : has("+avxvnni");
  vectors.dots = {
      .integers = !has_pairs  ? 1
                  : has_quads ? 4
                              : 2,
      .bf16 = has("+avx512bf16,+avx512vl") && MultipliesBf16Fast(target.cpu)};
  if (has("+avx512bw,+avx512vl")) vectors.least_masked_bits = 8;
  const bool may_have_tiles =
      has("+avx512f") && llvm::Triple(target.triple).isOSLinux();
  vectors.tiles = {.bytes = may_have_tiles && has("+amx-tile,+amx-int8"),
                   .bf16 = may_have_tiles && has("+amx-tile,+amx-bf16")};
  return vectors;
}

// This machine where the target is of its architecture.
Machine MachineFor(const Target& target) {
  static const auto* host = [] {
    auto* machine = new Machine;
    ReadCaches(machine);
    return machine;
  }();
  if (IsOfThisArchitecture(target)) return *host;
  return llvm::Triple(target.triple).isAArch64() ? NeoverseMachine()
                                                 : Machine();
}

// Elsewhere than on x86 every CPU has it.
bool HasFma(const Target& target, const llvm::MCSubtargetInfo& subtarget) {
  return !llvm::Triple(target.triple).isX86() ||
         subtarget.checkFeatures("+fma");
}

bool HasBf16(const Target& target, const llvm::MCSubtargetInfo& subtarget) {
  return llvm::Triple(target.triple).isX86() &&
         subtarget.checkFeatures("+avx512bf16,+avx512vl");
}

}  // namespace

bool CanEmit(const llvm::Triple& triple) {
  const bool is_x86 = triple.getArch() == llvm::Triple::x86_64;
  const bool is_arm = triple.getArch() == llvm::Triple::aarch64;
  const auto environment = triple.getEnvironment();
  return (is_x86 || is_arm) && triple.isOSBinFormatELF() &&
         environment != llvm::Triple::GNUX32 &&
         environment != llvm::Triple::GNUILP32;
}

std::unique_ptr<llvm::MCSubtargetInfo> Subtarget(const Target& target) {
  InitializeLlvm();
  std::string error;
  const llvm::Target* llvm_target =
      llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      llvm_target->createMCSubtargetInfo(target.triple, target.cpu,
                                         target.features));
}

void Describe(Target* target) {
  const auto subtarget = Subtarget(*target);
  if (!subtarget) return;
  target->machine = MachineFor(*target);
  target->machine.cores = target->num_cores;
  target->machine.vectors = VectorsOf(*target, *subtarget);
  target->fma = HasFma(*target, *subtarget);
  target->bf16 = HasBf16(*target, *subtarget);
}

}  // namespace kiln::codegen_internal
