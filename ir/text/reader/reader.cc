// Nobody runs the script around a program. The reader takes the statements that
// can matter and leaves all others alone:
//
//   import numpy as np                 left alone
//   N, BLOCK = 128, 16                 left alone: only one name is read
//   N = 128                            a number
//   SHAPE = (N, N)                     a tuple, kept as syntax
//   n = T.int64()                      a symbolic dimension
//   data = np.zeros(N)                 left alone: no constant
//   @T.prim_func                       a function, read with N, SHAPE and n
//   def main(...): ...
//   B[vi] = A[vi]                      refused: slipped out of main(A, B)
//
// The last line is the reason to look at statements behind a function at all: a
// line of its body with too little indentation would otherwise be lost in
// silence. A line of a module class that has no meaning is refused as well.
#include "kiln/ir/text/reader/reader.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/ast.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/expr_reader.h"
#include "kiln/ir/text/reader/function_reader.h"
#include "kiln/ir/text/reader/graph_reader.h"
#include "kiln/ir/text/reader/scope.h"

namespace kiln {
namespace {

using script::Value;
namespace py = python;

// The last part of a decorator's name: "prim_func" for @T.prim_func(...).
std::string DecoratorName(const py::Expr& decorator) {
  const bool call = decorator.kind == py::ExprKind::kCall;
  const std::string name =
      py::DottedName(call ? decorator.items[0] : decorator);
  return name.substr(name.rfind('.') + 1);
}

bool IsDecorated(const py::Stmt& s, std::string_view name) {
  for (const py::Expr& decorator : s.decorators) {
    if (DecoratorName(decorator) == name) return true;
  }
  return false;
}

bool IsTensorFunction(const py::Stmt& s) {
  return s.kind == py::StmtKind::kFunction && IsDecorated(s, "prim_func");
}

bool IsGraphFunction(const py::Stmt& s) {
  return s.kind == py::StmtKind::kFunction && IsDecorated(s, "function");
}

// TypeVar("n"), T.int64() or T.var("int64"): a symbolic dimension.
bool IsDimension(const py::Expr& value) {
  if (value.kind != py::ExprKind::kCall) return false;
  const std::string name = script::TensorName(value.items[0]);
  return name == "var" || value.items[0].IsName("TypeVar") ||
         (value.items.size() == 1 && (name == "int64" || name == "int32"));
}

// T.block("C"), T.grid(4, 4), T.axis.spatial(4, i): what only the body of a
// tensor function calls.
bool IsOfBody(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) return false;
  const std::string name = script::TensorName(e.items[0]);
  constexpr std::string_view kCallees[] = {
      "block",          "sblock",      "grid",       "serial",
      "parallel",       "unroll",      "vectorized", "where",
      "thread_binding", "reads",       "writes",     "init",
      "block_attr",     "sblock_attr", "evaluate",   "alloc_buffer"};
  return name.rfind("axis.", 0) == 0 ||
         std::find(std::begin(kCallees), std::end(kCallees), name) !=
             std::end(kCallees);
}

// Whether a line of a script can only have slipped out of the tensor function
// above it: a store, a block, a loop or a note of a block.
bool SlippedOut(const py::Stmt& s, const py::Stmt& above) {
  using Kind = py::StmtKind;
  if (s.kind == Kind::kAssign || s.kind == Kind::kAugment) {
    const py::Expr& target = s.targets[0];
    const auto is_target = [&](const py::Parameter& p) {
      return target.kind == py::ExprKind::kSubscript &&
             target.items[0].IsName(p.name);
    };
    return std::any_of(above.parameters.begin(), above.parameters.end(),
                       is_target) ||
           (s.value && IsOfBody(*s.value));
  }
  if (s.kind == Kind::kExpr || s.kind == Kind::kFor) {
    if (s.value && IsOfBody(*s.value)) return true;
  }
  if (s.kind == Kind::kWith && IsOfBody(s.values[0])) return true;
  const bool is_around =
      s.kind == Kind::kFor || s.kind == Kind::kIf || s.kind == Kind::kWith;
  return is_around &&
         std::any_of(s.body.begin(), s.body.end(), [&](const py::Stmt& inner) {
           return SlippedOut(inner, above);
         });
}

// Whether a member is neither a part of the module nor about the graph level,
// as calls of the I dialect are.
bool MeansNothing(const py::Stmt& s) {
  using Kind = py::StmtKind;
  if (s.kind == Kind::kAssign || s.kind == Kind::kAnnotate) {
    return s.targets[0].kind == py::ExprKind::kSubscript ||
           (s.value && IsOfBody(*s.value));
  }
  if (s.kind != Kind::kExpr) {
    return s.kind != Kind::kAssign && s.kind != Kind::kAnnotate &&
           s.kind != Kind::kPass && s.kind != Kind::kImport;
  }
  if (s.value->kind == py::ExprKind::kCall) {
    return py::DottedName(s.value->items[0]).rfind("I.", 0) != 0;
  }
  return s.value->kind != py::ExprKind::kString &&
         s.value->kind != py::ExprKind::kEllipsis;
}

class ModuleReader {
 public:
  explicit ModuleReader(const py::Source& source) : source_(source) {}

  absl::StatusOr<Module> Read(const std::vector<py::Stmt>& file);

 private:
  absl::Status Class(const py::Stmt& s);
  absl::Status Function(const py::Stmt& s);
  absl::Status Member(const py::Stmt& s);
  void Metadata(const py::Expr& call);
  void Constant(const py::Stmt& s);
  void NoteFunctions(const std::vector<py::Stmt>& stmts);
  absl::Status ModuleAttrs(const py::Expr& call);
  absl::Status CheckName(const py::Stmt& s) const;

  const py::Source& source_;
  script::Surroundings around_;
  std::set<std::string> functions_;  // of the whole text, read or not
  Module module_;
};

// Constants whose bytes cannot be read keep their places only, as those whose
// bytes the script does not have.
void ModuleReader::Metadata(const py::Expr& call) {
  if (call.items.size() != 2 || call.items[1].kind != py::ExprKind::kString) {
    return;
  }
  absl::StatusOr<script::Metadata> metadata =
      script::ReadMetadata(call.items[1].text);
  if (metadata.ok()) around_.metadata = *std::move(metadata);
}

// Binds the name in `name = 128` and the like. A value that is no constant is
// left alone, as the script may hold any code.
void ModuleReader::Constant(const py::Stmt& s) {
  if (s.kind != py::StmtKind::kAssign) return;
  if (s.targets.size() != 1 || s.targets[0].kind != py::ExprKind::kName) return;
  const py::Expr& value = *s.value;
  if (IsDimension(value)) {
    around_.dimensions.insert(s.targets[0].text);
    return;
  }
  if (value.kind == py::ExprKind::kCall &&
      py::DottedName(value.items[0]) == "tvm.ir.load_json") {
    Metadata(value);
    return;
  }
  if (value.kind == py::ExprKind::kString ||
      value.kind == py::ExprKind::kTuple || value.kind == py::ExprKind::kList) {
    around_.constants.Bind(s.targets[0].text, value);
    return;
  }
  script::Context context(source_);
  context.scope = around_.constants;
  absl::StatusOr<Value> number = script::ExprReader(context).Read(value);
  if (number.ok() && number->weak) {
    around_.constants.Bind(s.targets[0].text, *std::move(number));
  }
}

void ModuleReader::NoteFunctions(const std::vector<py::Stmt>& stmts) {
  for (const py::Stmt& s : stmts) {
    if (IsTensorFunction(s) || IsGraphFunction(s)) functions_.insert(s.name);
  }
}

absl::Status ModuleReader::CheckName(const py::Stmt& s) const {
  bool taken = module_.Find(s.name) != nullptr;
  taken = taken || module_.FindGraph(s.name) != nullptr;
  if (!taken) return absl::OkStatus();
  return source_.Error(s.begin, absl::StrCat("the module has two functions "
                                             "named `",
                                             s.name, "`"));
}

absl::Status ModuleReader::Function(const py::Stmt& s) {
  KILN_RETURN_IF_ERROR(CheckName(s));
  if (IsGraphFunction(s)) {
    KILN_ASSIGN_OR_RETURN(
        graph::GraphFunction function,
        script::ReadGraphFunction(
            source_, {around_, {"Module", "cls", module_.name}, functions_},
            s));
    module_.graph_functions.push_back(std::move(function));
    return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(kiln::Function function,
                        script::ReadFunction(source_, around_, s));
  module_.functions.push_back(std::move(function));
  return absl::OkStatus();
}

absl::Status ModuleReader::ModuleAttrs(const py::Expr& call) {
  if (call.items.size() != 2) {
    return source_.Error(call.begin, "I.module_attrs takes one dict");
  }
  script::Context context(source_);
  context.scope = around_.constants;
  KILN_ASSIGN_OR_RETURN(
      module_.attrs, script::ExprReader(context).AttributeMap(call.items[1]));
  return absl::OkStatus();
}

absl::Status ModuleReader::Member(const py::Stmt& s) {
  if (IsTensorFunction(s) || IsGraphFunction(s)) return Function(s);
  if (s.kind == py::StmtKind::kFunction) {
    return source_.Error(s.begin,
                         absl::StrCat("`", s.name,
                                      "` is no function of a module; decorate "
                                      "it with @T.prim_func or @R.function"));
  }
  if (s.kind == py::StmtKind::kExpr && s.value->kind == py::ExprKind::kCall) {
    const std::string name = DecoratorName(*s.value);
    if (name == "module_attrs") return ModuleAttrs(*s.value);
  }
  if (MeansNothing(s)) {
    return source_.Error(s.begin,
                         "this means nothing in a module, which nobody runs; a "
                         "module holds functions, constants and "
                         "I.module_attrs({...})");
  }
  Constant(s);
  return absl::OkStatus();
}

absl::Status ModuleReader::Class(const py::Stmt& s) {
  module_.name = s.name;
  for (const py::Stmt& member : s.body) KILN_RETURN_IF_ERROR(Member(member));
  return absl::OkStatus();
}

absl::StatusOr<Module> ModuleReader::Read(const std::vector<py::Stmt>& file) {
  const py::Stmt* module = nullptr;
  bool bare = false;
  for (const py::Stmt& s : file) {
    if (s.kind == py::StmtKind::kClass && IsDecorated(s, "ir_module")) {
      if (module != nullptr) {
        return source_.Error(
            s.begin, absl::StrCat("there are two modules here, `", module->name,
                                  "` and `", s.name, "`; keep one to a text"));
      }
      module = &s;
    }
    bare = bare || IsTensorFunction(s) || IsGraphFunction(s);
  }
  if (module == nullptr && !bare) {
    return source_.Error({},
                         "there is no program here: a class decorated "
                         "with @I.ir_module, or a function decorated with "
                         "@T.prim_func");
  }
  NoteFunctions(file);
  if (module) NoteFunctions(module->body);
  const py::Stmt* above = nullptr;
  for (const py::Stmt& s : file) {
    if (&s == module) {
      KILN_RETURN_IF_ERROR(Class(s));
    } else if (IsTensorFunction(s) || IsGraphFunction(s)) {
      KILN_RETURN_IF_ERROR(Function(s));
      above = &s;
    } else if (above && SlippedOut(s, *above)) {
      return source_.Error(s.begin,
                           absl::StrCat("this stands outside of `", above->name,
                                        "`; indent it as far as the line of "
                                        "the body that it belongs to"));
    } else {
      Constant(s);
    }
  }
  return std::move(module_);
}

}  // namespace

absl::StatusOr<Module> ParseModule(const python::Source& source) {
  KILN_ASSIGN_OR_RETURN(std::vector<py::Stmt> file, py::ParseFile(source));
  return ModuleReader(source).Read(file);
}

absl::StatusOr<Module> ParseModule(std::string name, std::string text) {
  return ParseModule(python::Source(std::move(name), std::move(text)));
}

absl::StatusOr<Function> ParseFunction(std::string name, std::string text) {
  const python::Source source(std::move(name), std::move(text));
  KILN_ASSIGN_OR_RETURN(Module module, ParseModule(source));
  if (module.functions.size() == 1) return std::move(module.functions[0]);
  return source.Error({}, absl::StrCat("one tensor function is wanted here, "
                                       "there are ",
                                       module.functions.size()));
}

absl::StatusOr<Attr> ParseAttribute(std::string name, std::string text) {
  const python::Source source(std::move(name), std::move(text));
  KILN_ASSIGN_OR_RETURN(const py::Expr value, py::ParseExpression(source));
  script::Context context(source);
  return script::ExprReader(context).Attribute(value);
}

}  // namespace kiln
