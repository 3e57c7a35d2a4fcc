// Of a function main(x: tensor float32[n, 784], k: number int64) becomes
//
//   // main(x: tensor float32[n, 784], k: number int64)
//   ::kiln::rt::Result main(::kiln::rt::Tensor<const float, 2> x, int64_t k) {
//     return Call("main", {x, k});
//   }
//
// What kernels write to is no const float. Arguments without a type in C++
// (tuples, tensors of any rank) are as kiln.h has them.
#include "kiln/tools/graph/cpp_header.h"

#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

constexpr char kAnything[] = "const KilnArgument&";

bool IsKeyword(const std::string& name) {
  static const auto* keywords = new std::set<std::string>{
      "alignas",  "alignof",   "and",      "asm",      "auto",     "bool",
      "break",    "case",      "catch",    "char",     "class",    "concept",
      "const",    "constexpr", "continue", "decltype", "default",  "delete",
      "do",       "double",    "else",     "enum",     "explicit", "export",
      "extern",   "false",     "float",    "for",      "friend",   "goto",
      "if",       "inline",    "int",      "long",     "mutable",  "namespace",
      "new",      "noexcept",  "not",      "nullptr",  "operator", "or",
      "private",  "protected", "public",   "register", "requires", "return",
      "short",    "signed",    "sizeof",   "static",   "struct",   "switch",
      "template", "this",      "throw",    "true",     "try",      "typedef",
      "typeid",   "typename",  "union",    "unsigned", "using",    "virtual",
      "void",     "volatile",  "while",    "xor",      "Call",     "Module",
      "error",    "ok"};
  return keywords->count(name) > 0;
}

bool IsName(const std::string& name) {
  if (name.empty() || absl::ascii_isdigit(name[0])) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(c) && c != '_') return false;
  }
  return !IsKeyword(name);
}

// Empty where C++ has none.
std::string CppType(DType dtype) {
  if (dtype.is_bool()) return "bool";
  if (dtype == DType::Float(16)) return "::kiln::rt::Half";
  if (dtype == DType::BFloat16()) return "::kiln::rt::BrainHalf";
  if (dtype == DType::Float(32)) return "float";
  if (dtype == DType::Float(64)) return "double";
  if (dtype.is_int()) return absl::StrCat("int", dtype.bits(), "_t");
  if (dtype.is_uint()) return absl::StrCat("uint", dtype.bits(), "_t");
  return "";
}

bool Reads(const vm::Operand& operand, int32_t place) {
  return operand.kind == vm::Operand::Kind::kRegister && operand.index == place;
}

// Whether a kernel writes into parameter `place`.
bool IsWritten(const vm::Executable& executable, const vm::Function& f,
               int32_t place) {
  for (const vm::Instruction& instruction : f.code) {
    for (size_t i = 0; i < instruction.args.size(); ++i) {
      if (instruction.op != vm::Opcode::kKernel ||
          !Reads(instruction.args[i], place)) {
        continue;
      }
      const KernelSignature& signature =
          executable.kernels[instruction.index].signature;
      const KernelParam& param = signature.params[i];
      if (param.kind == KernelParam::Kind::kBuffer &&
          signature.buffers[param.index].written) {
        return true;
      }
    }
    if (instruction.dst == place) return false;  // another value from here on
  }
  return false;
}

std::string TypeOfParam(const vm::Executable& executable, const vm::Function& f,
                        size_t i) {
  const vm::Type* type = vm::ParamType(executable, f, i);
  if (type == nullptr) return kAnything;
  if (type->kind == vm::Type::Kind::kNumber) {
    return type->dtype.is_float() ? "double" : "int64_t";
  }
  if (type->kind == vm::Type::Kind::kShape) return "std::vector<int64_t>";
  const std::string element = CppType(type->dtype);
  if (type->kind != vm::Type::Kind::kTensor || type->rank < 0 ||
      element.empty()) {
    return kAnything;
  }
  const bool written = IsWritten(executable, f, static_cast<int32_t>(i));
  return absl::StrCat("::kiln::rt::Tensor<", written ? "" : "const ", element,
                      ", ", type->rank, ">");
}

// The parameter's own name, or one of its place.
std::string NameOfParam(const vm::Function& f, size_t i) {
  for (size_t j = 0; j < i; ++j) {
    if (f.params[j] == f.params[i]) return absl::StrCat("argument", i);
  }
  return IsName(f.params[i]) ? f.params[i] : absl::StrCat("argument", i);
}

absl::StatusOr<std::string> MethodFor(const vm::Executable& executable,
                                      const vm::Function& f) {
  if (!IsName(f.name)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "function \"", f.name, "\" has no name in C++; rename it"));
  }
  std::vector<std::string> params, names;
  for (size_t i = 0; i < f.params.size(); ++i) {
    names.push_back(NameOfParam(f, i));
    params.push_back(
        absl::StrCat(TypeOfParam(executable, f, i), " ", names.back()));
  }
  return absl::StrCat(
      "  // ", vm::SignatureText(executable, f), "\n  ::kiln::rt::Result ",
      f.name, "(", absl::StrJoin(params, ", "), ") {\n    return Call(\"",
      f.name, "\", {", absl::StrJoin(names, ", "), "});\n  }\n");
}

}  // namespace

absl::StatusOr<std::string> CppHeader(const vm::Executable& executable,
                                      const std::string& name,
                                      const std::string& symbol) {
  for (const std::string& word : {name, symbol}) {
    if (IsName(word)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("\"", word, "\" is no name in C++"));
  }
  std::vector<std::string> methods;
  for (const vm::Function& f : executable.functions) {
    if (f.is_private) continue;
    KILN_ASSIGN_OR_RETURN(methods.emplace_back(), MethodFor(executable, f));
  }
  const std::string guard =
      absl::StrCat("KILN_MODULE_", absl::AsciiStrToUpper(name), "_H_");
  return absl::StrCat(
      "// Generated by Kiln from the model ", name, ".\n#ifndef ", guard,
      "\n#define ", guard,
      "\n\n#include <cstdint>\n#include <vector>\n\n#include "
      "\"kiln/vm/capi/module.h\"\n\nextern \"C\" const char ",
      symbol, "[];\n\nnamespace ", name,
      " {\n\nclass Module : public ::kiln::rt::Module {\n public:\n"
      "  // `threads` of parallel loops; 0: all processors.\n"
      "  explicit Module(int threads = 0)\n      : ::kiln::rt::Module(",
      symbol, ", threads) {}\n\n", absl::StrJoin(methods, "\n"),
      "};\n\n}  // namespace ", name, "\n\n#endif  // ", guard, "\n");
}

}  // namespace kiln
