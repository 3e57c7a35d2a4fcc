// Tables first (types, constants, kernels), then each function in one pass:
// since jumps lead forward, the registers that are written when an instruction
// is reached are known once all before it were looked at. Of
//
//   0: if(%0) else -> 3
//   1: %1 = copy(%0)
//   2: jump() -> 4
//   3: %1 = tuple()
//   4: return(%1)
//
// both ways to 4 write %1.
#include "kiln/vm/executable/verify.h"

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::vm {
namespace {

// More would be no program, but an attack on memory.
constexpr int32_t kMaxRegisters = 1 << 16;
constexpr size_t kMaxRank = 1024;

template <typename T>
bool Inside(int32_t index, const std::vector<T>& items) {
  return index >= 0 && index < static_cast<int64_t>(items.size());
}

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

// Whether the expression speaks of the first `count` dims only.
bool SpeaksOf(const KernelDim& dim, size_t count) {
  for (int i : dim.Scalars()) {
    if (i < 0 || static_cast<size_t>(i) >= count) return false;
  }
  return true;
}

absl::Status CheckType(const Executable& executable, size_t index) {
  const Type& type = executable.types[index];
  const auto wrong = [&](std::string_view what) {
    return Invalid(absl::StrCat("type ", index, ": ", std::string(what)));
  };
  if (type.rank < Type::kAnyRank ||
      type.rank > static_cast<int32_t>(kMaxRank)) {
    return wrong("impossible rank");
  }
  const bool is_number = type.kind == Type::Kind::kNumber;
  const int64_t count = is_number ? 1 : type.rank;
  if (type.has_dims && static_cast<int64_t>(type.dims.size()) != count) {
    return wrong("as many extents as dimensions are needed");
  }
  for (int32_t field : type.fields) {
    // Fields come first, so no type is its own part.
    if (field < 0 || static_cast<size_t>(field) >= index) {
      return wrong("a field is no earlier type");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckConstant(const Constant& constant, size_t index) {
  const auto* tensor = std::get_if<TensorConstant>(&constant);
  if (!tensor) return absl::OkStatus();
  const absl::StatusOr<int64_t> count =
      CheckedNumElements(tensor->shape, tensor->dtype);
  if (!count.ok()) {
    return Invalid(absl::StrCat("constant ", index, ": ",
                                std::string(count.status().message())));
  }
  const uint64_t bytes = *count * tensor->dtype.bytes();
  if (tensor->data.size() == bytes) return absl::OkStatus();
  return Invalid(absl::StrCat("constant ", index, " has ", tensor->data.size(),
                              " bytes where its shape needs ", bytes));
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Executable& executable, const Function& f)
      : executable_(executable), f_(f), reached_(f.code.size()) {}

  absl::Status Run() {
    if (f_.num_registers < 0 || f_.num_registers > kMaxRegisters ||
        f_.params.size() > static_cast<size_t>(f_.num_registers)) {
      return Invalid(absl::StrCat("function ", f_.name,
                                  ": impossible number of registers"));
    }
    for (const KernelDim& number : f_.numbers) {
      if (!SpeaksOf(number, f_.dims.size())) {
        return Invalid(
            absl::StrCat("function ", f_.name, ": a number of unknown dims"));
      }
    }
    Registers start(f_.num_registers);
    std::fill_n(start.begin(), f_.params.size(), true);
    if (f_.code.empty()) return Wrong(0, "no instruction");
    reached_[0] = std::move(start);
    for (size_t i = 0; i < f_.code.size(); ++i) {
      KILN_RETURN_IF_ERROR(CheckOne(i));
    }
    return absl::OkStatus();
  }

 private:
  using Registers = std::vector<bool>;  // those that are written

  absl::Status Wrong(size_t at, std::string_view what) const {
    return Invalid(absl::StrCat("function ", f_.name, ", instruction ", at,
                                ": ", std::string(what)));
  }

  absl::Status CheckOne(size_t at) {
    const Instruction& instruction = f_.code[at];
    KILN_RETURN_IF_ERROR(CheckFields(at, instruction));
    if (!reached_[at]) return Wrong(at, "is never reached");
    Registers written = *std::move(reached_[at]);
    reached_[at].reset();
    for (const Operand& arg : instruction.args) {
      KILN_RETURN_IF_ERROR(CheckOperand(at, arg, written));
    }
    for (const Operand& arg : instruction.args) {
      const bool ends = arg.kind == Operand::Kind::kRegister && arg.is_last;
      if (ends) written[arg.index] = false;
    }
    if (instruction.dst >= 0) written[instruction.dst] = true;
    return GoOn(at, instruction, std::move(written));
  }

  absl::Status GoOn(size_t at, const Instruction& instruction,
                    Registers written) {
    const Opcode op = instruction.op;
    if (op == Opcode::kReturn) return absl::OkStatus();
    if (op == Opcode::kIf || op == Opcode::kJump) {
      if (!Inside(instruction.target, f_.code) ||
          static_cast<size_t>(instruction.target) <= at) {
        return Wrong(at, "a jump has to lead forward");
      }
      Reach(instruction.target, written);
    }
    if (op == Opcode::kJump) return absl::OkStatus();
    if (at + 1 == f_.code.size()) return Wrong(at, "nothing is returned");
    Reach(at + 1, written);
    return absl::OkStatus();
  }

  void Reach(size_t at, const Registers& written) {
    if (!reached_[at]) {
      reached_[at] = written;
      return;
    }
    for (size_t i = 0; i < written.size(); ++i) {
      if (!written[i]) (*reached_[at])[i] = false;
    }
  }

  absl::Status CheckOperand(size_t at, const Operand& operand,
                            const Registers& written) const {
    const int32_t index = operand.index;
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        if (index < 0 || index >= f_.num_registers) {
          return Wrong(at, "no such register");
        }
        if (!written[index]) {
          return Wrong(at, absl::StrCat("%", index, " holds nothing"));
        }
        return absl::OkStatus();
      case Operand::Kind::kConstant:
        if (Inside(index, executable_.constants)) return absl::OkStatus();
        return Wrong(at, "no such constant");
      case Operand::Kind::kNumber:
        if (Inside(index, f_.numbers)) return absl::OkStatus();
        return Wrong(at, "no such number");
    }
    return Wrong(at, "no such operand");
  }

  absl::Status CheckFields(size_t at, const Instruction& instruction) const {
    const int32_t dst = instruction.dst;
    if (dst < Instruction::kNone || dst >= f_.num_registers) {
      return Wrong(at, "no such register");
    }
    if (instruction.label != Instruction::kNone &&
        !Inside(instruction.label, executable_.strings)) {
      return Wrong(at, "no such label");
    }
    if (!HasIndex(instruction)) return Wrong(at, "names what does not exist");
    if (!HasArgs(instruction)) return Wrong(at, "a wrong number of arguments");
    return CheckUsedType(at, instruction);
  }

  absl::Status CheckUsedType(size_t at, const Instruction& instruction) const {
    if (!NamesType(instruction.op)) return absl::OkStatus();
    const Type& type = executable_.types[instruction.index];
    if (!AllDims(type)) return Wrong(at, "a type of unknown dims");
    const bool makes = instruction.op != Opcode::kMatch;
    const bool known = type.kind == Type::Kind::kTensor && type.has_dims;
    if (makes && !known) return Wrong(at, "no tensor of known extents");
    return absl::OkStatus();
  }

  bool AllDims(const Type& type) const {
    for (const KernelDim& dim : type.dims) {
      if (!SpeaksOf(dim, f_.dims.size())) return false;
    }
    for (int32_t field : type.fields) {
      if (!AllDims(executable_.types[field])) return false;
    }
    return true;
  }

  bool HasIndex(const Instruction& instruction) const {
    const int32_t index = instruction.index;
    switch (instruction.op) {
      case Opcode::kKernel:
        return Inside(index, executable_.kernels);
      case Opcode::kFunction:
      case Opcode::kMakeClosure:
        return Inside(index, executable_.functions);
      case Opcode::kPacked:
        return Inside(index, executable_.strings);
      case Opcode::kAllocTensor:
      case Opcode::kMatch:
      case Opcode::kView:
        return Inside(index, executable_.types);
      case Opcode::kItem:
        return index >= 0;
      case Opcode::kClosure:
      case Opcode::kCopy:
      case Opcode::kTuple:
      case Opcode::kShape:
      case Opcode::kShapeOf:
      case Opcode::kIf:
      case Opcode::kJump:
      case Opcode::kReturn:
        return true;
    }
    return false;
  }

  bool HasArgs(const Instruction& instruction) const {
    const size_t count = instruction.args.size();
    switch (instruction.op) {
      case Opcode::kKernel:
        return count ==
               executable_.kernels[instruction.index].signature.params.size();
      case Opcode::kFunction:
        return count == executable_.functions[instruction.index].params.size();
      case Opcode::kMakeClosure:
        return count <= executable_.functions[instruction.index].params.size();
      case Opcode::kClosure:
        return count >= 1;
      case Opcode::kAllocTensor:
      case Opcode::kJump:
        return count == 0;
      case Opcode::kMatch:
      case Opcode::kCopy:
      case Opcode::kItem:
      case Opcode::kShapeOf:
      case Opcode::kIf:
      case Opcode::kReturn:
        return count == 1;
      case Opcode::kView:
        return count == 2;
      case Opcode::kPacked:
      case Opcode::kTuple:
      case Opcode::kShape:
        return true;
    }
    return false;
  }

  const Executable& executable_;
  const Function& f_;
  // The registers that are written where an instruction is reached.
  std::vector<std::optional<Registers>> reached_;
};

absl::Status CheckKernel(const Kernel& kernel) {
  if (kernel.symbol.empty()) return Invalid("a kernel has no symbol");
  if (kernel.flop &&
      !SpeaksOf(kernel.flop->count, kernel.signature.scalars.size())) {
    return Invalid(absl::StrCat("the operations of ", kernel.symbol,
                                " speak of unknown scalars"));
  }
  return CheckSignature(kernel.signature);
}

}  // namespace

absl::Status Verify(const Executable& executable) {
  for (size_t i = 0; i < executable.types.size(); ++i) {
    KILN_RETURN_IF_ERROR(CheckType(executable, i));
  }
  for (size_t i = 0; i < executable.constants.size(); ++i) {
    KILN_RETURN_IF_ERROR(CheckConstant(executable.constants[i], i));
  }
  for (const Kernel& kernel : executable.kernels) {
    KILN_RETURN_IF_ERROR(CheckKernel(kernel));
  }
  std::set<std::string_view> names;
  for (const Function& f : executable.functions) {
    if (!names.insert(f.name).second) {
      return Invalid(absl::StrCat("two functions are called ", f.name));
    }
    KILN_RETURN_IF_ERROR(FunctionVerifier(executable, f).Run());
  }
  return absl::OkStatus();
}

}  // namespace kiln::vm
