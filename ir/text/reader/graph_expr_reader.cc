// Values of graph functions. A name is looked up among the variables of the
// function first, then among symbolic dimensions, then among the functions of
// the module. Arithmetic on tensors stands for calls; arithmetic on numbers is
// an expression of the tensor level:
//
//   x + y          R.add(x, y)        x and y are variables of the graph
//   n * 2 + 1      a primitive value  n is a symbolic dimension
//   x[0]           a field of a tuple
//   (x, n)         a tuple of a variable and a primitive value
//   cls.linear0    a function of the module
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/reader/graph_reader.h"

namespace kiln::script {

namespace {

struct TensorOperator {
  std::string_view symbol, op;
};
constexpr TensorOperator kTensorOperators[] = {
    {"+", "add"},         {"-", "subtract"},      {"*", "multiply"},
    {"/", "divide"},      {"//", "floor_divide"}, {"%", "mod"},
    {"**", "power"},      {"@", "matmul"},        {"<", "less"},
    {"<=", "less_equal"}, {">", "greater"},       {">=", "greater_equal"},
    {"==", "equal"},      {"!=", "not_equal"}};

}  // namespace

std::string GraphName(const py::Expr& expr) {
  const std::string name = py::DottedName(expr);
  for (std::string_view prefix : {"R.", "relax.op.", "relax."}) {
    if (name.compare(0, prefix.size(), prefix) == 0) {
      return name.substr(prefix.size());
    }
  }
  return "";
}

kiln::Expr NumberOf(const graph::Expr& e) {
  if (const auto* number = e.As<graph::PrimNode>()) return number->value;
  const auto* var = e.As<graph::VarNode>();
  const auto* info = var ? var->info.As<graph::PrimInfo>() : nullptr;
  return info ? info->value : kiln::Expr();
}

const graph::Var* GraphReader::FindVar(const std::string& name) const {
  for (auto level = vars_.rbegin(); level != vars_.rend(); ++level) {
    const auto found = level->find(name);
    if (found != level->end()) return &found->second;
  }
  return nullptr;
}

absl::StatusOr<graph::Expr> GraphReader::Scalar(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(kiln::Expr value, scalars_.Settled(e));
  return graph::Number(std::move(value));
}

absl::StatusOr<graph::Expr> GraphReader::Name(const py::Expr& e) {
  if (const graph::Var* var = FindVar(e.text)) return *var;
  const Binding* binding = context_.scope.Find(e.text);
  if (binding && std::holds_alternative<script::Value>(*binding)) {
    return Scalar(e);
  }
  if (around_.functions.count(e.text)) return graph::Global(e.text);
  const py::Expr& constant = scalars_.Resolve(e);
  if (&constant != &e) return Value(constant);
  if (ended_.count(e.text)) {
    return Error(e.begin,
                 absl::StrCat("`", e.text,
                              "` is bound in a dataflow block that does not "
                              "output it; name it in R.output there"));
  }
  std::vector<std::string_view> known;
  for (const auto& level : vars_) {
    for (const auto& [name, var] : level) known.push_back(name);
  }
  const std::string closest = ClosestName(e.text, known);
  return Error(e.begin, absl::StrCat("`", e.text, "` is not defined",
                                     closest.empty() ? "" : "; did you mean `",
                                     closest, closest.empty() ? "" : "`?"));
}

// cls.f and Module.f name functions of the module.
absl::StatusOr<graph::Expr> GraphReader::Attribute(const py::Expr& e) {
  const py::Expr& owner = e.items[0];
  if (owner.kind == py::ExprKind::kName && module_names_.count(owner.text)) {
    if (around_.functions.count(e.text)) return graph::Global(e.text);
    return Error(e.begin,
                 absl::StrCat("the module has no function `", e.text, "`"));
  }
  if (!TensorName(e).empty()) return Scalar(e);
  return Error(e.begin, absl::StrCat("`", py::DottedName(e),
                                     "` is no value of a graph function"));
}

// metadata["ir.GenericConst"][2]: a constant whose bytes stand elsewhere, ahead
// of the module or not in the text.
graph::Expr GraphReader::Elsewhere(const py::Expr& list, int64_t index) const {
  const bool has_kind =
      list.items.size() == 2 && list.items[1].kind == py::ExprKind::kString;
  const auto& metadata = around_.script.metadata;
  const auto found =
      has_kind ? metadata.find(list.items[1].text) : metadata.end();
  if (found != metadata.end() && index >= 0 &&
      index < static_cast<int64_t>(found->second.size())) {
    const graph::Expr& known = found->second[index];
    if (known) return known;
  }
  return graph::Expr(new graph::ConstantNode(index));
}

absl::StatusOr<graph::Expr> GraphReader::Subscript(const py::Expr& e) {
  if (e.items.size() != 2 || !py::IsIntegerLiteral(e.items[1])) {
    return Error(e.begin, "an item of a tuple has a number: x[0]");
  }
  KILN_ASSIGN_OR_RETURN(const int64_t index,
                        py::IntegerValue(context_.source, e.items[1]));
  const py::Expr& owner = e.items[0];
  if (owner.kind == py::ExprKind::kSubscript &&
      owner.items[0].IsName("metadata")) {
    return Elsewhere(owner, index);
  }
  KILN_ASSIGN_OR_RETURN(graph::Expr tuple, Value(owner));
  if (index < 0 || index > 1000000) {
    return Error(e.items[1].begin, "items of a tuple are counted from 0");
  }
  return graph::Item(std::move(tuple), static_cast<int>(index));
}

// Of numbers, an expression; of tensors, a call.
absl::StatusOr<graph::Expr> GraphReader::Operator(const py::Expr& e) {
  if (e.kind == py::ExprKind::kUnary) {
    KILN_ASSIGN_OR_RETURN(graph::Expr value, Value(e.items[0]));
    if (NumberOf(value)) return Scalar(e);
    if (e.text == "-") return graph::CallOp("negative", {std::move(value)});
    return Error(e.begin, absl::StrCat("`", e.text, "` takes numbers here"));
  }
  if (e.items.size() != 2) return Scalar(e);
  std::vector<graph::Expr> operands;
  for (const py::Expr& item : e.items) {
    KILN_ASSIGN_OR_RETURN(graph::Expr operand, Value(item));
    operands.push_back(std::move(operand));
  }
  const auto is_number = [](const graph::Expr& operand) {
    return NumberOf(operand).get() != nullptr;
  };
  if (std::all_of(operands.begin(), operands.end(), is_number)) {
    return Scalar(e);
  }
  const std::string& symbol =
      e.kind == py::ExprKind::kCompare ? e.names[0] : e.text;
  for (const TensorOperator& row : kTensorOperators) {
    if (row.symbol == symbol) {
      return graph::CallOp(std::string(row.op), std::move(operands));
    }
  }
  return Error(e.begin, absl::StrCat("`", symbol, "` takes numbers here"));
}

absl::StatusOr<graph::Expr> GraphReader::TupleOf(const py::Expr& e) {
  std::vector<graph::Expr> fields;
  for (const py::Expr& item : e.items) {
    KILN_ASSIGN_OR_RETURN(graph::Expr field, Value(item));
    fields.push_back(std::move(field));
  }
  return graph::TupleOf(std::move(fields));
}

absl::StatusOr<graph::Expr> GraphReader::Value(const py::Expr& e) {
  using Kind = py::ExprKind;
  switch (e.kind) {
    case Kind::kName:
      return Name(e);
    case Kind::kAttribute:
      return Attribute(e);
    case Kind::kCall:
      return Call(e);
    case Kind::kSubscript:
      return Subscript(e);
    case Kind::kTuple:
    case Kind::kList:
      return TupleOf(e);
    case Kind::kString:
      return graph::Text(e.text);
    case Kind::kUnary:
    case Kind::kBinary:
    case Kind::kCompare:
      return Operator(e);
    case Kind::kInt:
    case Kind::kFloat:
    case Kind::kTrue:
    case Kind::kFalse:
    case Kind::kBoolean:
    case Kind::kConditional:
      return Scalar(e);
    case Kind::kNone:
    case Kind::kEllipsis:
    case Kind::kKeyword:
    case Kind::kStarred:
    case Kind::kSlice:
    case Kind::kOmitted:
    case Kind::kSet:
    case Kind::kDict:
    case Kind::kLambda:
    case Kind::kComprehension:
      break;
  }
  return Error(e.begin, absl::StrCat(std::string(py::DescribeKind(e.kind)),
                                     " is no value of a graph function"));
}

}  // namespace kiln::script
