// Bytecode as text, a line for each instruction:
//
//   %2 = alloc_tensor() tensor float32[n, 128]  # the variable
//   kernel dense(%0!, %1!, %2)
//
// An index that names nothing is printed as "?": what is printed may be wrong.
#include "kiln/vm/executable/bytecode.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::vm {
namespace {

template <typename T>
const T* At(const std::vector<T>& items, int32_t index) {
  const bool inside = index >= 0 && index < static_cast<int64_t>(items.size());
  return inside ? &items[index] : nullptr;
}

std::string NameAt(const std::vector<std::string>& names, int32_t index) {
  const std::string* name = At(names, index);
  return name ? *name : "?";
}

class Printer {
 public:
  Printer(const Executable& executable, const Function& f)
      : executable_(executable), f_(f) {}

  std::string Dim(const KernelDim& dim) const {
    return kiln::ToString(dim, [&](int i) { return NameAt(f_.dims, i); });
  }

  std::string Dims(const Type& type) const {
    if (!type.has_dims) {
      return type.rank == Type::kAnyRank ? "..."
                                         : absl::StrCat("rank ", type.rank);
    }
    return absl::StrJoin(
        type.dims, ", ",
        [&](std::string* out, const KernelDim& dim) { *out += Dim(dim); });
  }

  std::string TypeText(int32_t index, int depth = 0) const {
    const Type* type = At(executable_.types, index);
    if (!type || depth > 8) return "?";
    const std::string dtype =
        type->dtype.is_void() ? "" : type->dtype.ToString();
    switch (type->kind) {
      case Type::Kind::kAny:
        return "any";
      case Type::Kind::kNumber:
        return absl::StrCat("number ", dtype,
                            type->has_dims ? " " + Dims(*type) : "");
      case Type::Kind::kShape:
        return absl::StrCat("shape (", Dims(*type), ")");
      case Type::Kind::kTensor:
        return absl::StrCat("tensor ", dtype, "[", Dims(*type), "]");
      case Type::Kind::kTuple:
        return absl::StrCat("tuple (",
                            absl::StrJoin(type->fields, ", ",
                                          [&](std::string* out, int32_t field) {
                                            *out += TypeText(field, depth + 1);
                                          }),
                            ")");
      case Type::Kind::kFunction:
        return "function";
    }
    return "?";
  }

  std::string OperandText(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        return absl::StrCat("%", operand.index, operand.is_last ? "!" : "");
      case Operand::Kind::kConstant:
        return absl::StrCat("constant ", operand.index);
      case Operand::Kind::kNumber: {
        const KernelDim* dim = At(f_.numbers, operand.index);
        return dim ? Dim(*dim) : "?";
      }
    }
    return "?";
  }

  std::string Callee(const Instruction& instruction) const {
    const int32_t index = instruction.index;
    if (instruction.op == Opcode::kKernel) {
      const Kernel* kernel = At(executable_.kernels, index);
      return absl::StrCat(" ", kernel ? kernel->signature.name : "?");
    }
    if (instruction.op == Opcode::kPacked) {
      return absl::StrCat(" \"", NameAt(executable_.strings, index), "\"");
    }
    if (instruction.op == Opcode::kFunction ||
        instruction.op == Opcode::kMakeClosure) {
      const Function* callee = At(executable_.functions, index);
      return absl::StrCat(" ", callee ? callee->name : "?");
    }
    return "";
  }

  std::string Line(const Instruction& instruction) const {
    std::string text;
    if (instruction.dst >= 0) text = absl::StrCat("%", instruction.dst, " = ");
    absl::StrAppend(
        &text, std::string(OpcodeName(instruction.op)), Callee(instruction),
        "(",
        absl::StrJoin(instruction.args, ", ",
                      [&](std::string* out, const Operand& operand) {
                        *out += OperandText(operand);
                      }),
        ")");
    const Opcode op = instruction.op;
    if (NamesType(op)) {
      absl::StrAppend(&text, " ", TypeText(instruction.index));
    }
    if (op == Opcode::kItem)
      absl::StrAppend(&text, "[", instruction.index, "]");
    if (op == Opcode::kIf) absl::StrAppend(&text, " else");
    if (instruction.target >= 0) {
      absl::StrAppend(&text, " -> ", instruction.target);
    }
    if (instruction.label >= 0) {
      absl::StrAppend(&text, "  # ",
                      NameAt(executable_.strings, instruction.label));
    }
    return text;
  }

 private:
  const Executable& executable_;
  const Function& f_;
};

}  // namespace

bool NamesType(Opcode op) {
  return op == Opcode::kAllocTensor || op == Opcode::kMatch ||
         op == Opcode::kView;
}

const Function* Executable::Find(std::string_view name) const {
  for (const Function& f : functions) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

namespace {

// The type's index; kNone where there is no match.
int32_t ParamTypeIndex(const Function& f, size_t i) {
  for (const Instruction& instruction : f.code) {
    if (instruction.op != Opcode::kMatch || instruction.args.empty()) break;
    const Operand& operand = instruction.args[0];
    if (operand.kind == Operand::Kind::kRegister &&
        operand.index == static_cast<int64_t>(i)) {
      return instruction.index;
    }
  }
  return Instruction::kNone;
}

}  // namespace

const Type* ParamType(const Executable& executable, const Function& f,
                      size_t i) {
  return At(executable.types, ParamTypeIndex(f, i));
}

std::string SignatureText(const Executable& executable, const Function& f) {
  const Printer printer(executable, f);
  std::string text = f.name + "(";
  for (size_t i = 0; i < f.params.size(); ++i) {
    const int32_t type = ParamTypeIndex(f, i);
    absl::StrAppend(
        &text, i > 0 ? ", " : "", f.params[i], ": ",
        type == Instruction::kNone ? "any" : printer.TypeText(type));
  }
  return text + ")";
}

std::string_view OpcodeName(Opcode op) {
  switch (op) {
    case Opcode::kKernel:
      return "kernel";
    case Opcode::kFunction:
      return "call";
    case Opcode::kPacked:
      return "packed";
    case Opcode::kClosure:
      return "call_closure";
    case Opcode::kAllocTensor:
      return "alloc_tensor";
    case Opcode::kMatch:
      return "match";
    case Opcode::kCopy:
      return "copy";
    case Opcode::kTuple:
      return "tuple";
    case Opcode::kItem:
      return "item";
    case Opcode::kShape:
      return "shape";
    case Opcode::kShapeOf:
      return "shape_of";
    case Opcode::kMakeClosure:
      return "make_closure";
    case Opcode::kIf:
      return "if";
    case Opcode::kJump:
      return "jump";
    case Opcode::kReturn:
      return "return";
    case Opcode::kView:
      return "view";
  }
  return "?";
}

std::string ToString(const Executable& executable, const Function& f) {
  const Printer printer(executable, f);
  std::string text = absl::StrCat(f.is_private ? "private " : "", f.name, "(",
                                  absl::StrJoin(f.params, ", "), ") registers ",
                                  f.num_registers, ", dims [",
                                  absl::StrJoin(f.dims, ", "), "]\n");
  for (size_t i = 0; i < f.code.size(); ++i) {
    absl::StrAppend(&text, "  ", i, ": ", printer.Line(f.code[i]), "\n");
  }
  return text;
}

std::string ToString(const Executable& executable) {
  return absl::StrJoin(executable.functions, "\n",
                       [&](std::string* out, const Function& f) {
                         *out += ToString(executable, f);
                       });
}

}  // namespace kiln::vm
