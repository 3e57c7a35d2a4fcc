#include "kiln/codegen/llvm/register_pressure.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"

namespace kiln::codegen_internal {

RegisterFile::RegisterFile(const llvm::TargetTransformInfo& target)
    : count_(target.getNumberOfRegisters(
          target.getRegisterClassForType(/*Vector=*/true))),
      bits_(target
                .getRegisterBitWidth(
                    llvm::TargetTransformInfo::RGK_FixedWidthVector)
                .getFixedValue()) {}

int64_t RegisterFile::For(const llvm::Value& value) const {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  if (!type || llvm::isa<llvm::Constant>(value) ||
      llvm::isa<llvm::InsertElementInst>(value) || bits_ == 0) {
    return 0;
  }
  const int64_t bits = type->getPrimitiveSizeInBits().getFixedValue();
  return std::max<int64_t>(1, (bits + bits_ - 1) / bits_);
}

int64_t MostAtATime(const llvm::BasicBlock& block,
                    const RegisterFile& registers) {
  llvm::SmallPtrSet<const llvm::Value*, 32> live;
  int64_t filled = 0;
  const auto begin = [&](const llvm::Value& value) {
    if (live.insert(&value).second) filled += registers.For(value);
  };
  for (const llvm::Instruction& value : block) {
    const auto leaves = [&](const llvm::Use& use) {
      const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      return user->getParent() != &block || llvm::isa<llvm::PHINode>(user);
    };
    if (llvm::any_of(value.uses(), leaves)) begin(value);
  }
  int64_t most = filled;
  for (const llvm::Instruction& value : llvm::reverse(block)) {
    if (llvm::isa<llvm::PHINode>(value)) break;
    if (live.erase(&value)) filled -= registers.For(value);
    for (const llvm::Value* operand : value.operands()) {
      const auto* own = llvm::dyn_cast<llvm::Instruction>(operand);
      if (own && own->getParent() == &block) begin(*own);
    }
    most = std::max(most, filled);
  }
  return most;
}

std::vector<llvm::Instruction*> PartsOfLoad(llvm::Instruction& value) {
  if (!value.getType()->isVectorTy()) return {};
  if (llvm::isa<llvm::LoadInst>(value)) return {&value};
  auto* spread = llvm::dyn_cast<llvm::ShuffleVectorInst>(&value);
  if (!spread || !spread->isZeroEltSplat()) return {};
  auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(spread->getOperand(0));
  if (!insert || !insert->hasOneUse()) return {};
  auto* load = llvm::dyn_cast<llvm::LoadInst>(insert->getOperand(1));
  if (!load || !load->hasOneUse()) return {};
  return {spread, insert, load};
}

}  // namespace kiln::codegen_internal
