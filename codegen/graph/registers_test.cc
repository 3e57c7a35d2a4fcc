#include "kiln/codegen/graph/registers.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using vm::Instruction;
using vm::Opcode;
using vm::Operand;

Instruction Make(Opcode op, int32_t dst, std::vector<int32_t> registers,
                 int32_t target = -1) {
  Instruction instruction;
  instruction.op = op;
  instruction.dst = dst;
  instruction.target = target;
  for (int32_t index : registers) {
    instruction.args.push_back({Operand::Kind::kRegister, false, index});
  }
  return instruction;
}

std::string Assigned(vm::Function f) {
  f.name = "f";
  AssignRegisters(&f);
  return vm::ToString({}, f);
}

TEST(RegistersTest, AValueThatNothingReadsAnyMoreGivesItsRegisterAway) {
  vm::Function f;
  f.params = {"x"};
  f.num_registers = 4;
  f.code = {Make(Opcode::kCopy, 1, {0}), Make(Opcode::kCopy, 2, {1}),
            Make(Opcode::kTuple, 3, {2, 2}), Make(Opcode::kReturn, -1, {3})};
  EXPECT_EQ(Assigned(f),
            "f(x) registers 1, dims []\n"
            "  0: %0 = copy(%0!)\n"
            "  1: %0 = copy(%0!)\n"
            "  2: %0 = tuple(%0, %0!)\n"
            "  3: return(%0!)\n");
}

TEST(RegistersTest, BranchesWriteOneResult) {
  vm::Function f;
  f.params = {"c", "x"};
  f.num_registers = 4;
  f.code = {Make(Opcode::kIf, -1, {0}, 4), Make(Opcode::kTuple, 2, {1}),
            Make(Opcode::kCopy, 3, {2}),   Make(Opcode::kJump, -1, {}, 5),
            Make(Opcode::kCopy, 3, {1}),   Make(Opcode::kReturn, -1, {3})};
  EXPECT_EQ(Assigned(f),
            "f(c, x) registers 2, dims []\n"
            "  0: if(%0!) else -> 4\n"
            "  1: %0 = tuple(%1)\n"
            "  2: %0 = copy(%0!)\n"
            "  3: jump() -> 5\n"
            "  4: %0 = copy(%1!)\n"
            "  5: return(%0!)\n");
}

TEST(RegistersTest, AResultThatNothingReadsIsDropped) {
  vm::Function f;
  f.params = {"x"};
  f.num_registers = 2;
  f.code = {Make(Opcode::kCopy, 1, {0}), Make(Opcode::kReturn, -1, {0})};
  EXPECT_EQ(Assigned(f),
            "f(x) registers 1, dims []\n"
            "  0: copy(%0)\n"
            "  1: return(%0!)\n");
}

}  // namespace
}  // namespace kiln
