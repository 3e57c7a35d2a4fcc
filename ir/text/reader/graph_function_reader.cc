// A graph function is read from the top: every name has its variable before it
// is used. Ahead of that go the dimensions that the body declares, since the
// signature may use them, and the variables that stand for shapes:
//
//   def main(x: R.Tensor((n,), "float32"), y: R.Tensor(s, "float32")):
//       n = T.int64()                 a dimension
//       s: R.Shape(ndim=3)            a variable for the shape of y
//       with R.dataflow():
//           lv = R.exp(x)             a variable of the block
//           gv = R.add(lv, y)         one that the block gives
//           R.output(gv)
//       if c:                         z is what both branches name last
//           z = R.exp(gv)
//       else:
//           z = gv
//       return z
#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/reader/graph_reader.h"

namespace kiln::script {
namespace {

// TypeVar("n"), T.int64(), T.var("int64").
bool IsIdentifier(const std::string& text) {
  const auto is_inner = [](unsigned char c) {
    return std::isalnum(c) || c == '_';
  };
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), is_inner);
}

bool IsDimension(const py::Expr& e) {
  if (e.kind != py::ExprKind::kCall) return false;
  const std::string name = TensorName(e.items[0]);
  return e.items[0].IsName("TypeVar") || name == "var" ||
         (e.items.size() == 1 && (name == "int64" || name == "int32"));
}

// The names in n = T.int64(), or in m, n = T.int64(), T.int64().
std::vector<std::string> DeclaredDimensions(const py::Stmt& s) {
  if (s.kind != py::StmtKind::kAssign || s.targets.size() != 1) return {};
  const py::Expr& target = s.targets[0];
  if (target.kind == py::ExprKind::kName && IsDimension(*s.value)) {
    return {target.text};
  }
  if (target.kind != py::ExprKind::kTuple ||
      s.value->kind != py::ExprKind::kTuple ||
      !std::all_of(s.value->items.begin(), s.value->items.end(), IsDimension)) {
    return {};
  }
  std::vector<std::string> names;
  for (const py::Expr& name : target.items) names.push_back(name.text);
  return names;
}

bool CallsGraph(const py::Expr& e, std::string_view name) {
  return e.kind == py::ExprKind::kCall && GraphName(e.items[0]) == name;
}

// The names in R.output(...) of a dataflow block.
std::set<std::string> OutputsOf(const py::Stmt& s) {
  std::set<std::string> names;
  for (const py::Stmt& inner : s.body) {
    if (inner.kind != py::StmtKind::kExpr ||
        !CallsGraph(*inner.value, "output")) {
      continue;
    }
    for (size_t i = 1; i < inner.value->items.size(); ++i) {
      names.insert(inner.value->items[i].text);
    }
  }
  return names;
}

// T.int64, R.Prim("int64"): a number whose value the text does not say.
bool IsNumber(const py::Expr& annotation) {
  if (!TensorName(annotation).empty()) return true;
  return CallsGraph(annotation, "Prim") && annotation.items.size() == 2 &&
         annotation.items[1].kind == py::ExprKind::kString;
}

bool IsShapeDeclaration(const py::Stmt& s) {
  if (s.kind != py::StmtKind::kAnnotate || s.value) return false;
  const py::Expr& e = *s.annotation;
  return GraphName(e.kind == py::ExprKind::kCall ? e.items[0] : e) == "Shape";
}

}  // namespace

GraphReader::GraphReader(const py::Source& source,
                         const GraphSurroundings& around)
    : around_(around),
      context_(source),
      scalars_(context_),
      module_names_(around.module_names),
      vars_(1) {
  context_.scope = around.script.constants;
  for (const std::string& name : around.script.dimensions) Declare(name);
}

void GraphReader::Declare(const std::string& name) {
  context_.scope.Bind(name, script::Value{kiln::Var(name), false, true});
}

absl::Status GraphReader::Decorator(const py::Expr& decorator,
                                    graph::FunctionFields& fields) {
  if (decorator.kind != py::ExprKind::kCall) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, decorator,
                          {"f", "pure", "private", "check_well_formed"}));
  const py::Expr* is_private = args.Get("private");
  fields.is_private = is_private && is_private->kind == py::ExprKind::kTrue;
  const py::Expr* is_pure = args.Get("pure");
  fields.is_pure = !is_pure || is_pure->kind != py::ExprKind::kFalse;
  return absl::OkStatus();
}

// (2, "n") and ["n"] name dimensions, wherever they stand in the signature.
void GraphReader::DeclareNamed(const py::Expr& annotation) {
  const bool is_list = annotation.kind == py::ExprKind::kTuple ||
                       annotation.kind == py::ExprKind::kList;
  for (const py::Expr& item : annotation.items) {
    DeclareNamed(item);
    if (!is_list || item.kind != py::ExprKind::kString) continue;
    const bool is_known = context_.scope.Find(item.text) != nullptr;
    if (IsIdentifier(item.text) && !is_known) Declare(item.text);
  }
}

// What the signature may use: dimensions of the body and of all parameters,
// numbers among the parameters, variables for shapes.
absl::Status GraphReader::DeclareAhead(const py::Stmt& def) {
  for (const py::Stmt& s : def.body) {
    for (const std::string& name : DeclaredDimensions(s)) Declare(name);
  }
  for (const py::Parameter& parameter : def.parameters) {
    if (!parameter.annotation) continue;
    if (IsNumber(*parameter.annotation)) Declare(parameter.name);
    DeclareNamed(*parameter.annotation);
  }
  for (const py::Stmt& s : def.body) {
    if (!IsShapeDeclaration(s)) continue;
    KILN_ASSIGN_OR_RETURN(graph::StructInfo info, ShapeInfoOf(*s.annotation));
    const std::string& name = s.targets[0].text;
    vars_.back().insert_or_assign(name, graph::Var(name, std::move(info)));
  }
  return absl::OkStatus();
}

absl::StatusOr<graph::Var> GraphReader::Parameter(
    const py::Parameter& parameter) {
  if (!parameter.annotation) {
    return Error(parameter.begin,
                 absl::StrCat("the parameter `", parameter.name,
                              "` needs struct info: ", parameter.name,
                              ": R.Tensor((1, 784), \"float32\")"));
  }
  if (parameter.default_value || parameter.name[0] == '*') {
    return Error(parameter.begin,
                 "a graph function is given every argument by position");
  }
  KILN_ASSIGN_OR_RETURN(graph::StructInfo info, Info(*parameter.annotation));
  return graph::Var(parameter.name, NamedNumber(parameter.name, info));
}

// A number that goes by a name is a variable of the tensor level, too, which
// extents may use.
graph::StructInfo GraphReader::NamedNumber(const std::string& name,
                                           const graph::StructInfo& info) {
  const auto* number = info.As<graph::PrimInfo>();
  if (!number || number->value) return info;
  const bool is_index = number->dtype == DType::Index();
  const Binding* declared = context_.scope.Find(name);
  const auto* value = declared ? std::get_if<script::Value>(declared) : nullptr;
  const auto* known = value ? value->expr.As<VarNode>() : nullptr;
  const kiln::Var var =
      known && is_index ? kiln::Var(known) : kiln::Var(name, number->dtype);
  context_.scope.Bind(name, script::Value{var, false, is_index});
  return graph::Prim(number->dtype, var);
}

absl::StatusOr<graph::FunctionFields> GraphReader::Signature(
    const py::Stmt& def) {
  graph::FunctionFields fields;
  fields.name = def.name;
  for (const py::Expr& decorator : def.decorators) {
    KILN_RETURN_IF_ERROR(Decorator(decorator, fields));
  }
  KILN_RETURN_IF_ERROR(DeclareAhead(def));
  std::set<std::string> names;
  for (const py::Parameter& parameter : def.parameters) {
    if (!names.insert(parameter.name).second) {
      return Error(parameter.begin, "two parameters have this name");
    }
    KILN_ASSIGN_OR_RETURN(graph::Var var, Parameter(parameter));
    vars_.back().insert_or_assign(parameter.name, var);
    fields.params.push_back(std::move(var));
  }
  if (def.annotation) {
    KILN_ASSIGN_OR_RETURN(fields.result, Info(*def.annotation));
  }
  return fields;
}

// `self`, for a function inside of another one, is the variable by which it may
// call itself.
absl::StatusOr<graph::GraphFunction> GraphReader::Define(const py::Stmt& def,
                                                         graph::Var* self) {
  ScopeLevel level(context_.scope);
  vars_.emplace_back();
  KILN_ASSIGN_OR_RETURN(graph::FunctionFields fields, Signature(def));
  if (self) {
    std::vector<graph::StructInfo> params;
    for (const graph::Var& param : fields.params) params.push_back(param->info);
    *self = graph::Var(
        def.name,
        fields.result
            ? graph::Callable(std::move(params), fields.result, fields.is_pure)
            : graph::StructInfo(),
        outputs_ && !outputs_->count(def.name));
    vars_.back().emplace(def.name, *self);
  }
  auto* outer_function = std::exchange(function_, &fields);
  const auto* outer_outputs = std::exchange(outputs_, nullptr);
  Body body;
  KILN_RETURN_IF_ERROR(Statements(def.body, body));
  function_ = outer_function;
  outputs_ = outer_outputs;
  vars_.pop_back();
  if (!body.result) {
    return Error(def.begin, absl::StrCat("`", def.name,
                                         "` returns nothing; end it with "
                                         "a return"));
  }
  fields.body = graph::Seq(std::move(body.blocks), std::move(body.result));
  return graph::GraphFunction(std::move(fields));
}

void GraphReader::Bind(const std::string& name, graph::StructInfo info,
                       graph::Expr value, Body& body) {
  const bool is_dataflow = outputs_ != nullptr;
  if (body.blocks.empty() || body.blocks.back().is_dataflow != is_dataflow) {
    body.blocks.push_back({is_dataflow, {}});
  }
  const graph::Var var(name, std::move(info),
                       is_dataflow && !outputs_->count(name));
  body.blocks.back().bindings.push_back({var, std::move(value)});
  vars_.back().insert_or_assign(name, var);
  body.last = name;
}

absl::Status GraphReader::Evaluated(const py::Stmt& s, Body& body) {
  const py::Expr& e = *s.value;
  if (e.kind == py::ExprKind::kString || e.kind == py::ExprKind::kEllipsis) {
    return absl::OkStatus();
  }
  if (CallsGraph(e, "func_attr") && e.items.size() == 2) {
    KILN_ASSIGN_OR_RETURN(function_->attrs, scalars_.AttributeMap(e.items[1]));
    return absl::OkStatus();
  }
  if (CallsGraph(e, "output")) {
    return outputs_ ? absl::OkStatus()
                    : Error(e.begin, "R.output stands in a dataflow block");
  }
  if (e.kind != py::ExprKind::kCall) {
    return Error(e.begin, "this value goes nowhere; bind it to a name");
  }
  KILN_ASSIGN_OR_RETURN(graph::Expr value, Value(e));
  const std::string last = body.last;
  Bind("_", {}, std::move(value), body);
  body.last = last;
  return absl::OkStatus();
}

// a, b = R.split(x, 2): a variable for the tuple, and one for each field.
absl::Status GraphReader::Unpacked(const py::Stmt& s, Body& body) {
  KILN_ASSIGN_OR_RETURN(graph::Expr value, Value(*s.value));
  if (value.kind() != graph::GraphKind::kVar) {
    Bind("fields", {}, std::move(value), body);
    value = body.blocks.back().bindings.back().var;
  }
  int index = 0;
  for (const py::Expr& name : s.targets[0].items) {
    if (name.kind != py::ExprKind::kName) {
      return Error(name.begin, "a name is needed here");
    }
    Bind(name.text, {}, graph::Item(value, index++), body);
  }
  return absl::OkStatus();
}

absl::Status GraphReader::Assigned(const py::Stmt& s, Body& body) {
  if (s.targets.size() == 1 && s.targets[0].kind == py::ExprKind::kTuple) {
    return Unpacked(s, body);
  }
  if (s.targets.size() != 1 || s.targets[0].kind != py::ExprKind::kName) {
    return Error(s.begin, "a graph function binds names: y = R.nn.relu(x)");
  }
  const std::string& name = s.targets[0].text;
  if (s.value->kind == py::ExprKind::kName &&
      module_names_.count(s.value->text) && !FindVar(s.value->text)) {
    module_names_.insert(name);
    return absl::OkStatus();
  }
  graph::StructInfo info;
  if (s.annotation) {
    KILN_ASSIGN_OR_RETURN(info, Info(*s.annotation));
    info = NamedNumber(name, info);
  }
  KILN_ASSIGN_OR_RETURN(graph::Expr value, Value(*s.value));
  Bind(name, std::move(info), std::move(value), body);
  return absl::OkStatus();
}

absl::Status GraphReader::Dataflow(const py::Stmt& s, Body& body) {
  if (s.values.size() != 1 || !CallsGraph(s.values[0], "dataflow")) {
    return Error(s.begin, "a graph function has `with R.dataflow():` only");
  }
  if (outputs_) {
    return Error(s.begin, "a dataflow block stands in no other one");
  }
  const std::set<std::string> outputs = OutputsOf(s);
  outputs_ = &outputs;
  vars_.emplace_back();
  body.blocks.push_back({/*is_dataflow=*/true, {}});
  KILN_RETURN_IF_ERROR(Statements(s.body, body));
  outputs_ = nullptr;
  const std::map<std::string, graph::Var> inner = std::move(vars_.back());
  vars_.pop_back();
  for (const std::string& name : outputs) {
    const auto found = inner.find(name);
    if (found == inner.end()) {
      return Error(s.begin, absl::StrCat("the block outputs `", name,
                                         "`, which it does not bind"));
    }
    vars_.back().insert_or_assign(name, found->second);
  }
  for (const auto& [name, var] : inner) {
    if (!outputs.count(name)) ended_.insert(name);
  }
  // What follows begins a block of its own.
  if (outputs.size() == 1) body.last = *outputs.begin();
  return absl::OkStatus();
}

absl::StatusOr<GraphReader::Body> GraphReader::BranchBody(
    const py::Stmt& s, const std::vector<py::Stmt>& stmts) {
  ScopeLevel level(context_.scope);
  vars_.emplace_back();
  Body body;
  KILN_RETURN_IF_ERROR(Statements(stmts, body));
  if (body.result) {
    return Error(s.begin,
                 "a branch binds a name that follows it, and does not return");
  }
  const graph::Var* last = FindVar(body.last);
  if (body.last.empty() || last == nullptr) {
    return Error(s.begin, "each branch of an if binds a name last");
  }
  body.result = *last;
  vars_.pop_back();
  return body;
}

absl::Status GraphReader::Branch(const py::Stmt& s, Body& body) {
  if (outputs_) {
    return Error(s.begin, "an if stands outside of dataflow blocks");
  }
  KILN_ASSIGN_OR_RETURN(graph::Expr condition, Value(*s.value));
  KILN_ASSIGN_OR_RETURN(Body yes, BranchBody(s, s.body));
  KILN_ASSIGN_OR_RETURN(Body no, BranchBody(s, s.orelse));
  if (yes.last != no.last) {
    return Error(s.begin, absl::StrCat("the branches end with different names, "
                                       "`",
                                       yes.last, "` and `", no.last, "`"));
  }
  Bind(yes.last, {},
       graph::Expr(new graph::IfNode(
           std::move(condition),
           graph::Seq(std::move(yes.blocks), std::move(yes.result)),
           graph::Seq(std::move(no.blocks), std::move(no.result)))),
       body);
  return absl::OkStatus();
}

absl::Status GraphReader::Nested(const py::Stmt& s, Body& body) {
  graph::Var self;
  KILN_ASSIGN_OR_RETURN(graph::GraphFunction function, Define(s, &self));
  const bool is_dataflow = outputs_ != nullptr;
  if (body.blocks.empty() || body.blocks.back().is_dataflow != is_dataflow) {
    body.blocks.push_back({is_dataflow, {}});
  }
  body.blocks.back().bindings.push_back({self, std::move(function)});
  vars_.back().insert_or_assign(s.name, self);
  body.last = s.name;
  return absl::OkStatus();
}

absl::Status GraphReader::Returned(const py::Stmt& s, Body& body) {
  if (outputs_) {
    return Error(s.begin, "a return stands behind the dataflow block");
  }
  if (!s.value) return Error(s.begin, "a graph function returns a value");
  KILN_ASSIGN_OR_RETURN(body.result, Value(*s.value));
  return absl::OkStatus();
}

absl::Status GraphReader::Statement(const py::Stmt& s, Body& body) {
  using Kind = py::StmtKind;
  if (body.result) return Error(s.begin, "this stands behind the return");
  switch (s.kind) {
    case Kind::kImport:
    case Kind::kPass:
      return absl::OkStatus();
    case Kind::kAssign:
      return DeclaredDimensions(s).empty() ? Assigned(s, body)
                                           : absl::OkStatus();
    case Kind::kAnnotate:
      if (s.value) return Assigned(s, body);
      if (IsShapeDeclaration(s)) return absl::OkStatus();
      return Error(s.begin,
                   "a name without a value; dimensions are declared so: "
                   "n = T.int64()");
    case Kind::kExpr:
      return Evaluated(s, body);
    case Kind::kReturn:
      return Returned(s, body);
    case Kind::kWith:
      return Dataflow(s, body);
    case Kind::kIf:
      return Branch(s, body);
    case Kind::kFunction:
      return Nested(s, body);
    case Kind::kClass:
    case Kind::kAugment:
    case Kind::kBreak:
    case Kind::kContinue:
    case Kind::kFor:
    case Kind::kWhile:
    case Kind::kAssert:
    case Kind::kOther:
    case Kind::kTry:
      break;
  }
  return Error(s.begin,
               "this means nothing in a graph function; it holds bindings, "
               "`with R.dataflow():`, if, functions and a return");
}

absl::Status GraphReader::Statements(const std::vector<py::Stmt>& stmts,
                                     Body& body) {
  for (const py::Stmt& s : stmts) KILN_RETURN_IF_ERROR(Statement(s, body));
  return absl::OkStatus();
}

absl::StatusOr<graph::GraphFunction> ReadGraphFunction(
    const py::Source& source, const GraphSurroundings& around,
    const py::Stmt& def) {
  return GraphReader(source, around).Define(def);
}

}  // namespace kiln::script
