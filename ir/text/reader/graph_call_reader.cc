// Calls of graph functions. What a keyword means follows from the signature of
// the op; what has no signature keeps its positions as arguments and its
// keywords as attributes:
//
//   R.nn.softmax(x, axis=1)       attribute axis
//   R.nn.softmax(x, 1)            the same: there is one argument
//   R.nn.relu(data=x)             an argument by name
//   R.reshape(x, (2, n))          a shape: a tuple of numbers in its place
//   R.mine.op(x, 3, k=2)          arguments x and 3, attribute k
//   R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((n,), "float32"))
//                                 a function, a tuple, what it writes
//   cls.f(x), f(x)                a function of the module, a variable
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/text/python/arguments.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/ir/text/reader/graph_reader.h"

namespace kiln::script {
namespace {

bool IsInfoKeyword(std::string_view name) {
  return name == "out_sinfo" || name == "out_ty" || name == "sinfo_args" ||
         name == "ty_args";
}

// Places where a tuple of numbers is a shape.
bool IsShapeArgument(std::string_view name) {
  return name == "shape" || name == "size";
}

const graph::TupleNode* TupleOfNumbers(const graph::Expr& e) {
  const auto* tuple = e.As<graph::TupleNode>();
  if (!tuple) return nullptr;
  for (const graph::Expr& field : tuple->fields) {
    if (!NumberOf(field)) return nullptr;
  }
  return tuple;
}

DType DefaultType(const kiln::Expr& number) {
  if (number.dtype().is_float()) return DType::Float(32);
  return number.dtype().is_bool() ? DType::Bool() : DType::Int(32);
}

// Whether a type that need not be given, out_dtype=None, is spelled "void".
bool IsNoType(const graph::AttributeSignature& attr, const Attr& value) {
  return attr.default_text == "None" && value.string() &&
         *value.string() == "void";
}

// The value of the keyword in the call `e`; null where it is not given.
const py::Expr* FindKeyword(const py::Expr& e, std::string_view name) {
  for (const py::Expr& item : e.items) {
    if (item.kind == py::ExprKind::kKeyword && item.text == name) {
      return &item.items[0];
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<graph::Expr> GraphReader::ArgumentOf(const py::Expr& e,
                                                    std::string_view name) {
  KILN_ASSIGN_OR_RETURN(graph::Expr value, Value(e));
  const auto* tuple = TupleOfNumbers(value);
  if (!IsShapeArgument(name) || !tuple) return value;
  // R.tuple() stands for what is left out, () for a shape.
  if (tuple->fields.empty() && e.kind == py::ExprKind::kCall) return value;
  std::vector<kiln::Expr> extents;
  for (const graph::Expr& field : tuple->fields) {
    KILN_ASSIGN_OR_PLACE(kiln::Expr extent, context_, e.begin,
                         AsIndex({NumberOf(field), false, true}));
    extents.push_back(std::move(extent));
  }
  return graph::ShapeOf(std::move(extents));
}

// T.index_map(lambda i, j: (j, i)) as {"inputs": [i, j], "outputs": [j, i]}.
absl::StatusOr<Attr> GraphReader::IndexMap(const py::Expr& call) {
  if (call.items.size() < 2 || call.items[1].kind != py::ExprKind::kLambda) {
    return Error(call.begin, "an index map is a lambda");
  }
  const py::Expr& lambda = call.items[1];
  ScopeLevel level(context_.scope);
  AttrList inputs, outputs;
  for (const std::string& name : lambda.names) {
    kiln::Var var(name);
    inputs.push_back(Attr(var));
    context_.scope.Bind(name, script::Value{var, false, true});
  }
  KILN_ASSIGN_OR_RETURN(std::vector<kiln::Expr> indices,
                        scalars_.Shape(lambda.items[0]));
  for (kiln::Expr& index : indices) outputs.push_back(Attr(std::move(index)));
  return Attr(AttrMap{{"inputs", Attr(std::move(inputs))},
                      {"outputs", Attr(std::move(outputs))}});
}

absl::StatusOr<Attr> GraphReader::AttributeOf(const py::Expr& e) {
  if (e.kind == py::ExprKind::kCall) {
    if (TensorName(e.items[0]) == "index_map") return IndexMap(e);
    if (GraphName(e.items[0]) == "str" && e.items.size() == 2) {
      return scalars_.Attribute(e.items[1]);
    }
    const std::string type = TensorName(e.items[0]);
    if (e.items.size() == 1 && DType::FromString(type)) return Attr(type);
  }
  if (!TensorName(e).empty() && DType::FromString(TensorName(e))) {
    return Attr(TensorName(e));
  }
  return scalars_.Attribute(e);
}

absl::Status GraphReader::Positional(const py::Expr& argument,
                                     CallParts& parts) {
  const graph::OpSignature* signature = parts.signature;
  const size_t place = parts.args.size() + parts.attrs.size();
  const size_t count =
      signature ? signature->args.size() - (signature->TakesMore() ? 1 : 0) : 0;
  if (!signature || place < count || signature->TakesMore()) {
    std::string_view name;
    if (place < count) name = signature->args[place];
    KILN_ASSIGN_OR_RETURN(graph::Expr value, ArgumentOf(argument, name));
    parts.args.push_back(std::move(value));
    return absl::OkStatus();
  }
  if (place - count >= signature->attrs.size()) {
    return Error(argument.begin,
                 absl::StrCat("R.", signature->name, " takes at most ",
                              count + signature->attrs.size(), " arguments"));
  }
  KILN_ASSIGN_OR_RETURN(Attr value, AttributeOf(argument));
  parts.attrs[signature->attrs[place - count].name] = std::move(value);
  return absl::OkStatus();
}

absl::Status GraphReader::Keyword(const py::Expr& keyword, CallParts& parts) {
  const std::string& name = keyword.text;
  const py::Expr& value = keyword.items[0];
  if (IsInfoKeyword(name)) {
    KILN_ASSIGN_OR_RETURN(parts.infos, Infos(value));
    return absl::OkStatus();
  }
  if (parts.signature) {
    const auto& args = parts.signature->args;
    const auto found = std::find(args.begin(), args.end(), name);
    if (found != args.end()) {
      const size_t place = found - args.begin();
      if (parts.args.size() <= place) parts.args.resize(place + 1);
      if (parts.args[place]) {
        return Error(keyword.begin, absl::StrCat("`", name, "` stands twice"));
      }
      KILN_ASSIGN_OR_RETURN(parts.args[place], ArgumentOf(value, name));
      return absl::OkStatus();
    }
    if (!parts.signature->FindAttribute(name)) {
      const std::string known = absl::StrJoin(
          parts.signature->attrs, ", ",
          [](std::string* out, const auto& attr) { out->append(attr.name); });
      return Error(
          keyword.begin,
          absl::StrCat("R.", parts.signature->name, " has no attribute `", name,
                       "`; it ", known.empty() ? "has none" : "knows ", known));
    }
  }
  KILN_ASSIGN_OR_RETURN(Attr attr, AttributeOf(value));
  if (!parts.attrs.emplace(name, std::move(attr)).second) {
    return Error(keyword.begin, absl::StrCat("`", name, "` stands twice"));
  }
  return absl::OkStatus();
}

// Arguments without holes, and defaults.
absl::Status GraphReader::Complete(const py::Expr& e, CallParts& parts) {
  if (!parts.signature) return absl::OkStatus();
  for (size_t i = 0; i < parts.args.size(); ++i) {
    if (parts.args[i]) continue;
    return Error(e.begin, absl::StrCat("R.", parts.signature->name, " needs `",
                                       parts.signature->args[i], "`"));
  }
  for (const graph::AttributeSignature& attr : parts.signature->attrs) {
    const auto found = parts.attrs.find(attr.name);
    if (found != parts.attrs.end() && !IsNoType(attr, found->second)) continue;
    if (attr.default_text.empty()) {
      return Error(e.begin, absl::StrCat("R.", parts.signature->name,
                                         " needs `", attr.name, "`"));
    }
    const py::Source source("default", attr.default_text);
    KILN_ASSIGN_OR_RETURN(const py::Expr value, py::ParseExpression(source));
    KILN_ASSIGN_OR_RETURN(parts.attrs[attr.name], AttributeOf(value));
  }
  return absl::OkStatus();
}

absl::StatusOr<graph::Expr> GraphReader::OpCall(const py::Expr& e,
                                                const std::string& name) {
  CallParts parts;
  parts.signature = graph::FindSignature(name);
  for (size_t i = 1; i < e.items.size(); ++i) {
    const py::Expr& argument = e.items[i];
    if (argument.kind == py::ExprKind::kStarred) {
      return Error(argument.begin, "nothing can be spread here");
    }
    KILN_RETURN_IF_ERROR(argument.kind == py::ExprKind::kKeyword
                             ? Keyword(argument, parts)
                             : Positional(argument, parts));
  }
  KILN_RETURN_IF_ERROR(Complete(e, parts));
  return graph::CallOp(name, std::move(parts.args), std::move(parts.attrs),
                       std::move(parts.infos));
}

// A function by its name in quotes is a packed one, or one of the module that
// goes by that name when the program runs.
absl::StatusOr<graph::Expr> GraphReader::Function(const py::Expr& e) {
  if (e.kind == py::ExprKind::kString) return graph::Extern(e.text);
  return Value(e);
}

// What a call of a tensor function writes: R.Tensor((n, 4), "float32"), or in
// the older spelling (n, 4) with the keyword dtype="float32".
absl::StatusOr<std::vector<graph::StructInfo>> GraphReader::Written(
    const py::Expr& call, const py::Expr& what) {
  const py::Expr* type = FindKeyword(call, "dtype");
  if (!type) return Infos(what);
  KILN_ASSIGN_OR_RETURN(const graph::Expr shape, ArgumentOf(what, "shape"));
  KILN_ASSIGN_OR_RETURN(const Attr name, AttributeOf(*type));
  const auto* extents = shape.As<graph::ShapeNode>();
  if (!extents) return Error(what.begin, "with dtype, a shape stands here");
  const std::optional<DType> dtype =
      name.string() ? DType::FromString(*name.string()) : std::nullopt;
  if (!dtype) return Error(type->begin, "no type is called so");
  return std::vector<graph::StructInfo>{graph::Tensor(extents->values, *dtype)};
}

// call_tir and its like: the third place is what the function writes.
absl::StatusOr<graph::Expr> GraphReader::TensorCall(const py::Expr& e,
                                                    const std::string& name) {
  CallParts parts;
  const graph::OpSignature* signature = graph::FindSignature(name);
  graph::Expr scalars;
  for (size_t i = 1; i < e.items.size(); ++i) {
    const bool is_named = e.items[i].kind == py::ExprKind::kKeyword;
    const py::Expr& value = is_named ? e.items[i].items[0] : e.items[i];
    const std::string& keyword = e.items[i].text;
    if (is_named ? keyword == "func" || keyword == "gvar" : i == 1) {
      KILN_ASSIGN_OR_RETURN(graph::Expr callee, Function(value));
      parts.args.insert(parts.args.begin(), std::move(callee));
    } else if (is_named ? keyword == "args" : i == 2) {
      KILN_ASSIGN_OR_RETURN(graph::Expr args, Value(value));
      if (!args.As<graph::TupleNode>()) args = graph::TupleOf({args});
      parts.args.push_back(std::move(args));
    } else if (is_named ? IsInfoKeyword(keyword) : i == 3) {
      KILN_ASSIGN_OR_RETURN(parts.infos, Written(e, value));
    } else if (is_named && keyword == "dtype") {
      continue;  // Written has read it.
    } else if (is_named ? keyword == "tir_vars" : i == 4) {
      KILN_ASSIGN_OR_RETURN(scalars, ArgumentOf(value, "shape"));
    } else {
      if (!is_named) return Error(value.begin, "one argument too many");
      parts.signature = signature;
      KILN_RETURN_IF_ERROR(Keyword(e.items[i], parts));
    }
  }
  if (parts.args.size() != 2 || parts.infos.empty()) {
    return Error(e.begin, absl::StrCat("R.", name,
                                       " needs a function, a tuple of its "
                                       "arguments, and out_sinfo"));
  }
  if (scalars) parts.args.push_back(std::move(scalars));
  return graph::CallOp(name, std::move(parts.args), std::move(parts.attrs),
                       std::move(parts.infos));
}

absl::StatusOr<graph::Expr> GraphReader::PackedCall(const py::Expr& e,
                                                    const std::string& name) {
  if (e.items.size() < 2 || e.items[1].kind == py::ExprKind::kKeyword) {
    return Error(e.begin, absl::StrCat("R.", name, " needs a function"));
  }
  KILN_ASSIGN_OR_RETURN(graph::Expr callee, Function(e.items[1]));
  CallParts parts;
  for (size_t i = 2; i < e.items.size(); ++i) {
    const py::Expr& argument = e.items[i];
    KILN_RETURN_IF_ERROR(argument.kind == py::ExprKind::kKeyword
                             ? Keyword(argument, parts)
                             : Positional(argument, parts));
  }
  if (name != "call_packed") {
    parts.args.insert(parts.args.begin(), std::move(callee));
    callee = graph::Op(name);
  }
  return graph::Expr(
      new graph::CallNode(std::move(callee), std::move(parts.args),
                          std::move(parts.attrs), std::move(parts.infos)));
}

absl::StatusOr<graph::Expr> GraphReader::MatchCast(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(
      auto args,
      py::Arguments::Bind(context_.source, e, {"value", "struct_info"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* value, args.Require("value"));
  KILN_ASSIGN_OR_RETURN(const py::Expr* info, args.Require("struct_info"));
  KILN_ASSIGN_OR_RETURN(graph::Expr operand, Value(*value));
  KILN_ASSIGN_OR_RETURN(graph::StructInfo wanted, Info(*info));
  return graph::Expr(
      new graph::MatchCastNode(std::move(operand), std::move(wanted)));
}

// A nested list of numbers: its extents, and its elements in order.
absl::Status GraphReader::Elements(const py::Expr& e, size_t depth,
                                   std::vector<int64_t>& shape,
                                   std::vector<kiln::Expr>& values,
                                   bool& is_plain) {
  const bool is_list =
      e.kind == py::ExprKind::kList || e.kind == py::ExprKind::kTuple;
  if (!is_list) {
    if (depth != shape.size()) {
      return Error(e.begin, "the lists of a constant have one length");
    }
    KILN_ASSIGN_OR_RETURN(script::Value value, scalars_.Read(e));
    if (!AsInt(value.expr) && !value.expr.As<FloatImmNode>()) {
      return Error(e.begin, "a constant is made of numbers");
    }
    is_plain = is_plain && (value.weak || value.expr.dtype().is_bool());
    values.push_back(std::move(value.expr));
    return absl::OkStatus();
  }
  const auto size = static_cast<int64_t>(e.items.size());
  if (values.empty() && depth == shape.size()) shape.push_back(size);
  if (depth >= shape.size() || shape[depth] != size) {
    return Error(e.begin, "the lists of a constant have one length");
  }
  for (const py::Expr& item : e.items) {
    KILN_RETURN_IF_ERROR(Elements(item, depth + 1, shape, values, is_plain));
  }
  return absl::OkStatus();
}

absl::StatusOr<graph::Expr> GraphReader::Constant(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(
      auto args, py::Arguments::Bind(context_.source, e, {"value", "dtype"}));
  KILN_ASSIGN_OR_RETURN(const py::Expr* value, args.Require("value"));
  std::vector<int64_t> shape;
  std::vector<kiln::Expr> values;
  bool is_plain = true;
  KILN_RETURN_IF_ERROR(
      Elements(scalars_.Resolve(*value), 0, shape, values, is_plain));
  DType dtype = DType::Float(32);
  if (const py::Expr* type = args.GetUnlessNone("dtype")) {
    KILN_ASSIGN_OR_RETURN(dtype, scalars_.Type(*type));
  } else if (!values.empty()) {
    dtype = is_plain ? DefaultType(values[0]) : values[0].dtype();
    for (const kiln::Expr& element : values) {
      if (element.dtype().is_float()) dtype = DefaultType(element);
    }
  }
  KILN_ASSIGN_OR_PLACE(graph::Expr constant, context_, e.begin,
                       graph::MakeConstant(dtype, std::move(shape), values));
  return constant;
}

absl::StatusOr<graph::Expr> GraphReader::ShapeCall(const py::Expr& e) {
  if (e.items.size() != 2) return Error(e.begin, "R.shape takes one list");
  KILN_ASSIGN_OR_RETURN(std::vector<kiln::Expr> extents,
                        scalars_.Shape(e.items[1]));
  return graph::ShapeOf(std::move(extents));
}

absl::StatusOr<graph::Expr> GraphReader::SpecialCall(const py::Expr& e,
                                                     const std::string& name,
                                                     bool& known) {
  known = true;
  if (name == "const") return Constant(e);
  if (name == "shape") return ShapeCall(e);
  if (name == "match_cast") return MatchCast(e);
  if (name == "call_tir" || name == "call_tir_inplace" ||
      name == "call_tir_with_grad" || name == "call_dps_packed") {
    return TensorCall(e, name);
  }
  if (name == "call_packed" || name == "call_pure_packed" ||
      name == "call_inplace_packed" || name == "call_builtin_with_ctx") {
    return PackedCall(e, name);
  }
  if (name == "tuple") {
    py::Expr fields = e;
    fields.items.erase(fields.items.begin());
    return TupleOf(fields);
  }
  if (e.items.size() == 2 && name == "str") {
    KILN_ASSIGN_OR_RETURN(std::string text, scalars_.String(e.items[1]));
    return graph::Text(std::move(text));
  }
  if (e.items.size() == 2 && name == "dtype") {
    KILN_ASSIGN_OR_RETURN(const DType dtype, scalars_.Type(e.items[1]));
    return graph::Expr(new graph::DataTypeNode(dtype));
  }
  if (e.items.size() == 2 && name == "prim_value") return Scalar(e.items[1]);
  known = false;
  return graph::Expr();
}

// A function of the module, a closure, or what stands in a variable.
absl::StatusOr<graph::Expr> GraphReader::OtherCall(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(graph::Expr callee, Value(e.items[0]));
  CallParts parts;
  for (size_t i = 1; i < e.items.size(); ++i) {
    const py::Expr& argument = e.items[i];
    KILN_RETURN_IF_ERROR(argument.kind == py::ExprKind::kKeyword
                             ? Keyword(argument, parts)
                             : Positional(argument, parts));
  }
  return graph::Expr(
      new graph::CallNode(std::move(callee), std::move(parts.args),
                          std::move(parts.attrs), std::move(parts.infos)));
}

absl::StatusOr<graph::Expr> GraphReader::Call(const py::Expr& e) {
  const std::string name = GraphName(e.items[0]);
  if (!name.empty()) {
    bool known = false;
    KILN_ASSIGN_OR_RETURN(graph::Expr special, SpecialCall(e, name, known));
    if (known) return special;
    return OpCall(e, name);
  }
  const std::string tensor_name = TensorName(e.items[0]);
  if (tensor_name.find('.') != std::string::npos) return OpCall(e, tensor_name);
  if (!tensor_name.empty() || e.items[0].IsName("min") ||
      e.items[0].IsName("max")) {
    return Scalar(e);
  }
  return OtherCall(e);
}

}  // namespace kiln::script
