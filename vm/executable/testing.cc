#include "kiln/vm/executable/testing.h"

#include <utility>

namespace kiln::vm {
namespace {

Operand Register(int32_t index, bool is_last = false) {
  return {Operand::Kind::kRegister, is_last, index};
}
Operand Constant(int32_t index) {
  return {Operand::Kind::kConstant, false, index};
}
Operand Number(int32_t index) { return {Operand::Kind::kNumber, false, index}; }

Instruction Make(Opcode op, int32_t dst, int32_t index,
                 std::vector<Operand> args, int32_t target = -1) {
  return {op, dst, index, target, 0, std::move(args)};
}

Function Main() {
  Function f;
  f.name = "main";
  f.params = {"x", "flag"};
  f.num_registers = 5;
  f.dims = {"n"};
  f.numbers = {KernelDim::Compound(KernelDim::Op::kMul, KernelDim::Symbolic(0),
                                   KernelDim::Constant(2)),
               KernelDim::Constant(3)};
  f.code = {
      Make(Opcode::kMatch, -1, 0, {Register(0)}),
      Make(Opcode::kIf, -1, -1, {Register(1)}, 6),
      Make(Opcode::kFunction, 2, 1, {Register(1, true)}),
      Make(Opcode::kShape, 3, -1, {Number(0), Number(1)}),
      Make(Opcode::kTuple, 4, -1,
           {Register(0, true), Register(2, true), Register(3, true)}),
      Make(Opcode::kJump, -1, -1, {}, 8),
      Make(Opcode::kMakeClosure, 2, 2, {Register(0, true)}),
      Make(Opcode::kClosure, 4, -1, {Register(2, true), Constant(0)}),
      Make(Opcode::kReturn, -1, -1, {Register(4, true)}),
  };
  return f;
}

Function Twice() {
  Function f;
  f.name = "twice";
  f.is_private = true;
  f.params = {"x"};
  f.num_registers = 2;
  f.code = {
      Make(Opcode::kTuple, 1, -1, {Register(0), Register(0, true)}),
      Make(Opcode::kReturn, -1, -1, {Register(1, true)}),
  };
  return f;
}

Function Pair() {
  Function f;
  f.name = "pair";
  f.params = {"a", "b"};
  f.num_registers = 3;
  f.code = {
      Make(Opcode::kTuple, 2, -1, {Register(0, true), Register(1, true)}),
      Make(Opcode::kReturn, -1, -1, {Register(2, true)}),
  };
  return f;
}

}  // namespace

Executable SmallExecutable() {
  Executable executable;
  executable.target = "llvm";
  executable.compiler = "LLVM 19";
  Type tensor;
  tensor.kind = Type::Kind::kTensor;
  tensor.dtype = DType::Float(32);
  tensor.rank = 2;
  tensor.has_dims = true;
  tensor.dims = {KernelDim::Symbolic(0), KernelDim::Constant(2)};
  executable.types = {tensor};
  const float values[] = {1, 2, 3};
  executable.constants = {TensorConstant{
      DType::Float(32),
      {3},
      *Blob::Copy({reinterpret_cast<const char*>(values), sizeof(values)})}};
  executable.strings = {"y"};
  executable.functions = {Main(), Twice(), Pair()};
  return executable;
}

}  // namespace kiln::vm
