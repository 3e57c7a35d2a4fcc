// Steps of a sum that are unrolled read some elements in common: of a
// convolution along a row of pixels, what tap 2 of a pixel reads is what tap 0
// of a later one has read. LLVM loads it once and keeps it, and where the sums
// fill the registers, keeps it on the stack:
//
//   x2 = spread(A[2]), x4 = ...         x2 = spread(A[2])
//   C0 += x2 * B0                       C0 += x2 * B0
//   ...                           ->    ...
//   (x2 to the stack, and back)         x2' = spread(A[2])
//   C1 += x2 * B2                       C1 += x2' * B2
//
// Loading it again from where it lies takes a load as well, and no store.
//
// A 7x7 convolution of 3 channels, stride 2, tiles of 6 x 16 of which 21 steps
// are unrolled, AVX2 registers of a Sapphire Rapids: 95 GFLOP/s without, 114
// with.
#include "kiln/codegen/llvm/reload_across_steps.h"

#include "kiln/codegen/llvm/register_pressure.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen_internal {
namespace {

using StepOf = llvm::DenseMap<const llvm::Instruction*, int>;

StepOf StepsOf(const llvm::BasicBlock& block,
               const std::vector<llvm::Instruction*>& beginnings) {
  StepOf steps;
  int step = 0;
  for (const llvm::Instruction& instruction : block) {
    if (static_cast<size_t>(step) < beginnings.size() &&
        &instruction == beginnings[step]) {
      ++step;
    }
    steps[&instruction] = step;
  }
  return steps;
}

bool MayChangeMemory(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const bool is_prefetch =
      call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  return instruction.mayWriteToMemory() && !is_prefetch;
}

// The uses of `value` in steps after its own, by step.
llvm::MapVector<int, std::vector<llvm::Use*>> LaterUses(
    llvm::Instruction& value, const StepOf& steps) {
  llvm::MapVector<int, std::vector<llvm::Use*>> later;
  for (llvm::Use& use : value.uses()) {
    auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto step = steps.find(user);
    if (step == steps.end() || llvm::isa<llvm::PHINode>(user)) continue;
    if (step->second > steps.lookup(&value)) {
      later[step->second].push_back(&use);
    }
  }
  return later;
}

// A copy of the load before the first of `uses`, which read it from then on.
void ReloadFor(const std::vector<llvm::Use*>& uses,
               const std::vector<llvm::Instruction*>& parts) {
  auto* first = llvm::cast<llvm::Instruction>(uses[0]->getUser());
  for (const llvm::Use* use : uses) {
    auto* user = llvm::cast<llvm::Instruction>(use->getUser());
    if (user->comesBefore(first)) first = user;
  }
  llvm::Instruction* behind = nullptr;  // the part that reads the next one
  for (llvm::Instruction* part : parts) {
    llvm::Instruction* copy = part->clone();
    copy->insertBefore(behind ? behind : first);
    if (behind) {
      behind->replaceUsesOfWith(part, copy);
    } else {
      for (llvm::Use* use : uses) use->set(copy);
    }
    behind = copy;
  }
}

}  // namespace

bool ReloadAcrossSteps(llvm::BasicBlock& block,
                       const std::vector<llvm::Instruction*>& beginnings,
                       const llvm::TargetTransformInfo& target) {
  const RegisterFile registers(target);
  if (beginnings.empty() || llvm::any_of(block, MayChangeMemory) ||
      MostAtATime(block, registers) <= registers.count()) {
    return false;
  }
  const StepOf steps = StepsOf(block, beginnings);
  std::vector<llvm::Instruction*> values;
  for (llvm::Instruction& value : block) values.push_back(&value);
  bool changed = false;
  for (llvm::Instruction* value : values) {
    const auto parts = PartsOfLoad(*value);
    if (parts.empty() || parts.back()->getParent() != &block) continue;
    for (const auto& [step, uses] : LaterUses(*value, steps)) {
      ReloadFor(uses, parts);
      changed = true;
    }
  }
  return changed;
}

}  // namespace kiln::codegen_internal
