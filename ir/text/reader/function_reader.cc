// A signature may use what only the body declares, and a body may refer to an
// address that its declaration left open. Hence the order of reading:
//
//   def main(a: T.handle, B: T.Buffer((n,), "float32"), m: T.int64):
//       n = T.int64()
//       A = T.match_buffer(a, (n, m))
//       ... A.data ...
//
//   1. mentions       A.data: A needs a variable for its address
//   2. dimensions     n, which the body declares
//   3. scalars        a and m, so that any shape may use them
//   4. buffers        B, by n
//   5. statements     A becomes the buffer of parameter a
//   6. root block     put around a body with blocks that is not one itself
//
// All signed integers of 32 bits or more in the signature become int64, as they
// may be extents or indices; narrower ones are data.
#include "kiln/ir/text/reader/function_reader.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/returned_value.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/context.h"
#include "kiln/ir/text/reader/stmt_reader.h"

namespace kiln::script {
namespace {

// Notes the buffers that a packed function is handed by their names.
void FindHandedOver(const py::Expr& e, Context& context) {
  if (e.kind != py::ExprKind::kCall) return;
  const std::optional<Intrinsic> op = IntrinsicNamed(TensorName(e.items[0]));
  if (!op || !IsPackedCall(*op)) return;
  for (const py::Expr& item : e.items) {
    if (item.kind == py::ExprKind::kName) context.named_data.insert(item.text);
  }
}

// Notes the buffers whose address or offset the function mentions.
void FindMentions(const py::Expr& e, Context& context) {
  if (e.kind == py::ExprKind::kAttribute &&
      e.items[0].kind == py::ExprKind::kName) {
    if (e.text == "data") context.named_data.insert(e.items[0].text);
    if (e.text == "elem_offset") context.named_offset.insert(e.items[0].text);
  }
  FindHandedOver(e, context);
  for (const py::Expr& item : e.items) FindMentions(item, context);
}

void FindMentions(const std::vector<py::Stmt>& stmts, Context& context) {
  for (const py::Stmt& s : stmts) {
    if (s.value) FindMentions(*s.value, context);
    for (const py::Expr& e : s.values) FindMentions(e, context);
    for (const py::Expr& e : s.targets) FindMentions(e, context);
    FindMentions(s.body, context);
    FindMentions(s.orelse, context);
  }
}

// Whether `value` declares a variable: T.int64() and the like.
bool DeclaresIndex(const py::Expr& value) {
  if (value.kind != py::ExprKind::kCall || value.items.size() != 1) {
    return false;
  }
  std::optional<DType> dtype = DType::FromString(TensorName(value.items[0]));
  return dtype && dtype->is_int();
}

// Parameters may use symbolic extents that the body declares: n = T.int64().
void DeclareExtent(const py::Expr& target, const py::Expr& value,
                   Context& context) {
  if (target.kind == py::ExprKind::kTuple &&
      value.kind == py::ExprKind::kTuple &&
      target.items.size() == value.items.size()) {
    for (size_t i = 0; i < target.items.size(); ++i) {
      DeclareExtent(target.items[i], value.items[i], context);
    }
  } else if (target.kind == py::ExprKind::kName && DeclaresIndex(value)) {
    context.scope.Bind(target.text, Value{Var(target.text), false, true});
  }
}

class FunctionReader {
 public:
  FunctionReader(const py::Source& source, const Surroundings& around)
      : context_(source), stmts_(context_) {
    context_.scope = around.constants;
    for (const std::string& name : around.dimensions) {
      context_.scope.Bind(name, Value{Var(name), false, true});
    }
  }

  absl::StatusOr<Function> Read(const py::Stmt& def);

 private:
  absl::Status Decorator(const py::Expr& decorator);
  absl::Status Scalar(const py::Parameter& parameter);
  absl::Status Parameter(const py::Parameter& parameter);
  absl::StatusOr<DType> ParameterType(const py::Parameter& parameter);
  Stmt UnderRoot(Stmt body);
  absl::Status CheckReturn(const py::Stmt& def) const;

  Context context_;
  StmtReader stmts_;
  std::set<std::string> names_;
};

absl::Status FunctionReader::Decorator(const py::Expr& decorator) {
  if (decorator.kind != py::ExprKind::kCall) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, decorator,
                          {"func", "private", "s_tir", "check_well_formed",
                           "persistent", "is_stir"}));
  if (const py::Expr* is_private = args.Get("private")) {
    context_.function.is_private = is_private->kind == py::ExprKind::kTrue;
  }
  return absl::OkStatus();
}

absl::StatusOr<DType> FunctionReader::ParameterType(
    const py::Parameter& parameter) {
  const py::Expr& annotation = *parameter.annotation;
  const py::Expr& type =
      annotation.kind == py::ExprKind::kCall ? annotation.items[0] : annotation;
  const std::string name = TensorName(type);
  std::optional<DType> dtype = DType::FromString(name);
  if (name == "Ptr") dtype = DType::Handle();
  if (!dtype || !dtype->is_scalar()) {
    return context_.Error(
        annotation.begin,
        absl::StrCat("the parameter `", parameter.name,
                     "` is a T.Buffer(shape, dtype), a T.handle, or a scalar "
                     "such as T.int64"));
  }
  return *dtype;
}

// Scalars are known before buffers are, so that any extent may use any of them.
absl::Status FunctionReader::Scalar(const py::Parameter& parameter) {
  if (!parameter.annotation) {
    return context_.Error(parameter.begin,
                          absl::StrCat("the parameter `", parameter.name,
                                       "` needs a type: ", parameter.name,
                                       ": T.Buffer((128, 128), \"float32\")"));
  }
  if (parameter.default_value) {
    return context_.Error(parameter.begin,
                          absl::StrCat("the parameter `", parameter.name,
                                       "` has a default value; a tensor "
                                       "function is given every argument"));
  }
  if (!names_.insert(parameter.name).second) {
    return context_.Error(parameter.begin, "two parameters have this name");
  }
  if (BufferReader::IsBufferAnnotation(*parameter.annotation)) {
    return absl::OkStatus();
  }
  KILN_ASSIGN_OR_RETURN(DType dtype, ParameterType(parameter));
  // What may be an extent or an index; narrower integers are numbers.
  const bool index = dtype.is_int() && dtype.bits() >= 32;
  const Var var(parameter.name, index ? DType::Index() : dtype);
  context_.scope.Bind(parameter.name, Value{var, false, index});
  return absl::OkStatus();
}

absl::Status FunctionReader::Parameter(const py::Parameter& parameter) {
  Param param;
  if (BufferReader::IsBufferAnnotation(*parameter.annotation)) {
    KILN_ASSIGN_OR_RETURN(
        param.buffer,
        stmts_.buffers().Annotation(parameter.name, *parameter.annotation));
    param.var = Var(parameter.name + "_handle", DType::Handle());
    context_.scope.Bind(parameter.name, param.buffer);
  } else {
    const Binding& binding = *context_.scope.Find(parameter.name);
    param.var = Var(std::get<Value>(binding).expr.As<VarNode>());
  }
  context_.function.params.push_back(std::move(param));
  return absl::OkStatus();
}

Stmt FunctionReader::UnderRoot(Stmt body) {
  std::vector<Buffer>& allocated = context_.blocks.back().fields.alloc_buffers;
  const auto* realize = body.As<BlockRealizeNode>();
  const bool is_root = realize && realize->block->iters.empty() &&
                       realize->block->name == "root";
  if (is_root && allocated.empty()) return body;
  bool has_blocks = false;
  Visit(body, [&](const Stmt& s) {
    has_blocks = has_blocks || s.kind() == StmtKind::kBlockRealize;
    return !has_blocks;
  });
  if (!has_blocks && allocated.empty()) return body;
  return MakeRoot(context_.function.NewId(), std::move(allocated),
                  std::move(body));
}

// A function that returns a number does nothing else.
absl::Status FunctionReader::CheckReturn(const py::Stmt& def) const {
  const Function& f = context_.function;
  if (!HasReturn(f.body)) return absl::OkStatus();
  bool takes_numbers = true;
  for (const Param& param : f.params) takes_numbers &= !param.buffer;
  if (takes_numbers && ReturnedValue(f)) return absl::OkStatus();
  return context_.Error(
      def.begin,
      absl::StrCat("`", def.name,
                   "` returns a value beside other work; a tensor function "
                   "either returns a number made of the numbers that it is "
                   "given, in one statement, or writes its result into a "
                   "buffer that is a parameter"));
}

absl::StatusOr<Function> FunctionReader::Read(const py::Stmt& def) {
  context_.function.name = def.name;
  for (const py::Expr& decorator : def.decorators) {
    KILN_RETURN_IF_ERROR(Decorator(decorator));
  }
  FindMentions(def.body, context_);
  ScopeLevel level(context_.scope);
  for (const py::Stmt& s : def.body) {
    if (s.kind == py::StmtKind::kAssign) {
      DeclareExtent(s.targets[0], *s.value, context_);
    }
  }
  for (const py::Parameter& parameter : def.parameters) {
    KILN_RETURN_IF_ERROR(Scalar(parameter));
  }
  for (const py::Parameter& parameter : def.parameters) {
    KILN_RETURN_IF_ERROR(Parameter(parameter));
  }
  context_.blocks.emplace_back();
  KILN_ASSIGN_OR_RETURN(Stmt body, stmts_.Body(def.body));
  context_.function.body = UnderRoot(std::move(body));
  KILN_RETURN_IF_ERROR(CheckReturn(def));
  return std::move(context_.function);
}

}  // namespace

absl::StatusOr<Function> ReadFunction(const py::Source& source,
                                      const Surroundings& around,
                                      const py::Stmt& def) {
  return FunctionReader(source, around).Read(def);
}

}  // namespace kiln::script
