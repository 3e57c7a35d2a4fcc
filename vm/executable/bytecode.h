// What a compiled module is: functions of instructions over registers, the
// kernels that they call, and the constants and types that they name.
//
//   main(x, w) registers 3, dims [n]
//     0: match(%0) tensor float32[n, 784]  # x
//     1: match(%1) tensor float32[128, 784]  # w
//     2: %2 = alloc_tensor() tensor float32[n, 128]
//     3: kernel dense(%0!, %1!, %2)
//     4: return(%2!)
//
// Registers hold values of any kind (vm/machine/value.h). Dims are the numbers
// that shapes tell: a match sets those that are new and checks the others, and
// operands compute with them. All jumps lead forward, so a function ends after
// as many instructions as it has, but for what it calls.
#ifndef KILN_VM_EXECUTABLE_BYTECODE_H_
#define KILN_VM_EXECUTABLE_BYTECODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/library/kernel_dim.h"
#include "kiln/vm/library/signature.h"

namespace kiln::vm {

// What a value has to be.
struct Type {
  enum class Kind : uint8_t {
    kAny,
    kNumber,    // `dtype`; `dims` has its value, or nothing
    kShape,     // `rank`, `dims`
    kTensor,    // `rank`, `dims`, `dtype`
    kTuple,     // `fields`
    kFunction,  //
  };
  static constexpr int kAnyRank = -1;

  Kind kind = Kind::kAny;
  DType dtype;                  // void: any
  int32_t rank = kAnyRank;      //
  bool has_dims = false;        // whether `dims` says the extents
  std::vector<KernelDim> dims;  // over the dims of a function
  std::vector<int32_t> fields;  // types of the executable
  friend bool operator==(const Type&, const Type&) = default;
};

struct Operand {
  enum class Kind : uint8_t {
    kRegister,
    kConstant,  // of the executable
    kNumber,    // an expression of the function: `numbers`
  };
  Kind kind = Kind::kRegister;
  bool is_last = false;  // the register is empty afterwards
  int32_t index = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};

enum class Opcode : uint8_t {
  kKernel,       // kernels[index](args); writes tensors among them
  kFunction,     // dst = functions[index](args)
  kPacked,       // dst = the packed function strings[index](args)
  kClosure,      // dst = args[0](args[1], ...)
  kAllocTensor,  // dst = a tensor of types[index], undefined contents
  kMatch,        // args[0] has to be of types[index]; sets dims
  kCopy,         // dst = args[0]
  kTuple,        // dst = (args...)
  kItem,         // dst = args[0][index]
  kShape,        // dst = a shape of the numbers args
  kShapeOf,      // dst = the shape of the tensor args[0]
  kMakeClosure,  // dst = functions[index] with its last arguments bound
  kIf,           // goes on if args[0] is true, else at `target`
  kJump,         // goes on at `target`
  kReturn,       // args[0]
  kView,         // dst = the bytes of args[0] from args[1] on, as types[index]
};
inline constexpr int kNumOpcodes = static_cast<int>(Opcode::kView) + 1;

struct Instruction {
  static constexpr int32_t kNone = -1;
  Opcode op = Opcode::kReturn;
  int32_t dst = kNone;     // a register; none: the result is dropped
  int32_t index = kNone;   //
  int32_t target = kNone;  // an instruction further down
  int32_t label = kNone;   // strings[label]: the variable, for messages
  std::vector<Operand> args;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct Function {
  std::string name;
  std::vector<std::string> params;  // arrive in the first registers
  int32_t num_registers = 0;
  std::vector<std::string> dims;   // names of the numbers that shapes tell
  std::vector<KernelDim> numbers;  // over `dims`
  bool is_private = false;         // not to be called from outside
  std::vector<Instruction> code;
  friend bool operator==(const Function&, const Function&) = default;
};

// Arithmetic operations that a call needs, as ir/work counts them in the
// program as it was written, whatever its schedule does.
struct KernelFlop {
  KernelDim count;        // over the scalars of the kernel's signature
  bool is_bound = false;  // an upper bound
  friend bool operator==(const KernelFlop&, const KernelFlop&) = default;
};

// A tensor function in machine code.
struct Kernel {
  std::string symbol;
  KernelSignature signature;
  Blob object;  // relocatable; exports `symbol`. Empty in a shared object.
  std::optional<KernelFlop> flop;  // none: not known
  friend bool operator==(const Kernel&, const Kernel&) = default;
};

struct TensorConstant {
  DType dtype;
  std::vector<int64_t> shape;
  Blob data;  // dense, row-major
  friend bool operator==(const TensorConstant&,
                         const TensorConstant&) = default;
};

using Constant =
    std::variant<TensorConstant, int64_t, double, std::string, DType>;

struct Executable {
  std::string target;    // what the kernels were compiled for: "llvm -mcpu=..."
  std::string compiler;  // by what
  std::vector<std::string> cpu_features;  // what they need: base/cpu_features.h
  std::vector<Function> functions;
  std::vector<Kernel> kernels;
  std::vector<Type> types;
  std::vector<Constant> constants;
  std::vector<std::string> strings;

  // The function called `name`, or nullptr.
  const Function* Find(std::string_view name) const;
  friend bool operator==(const Executable&, const Executable&) = default;
};

// What parameter `i` of `f` has to be, as the matches say with which functions
// begin; nullptr where anything is taken.
const Type* ParamType(const Executable& executable, const Function& f,
                      size_t i);
// "main(x: tensor float32[n, 784], w: tensor float32[128, 784])".
std::string SignatureText(const Executable& executable, const Function& f);

std::string_view OpcodeName(Opcode op);
// Whether the index of such an instruction is that of a type.
bool NamesType(Opcode op);
// As the example above shows; what is out of range is printed as "?".
std::string ToString(const Executable& executable, const Function& f);
std::string ToString(const Executable& executable);

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_BYTECODE_H_
