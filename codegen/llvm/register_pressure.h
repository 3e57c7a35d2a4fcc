// How many vector registers a block of code asks for. Internal to codegen/llvm.
#ifndef KILN_CODEGEN_LLVM_REGISTER_PRESSURE_H_
#define KILN_CODEGEN_LLVM_REGISTER_PRESSURE_H_

#include <cstdint>
#include <vector>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Value.h"

namespace kiln::codegen_internal {

// The vector registers of a target.
class RegisterFile {
 public:
  explicit RegisterFile(const llvm::TargetTransformInfo& target);

  int64_t count() const { return count_; }

  // Those that `value` fills. A vector under construction is no value.
  int64_t For(const llvm::Value& value) const;

 private:
  int64_t count_, bits_;
};

// The most registers that values of `block` fill at a time.
int64_t MostAtATime(const llvm::BasicBlock& block,
                    const RegisterFile& registers);

// Of a vector that spreads one loaded element over its lanes: the parts, the
// last one first. Of a load of a vector, itself. Else nothing.
std::vector<llvm::Instruction*> PartsOfLoad(llvm::Instruction& value);

}  // namespace kiln::codegen_internal

#endif  // KILN_CODEGEN_LLVM_REGISTER_PRESSURE_H_
