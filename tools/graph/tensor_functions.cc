// Of def mm(A: T.Buffer((n, 512), "float32"), C: T.Buffer((n,), "float32"))
//
//   mm(A, C) registers 3, dims [n]
//     0: match(%0) tensor float32[n, 512]
//     1: match(%1) tensor float32[n]
//     2: kernel mm(%0, %1)
//     3: %2 = tuple()
//     4: return(%2)
//
// An extent such as n + m is left to the kernel's own check.
#include "kiln/tools/graph/tensor_functions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/host/flop.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/vm/executable/verify.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

bool IsPlain(const KernelDim& dim) {
  return dim.is_constant() || dim.steps().size() == 1;
}

vm::Type TypeOf(const KernelSignature& signature, const KernelParam& param) {
  vm::Type type;
  if (param.kind == KernelParam::Kind::kScalar) {
    type.kind = vm::Type::Kind::kNumber;
    type.dtype = signature.scalars[param.index].dtype;
    if (type.dtype.is_float()) return type;
    type.has_dims = true;
    type.dims = {KernelDim::Symbolic(param.index)};
    return type;
  }
  const KernelBuffer& buffer = signature.buffers[param.index];
  type.kind = vm::Type::Kind::kTensor;
  type.dtype = buffer.dtype;
  type.rank = static_cast<int32_t>(buffer.shape.size());
  type.has_dims =
      std::all_of(buffer.shape.begin(), buffer.shape.end(), IsPlain);
  if (type.has_dims) type.dims = buffer.shape;
  return type;
}

std::string NameOf(const KernelSignature& signature, const KernelParam& param) {
  return param.kind == KernelParam::Kind::kScalar
             ? signature.scalars[param.index].name
             : signature.buffers[param.index].name;
}

vm::Instruction Make(vm::Opcode op, int32_t dst, int32_t index,
                     std::vector<vm::Operand> args) {
  return {op,
          dst,
          index,
          vm::Instruction::kNone,
          vm::Instruction::kNone,
          std::move(args)};
}

vm::Operand Register(int32_t index) {
  return {vm::Operand::Kind::kRegister, false, index};
}

void AddFunction(const std::string& name, int32_t kernel,
                 vm::Executable* executable) {
  constexpr int32_t kNone = vm::Instruction::kNone;
  const KernelSignature& signature = executable->kernels[kernel].signature;
  vm::Function f;
  f.name = name;
  for (const KernelScalar& scalar : signature.scalars) {
    f.dims.push_back(scalar.name);
  }
  std::vector<vm::Operand> args;
  for (const KernelParam& param : signature.params) {
    const auto place = static_cast<int32_t>(f.params.size());
    f.params.push_back(NameOf(signature, param));
    args.push_back(Register(place));
    f.code.push_back(Make(vm::Opcode::kMatch, kNone,
                          static_cast<int32_t>(executable->types.size()),
                          {Register(place)}));
    executable->types.push_back(TypeOf(signature, param));
  }
  const auto result = static_cast<int32_t>(f.params.size());
  f.num_registers = result + 1;
  f.code.push_back(Make(vm::Opcode::kKernel, kNone, kernel, std::move(args)));
  f.code.push_back(Make(vm::Opcode::kTuple, result, kNone, {}));
  f.code.push_back(Make(vm::Opcode::kReturn, kNone, kNone, {Register(result)}));
  executable->functions.push_back(std::move(f));
}

// The kernel of that function, compiled where there is none.
absl::StatusOr<int32_t> KernelOf(const Module& module, const Function& f,
                                 const Target& target,
                                 const Scheduler& schedule,
                                 vm::Executable* executable) {
  for (size_t i = 0; i < executable->kernels.size(); ++i) {
    if (executable->kernels[i].signature.name == f.name) {
      return static_cast<int32_t>(i);
    }
  }
  KILN_ASSIGN_OR_RETURN(const Function scheduled, schedule(module, f));
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel,
                        CompileKernel(scheduled, target));
  KILN_ASSIGN_OR_RETURN(Blob object, Blob::Copy(kernel.object));
  executable->kernels.push_back({std::move(kernel.symbol),
                                 std::move(kernel.signature), std::move(object),
                                 FlopOf(f)});
  return static_cast<int32_t>(executable->kernels.size()) - 1;
}

}  // namespace

absl::Status AddTensorFunctions(const Module& module, const Target& target,
                                const Scheduler& schedule,
                                vm::Executable* executable) {
  for (const Function& f : module.functions) {
    if (f.is_private || executable->Find(f.name) != nullptr) continue;
    KILN_ASSIGN_OR_RETURN(const int32_t kernel,
                          KernelOf(module, f, target, schedule, executable));
    AddFunction(f.name, kernel, executable);
  }
  return vm::Verify(*executable);
}

}  // namespace kiln
