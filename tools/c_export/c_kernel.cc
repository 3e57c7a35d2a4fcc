// A parameter of the function gets one position in a list of all, and
// everything else is said in positions: which ones the typed function takes, in
// which order the kernel's two lists have them, which of them a preparation
// writes. Of
//
//   def f(A: T.Buffer((n, 8), ...), float: T.Buffer(((n + 1) // 2,), ...))
//
// the list is A, float_, n: `float` is a keyword of C. The kernel's buffers are
// 0 and 1, its scalars 2; the extents are "n", "8" and
// "KilnFloorDiv(((int64_t)n + 1), 2)". All scalars are named before any extent
// is written, as extents refer to them. A name that a generated file begins to
// use has to be added to Reserved().
#include "kiln/tools/c_export/c_kernel.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/library/elf_reader.h"

namespace kiln {
namespace {

// Keywords of C and C++ up to C23 and C++23, and names that kernel.h,
// example.c and the headers that they include give a meaning.
const std::set<std::string_view>& Reserved() {
  static const std::set<std::string_view> names = {"alignas",
                                                   "alignof",
                                                   "and",
                                                   "and_eq",
                                                   "asm",
                                                   "auto",
                                                   "bitand",
                                                   "bitor",
                                                   "bool",
                                                   "break",
                                                   "case",
                                                   "catch",
                                                   "char",
                                                   "char16_t",
                                                   "char32_t",
                                                   "char8_t",
                                                   "class",
                                                   "co_await",
                                                   "co_return",
                                                   "co_yield",
                                                   "compl",
                                                   "concept",
                                                   "const",
                                                   "const_cast",
                                                   "consteval",
                                                   "constexpr",
                                                   "constinit",
                                                   "continue",
                                                   "decltype",
                                                   "default",
                                                   "delete",
                                                   "do",
                                                   "double",
                                                   "dynamic_cast",
                                                   "else",
                                                   "enum",
                                                   "explicit",
                                                   "export",
                                                   "extern",
                                                   "false",
                                                   "float",
                                                   "for",
                                                   "friend",
                                                   "goto",
                                                   "if",
                                                   "inline",
                                                   "int",
                                                   "long",
                                                   "mutable",
                                                   "namespace",
                                                   "new",
                                                   "noexcept",
                                                   "not",
                                                   "not_eq",
                                                   "nullptr",
                                                   "operator",
                                                   "or",
                                                   "or_eq",
                                                   "private",
                                                   "protected",
                                                   "public",
                                                   "register",
                                                   "reinterpret_cast",
                                                   "requires",
                                                   "restrict",
                                                   "return",
                                                   "short",
                                                   "signed",
                                                   "sizeof",
                                                   "static",
                                                   "static_assert",
                                                   "static_cast",
                                                   "struct",
                                                   "switch",
                                                   "template",
                                                   "this",
                                                   "thread_local",
                                                   "throw",
                                                   "true",
                                                   "try",
                                                   "typedef",
                                                   "typeid",
                                                   "typename",
                                                   "typeof",
                                                   "typeof_unqual",
                                                   "union",
                                                   "unsigned",
                                                   "using",
                                                   "virtual",
                                                   "void",
                                                   "volatile",
                                                   "wchar_t",
                                                   "while",
                                                   "xor",
                                                   "xor_eq",
                                                   "linux",
                                                   "unix",
                                                   "i386",
                                                   "I",
                                                   "NULL",
                                                   "EOF",
                                                   "BUFSIZ",
                                                   "RAND_MAX",
                                                   "EXIT_SUCCESS",
                                                   "EXIT_FAILURE",
                                                   "SEEK_SET",
                                                   "SEEK_CUR",
                                                   "SEEK_END",
                                                   "SIZE_MAX",
                                                   "errno",
                                                   "assert",
                                                   "offsetof",
                                                   "stdin",
                                                   "stdout",
                                                   "stderr",
                                                   "main",
                                                   "printf",
                                                   "fprintf",
                                                   "free",
                                                   "exit",
                                                   "memcpy",
                                                   "posix_memalign",
                                                   "size_t",
                                                   "host",
                                                   "data",
                                                   "scalars",
                                                   "status",
                                                   "i",
                                                   "sum",
                                                   "value",
                                                   "Allocate",
                                                   "Whole",
                                                   "FromFloat16",
                                                   "ToFloat16",
                                                   "FromBFloat16",
                                                   "ToBFloat16"};
  return names;
}

std::string TypeName(DType dtype) {
  if (dtype.is_bool()) return "uint8_t";
  if (dtype.is_float()) {
    return dtype.bits() == 64   ? "double"
           : dtype.bits() == 32 ? "float"
                                : "uint16_t";
  }
  return absl::StrCat(dtype.is_uint() ? "u" : "", "int", 8 * dtype.bytes(),
                      "_t");
}

std::string ScalarTypeName(DType dtype) {
  const bool half = dtype.is_float() && dtype.bits() == 16;
  return half ? "float" : TypeName(dtype);
}

// An int64_t in C where it is more than one name or number.
std::string CText(const KernelDim& dim,
                  const std::function<std::string(int)>& name) {
  using Op = KernelDim::Op;
  const bool is_leaf = dim.steps().size() == 1;
  return dim.Fold<std::string>(
      [&](const KernelDim::Step& step) -> std::string {
        if (step.op == Op::kConstant) return absl::StrCat(step.value);
        const std::string scalar = name(static_cast<int>(step.value));
        return is_leaf ? scalar : absl::StrCat("(int64_t)", scalar);
      },
      [](Op op, const std::string& a, const std::string& b) -> std::string {
        switch (op) {
          case Op::kAdd:
            return absl::StrCat("(", a, " + ", b, ")");
          case Op::kSub:
            return absl::StrCat("(", a, " - ", b, ")");
          case Op::kMul:
            return absl::StrCat("(", a, " * ", b, ")");
          case Op::kFloorDiv:
            return absl::StrCat("KilnFloorDiv(", a, ", ", b, ")");
          case Op::kFloorMod:
            return absl::StrCat("(", a, " - KilnFloorDiv(", a, ", ", b, ") * ",
                                b, ")");
          case Op::kMin:
            return absl::StrCat("(", a, " < ", b, " ? ", a, " : ", b, ")");
          case Op::kMax:
            return absl::StrCat("(", a, " > ", b, " ? ", a, " : ", b, ")");
          case Op::kConstant:
          case Op::kScalar:
            return "";
        }
        return "";
      });
}

class Describer {
 public:
  Describer(const Function& source, const BuildResult& built)
      : source_(source), built_(built), signature_(built.signature) {}

  absl::StatusOr<CKernel> Describe(const Target& target) {
    kernel_.name = source_.name;
    kernel_.target = target.ToString();
    AddScalarsAndBuffers();
    AddPrepared();
    KILN_RETURN_IF_ERROR(AddRanges());
    kernel_.main = MakeMain();
    if (built_.preparation) kernel_.prepare = MakePrepare();
    KILN_RETURN_IF_ERROR(AddNeeds(built_.object));
    if (built_.preparation) {
      KILN_RETURN_IF_ERROR(AddNeeds(built_.preparation->object));
    }
    return std::move(kernel_);
  }

 private:
  CParam Named(const std::string& source) {
    CParam param;
    param.name = CIdentifier(source, names_);
    param.source = source;
    names_.push_back(param.name);
    return param;
  }

  CParam Scalar(int index) {
    const KernelScalar& scalar = signature_.scalars[index];
    CParam param = Named(scalar.name);
    param.dtype = scalar.dtype;
    param.type = ScalarTypeName(scalar.dtype);
    return param;
  }

  // Its extents are known once all scalars have names.
  CParam Buffer(const KernelBuffer& buffer) {
    CParam param = Named(buffer.name);
    param.dtype = buffer.dtype;
    param.type = TypeName(buffer.dtype);
    param.is_buffer = true;
    param.alignment = buffer.alignment;
    return param;
  }

  void AddScalarsAndBuffers() {
    buffers_.resize(signature_.buffers.size());
    scalars_.assign(signature_.scalars.size(), -1);
    for (const KernelParam& param : signature_.params) {
      const auto at = static_cast<int>(kernel_.params.size());
      const bool is_buffer = param.kind == KernelParam::Kind::kBuffer;
      (is_buffer ? buffers_ : scalars_)[param.index] = at;
      kernel_.params.push_back(is_buffer
                                   ? Buffer(signature_.buffers[param.index])
                                   : Scalar(param.index));
    }
    for (size_t s = 0; s < scalars_.size(); ++s) {
      if (scalars_[s] >= 0) continue;
      scalars_[s] = static_cast<int>(kernel_.params.size());
      kernel_.params.push_back(Scalar(static_cast<int>(s)));
      kernel_.params.back().is_extent = true;
    }
    for (size_t b = 0; b < buffers_.size(); ++b) {
      SetExtents(signature_.buffers[b], &kernel_.params[buffers_[b]]);
    }
  }

  void SetExtents(const KernelBuffer& buffer, CParam* param) {
    const auto name = [&](int s) { return kernel_.params[scalars_[s]].name; };
    for (const KernelDim& dim : buffer.shape) {
      for (int s : dim.Scalars()) kernel_.params[scalars_[s]].is_extent = true;
      param->extents.push_back(CText(dim, name));
      param->shape.push_back(ToString(dim, name));
    }
  }

  void AddPrepared() {
    if (!built_.preparation) return;
    for (const KernelBuffer& buffer : built_.preparation->prepared) {
      buffers_.push_back(static_cast<int>(kernel_.params.size()));
      kernel_.params.push_back(Buffer(buffer));
      SetExtents(buffer, &kernel_.params.back());
    }
  }

  // What indexes is drawn for the extents and scalars of the example.
  absl::Status AddRanges() {
    std::vector<std::pair<Var, int64_t>> known;
    for (const Param& param : source_.params) {
      if (!param.buffer && param.var.dtype().is_integral()) {
        known.emplace_back(param.var, ExampleValue(param.var));
      }
    }
    for (const Var& dim : SymbolicDims(source_)) {
      known.emplace_back(dim, kExampleExtent);
    }
    KILN_ASSIGN_OR_RETURN(const auto ranges, InputRanges(source_, known));
    for (size_t i = 0; i < ranges.size() && i < signature_.params.size(); ++i) {
      kernel_.params[i].range = ranges[i];
    }
    return absl::OkStatus();
  }

  int64_t ExampleValue(const Var& var) const {
    for (size_t s = 0; s < signature_.scalars.size(); ++s) {
      const CParam& param = kernel_.params[scalars_[s]];
      if (param.source == var.name() && param.is_extent) return kExampleExtent;
    }
    return 1;
  }

  std::vector<int> Positions(const std::vector<int>& of,
                             const std::vector<int>& chosen) const {
    std::vector<int> positions;
    for (int i : chosen) positions.push_back(of[i]);
    return positions;
  }

  // Parameters in the order of the whole function's.
  CFunction MakeFunction(const std::string& symbol, std::vector<int> data,
                         std::vector<int> scalars) const {
    CFunction function;
    function.symbol = symbol;
    function.name = CIdentifier(symbol, {});
    function.params = data;
    function.params.insert(function.params.end(), scalars.begin(),
                           scalars.end());
    std::sort(function.params.begin(), function.params.end());
    function.data = std::move(data);
    function.scalars = std::move(scalars);
    return function;
  }

  bool IsPrepared(int param) const {
    for (size_t b = signature_.buffers.size(); b < buffers_.size(); ++b) {
      if (buffers_[b] == param) return true;
    }
    return false;
  }

  CFunction MakeMain() const {
    const auto& ahead = built_.preparation;
    CFunction main = MakeFunction(
        built_.symbol,
        ahead ? Positions(buffers_, ahead->kernel_args) : buffers_,
        ahead ? Positions(scalars_, ahead->kernel_scalars) : scalars_);
    const std::vector<ArgumentUse> uses = ArgumentUses(source_);
    for (int param : main.params) {
      const bool given = static_cast<size_t>(param) < uses.size();
      main.uses.push_back(given ? uses[param] : ArgumentUse::kRead);
    }
    return main;
  }

  CFunction MakePrepare() const {
    const BuiltPreparation& ahead = *built_.preparation;
    CFunction prepare =
        MakeFunction(ahead.symbol, Positions(buffers_, ahead.args),
                     Positions(scalars_, ahead.scalars));
    for (int param : prepare.params) {
      prepare.uses.push_back(IsPrepared(param) ? ArgumentUse::kWritten
                                               : ArgumentUse::kRead);
    }
    return prepare;
  }

  absl::Status AddNeeds(const std::string& object) {
    KILN_ASSIGN_OR_RETURN(const ElfObject elf, ReadElfObject(object));
    for (const ElfSymbol& symbol : elf.symbols) {
      if (symbol.place != ElfPlace::kUndefined || symbol.name.empty()) continue;
      std::string name(symbol.name);
      auto& needs = kernel_.needs;
      if (std::find(needs.begin(), needs.end(), name) != needs.end()) continue;
      needs.push_back(std::move(name));
    }
    return absl::OkStatus();
  }

  const Function& source_;
  const BuildResult& built_;
  const KernelSignature& signature_;
  CKernel kernel_;
  std::vector<std::string> names_;
  // Positions among the parameters; buffers and then what is prepared.
  std::vector<int> buffers_, scalars_;
};

}  // namespace

std::string CParam::Count() const {
  if (extents.empty()) return "(size_t)1";
  std::string count;
  for (const std::string& extent : extents) {
    absl::StrAppend(&count, count.empty() ? "" : " * ", "(size_t)", extent);
  }
  return count;
}

std::string CParam::Bytes() const {
  return absl::StrCat(Count(), " * sizeof(", type, ")");
}

std::string CIdentifier(std::string_view wanted,
                        const std::vector<std::string>& taken) {
  std::string name;
  for (char c : wanted) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    name += plain ? c : '_';
  }
  // Names of implementations begin with underscores, ours with kiln.
  const bool ours = name.rfind("KILN", 0) == 0 || name.rfind("Kiln", 0) == 0;
  if (name.empty() || ours || name[0] == '_' ||
      std::isdigit(static_cast<unsigned char>(name[0]))) {
    name.insert(0, "x");
  }
  while (Reserved().count(name) > 0 ||
         std::find(taken.begin(), taken.end(), name) != taken.end()) {
    name += '_';
  }
  return name;
}

absl::StatusOr<CKernel> DescribeForC(const Function& source,
                                     const BuildResult& built,
                                     const Target& target) {
  return Describer(source, built).Describe(target);
}

}  // namespace kiln
