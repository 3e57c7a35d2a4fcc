// An argument is judged by its struct info, an attribute by its value. A number
// may stand as itself, as a variable that is known to hold it, or as a constant
// tensor of no dimensions: R.clip(x, 0, n), R.full((2,), R.const(1.0)).
#include "kiln/ir/ops/op_call.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

using graph::Scalar;
using graph::StructInfo;

namespace {

std::string Text(std::string_view text) { return std::string(text); }

// The number that a constant of no dimensions holds, or null.
Scalar NumberOf(const graph::Expr& e) {
  const auto* constant = e.As<graph::ConstantNode>();
  if (!constant || !constant->is_known() || !constant->shape.empty()) return {};
  return graph::ElementOf(*constant, 0);
}

std::optional<double> RealOf(const Scalar& value) {
  if (const int64_t* whole = AsInt(value)) return static_cast<double>(*whole);
  const auto* real = value.As<FloatImmNode>();
  return real ? std::optional<double>(real->value) : std::nullopt;
}

}  // namespace

OpCall::OpCall(const graph::CallNode& call, const OpContext& context)
    : call_(call), context_(context), signature_(graph::FindSignature(name())) {
  for (const graph::Expr& arg : call.args) {
    StructInfo info = graph::InfoOf(arg);
    infos_.push_back(info ? std::move(info) : graph::Object());
  }
}

const std::string& OpCall::name() const {
  return call_.callee.As<graph::OpNode>()->name;
}

std::string OpCall::ArgName(size_t i) const {
  if (signature_ && i < signature_->args.size() && signature_->args[i] != "*") {
    return signature_->args[i];
  }
  return absl::StrCat("argument ", i + 1);
}

// --- Conditions.

bool OpCall::AreEqual(const Expr& a, const Expr& b) const {
  if (a.dtype() == b.dtype() &&
      analyzer().CanProve(Binary(ExprKind::kNE, a, b))) {
    return false;
  }
  if (context_.assumed && !analyzer().CanProveEqual(a, b)) {
    context_.assumed->push_back(
        {analyzer().Simplify(a), analyzer().Simplify(b)});
  }
  return true;
}

bool OpCall::IsMultiple(const Expr& extent, int64_t factor) const {
  return factor == 1 ||
         AreEqual(FloorMod(extent, kiln::Int(factor)), kiln::Int(0));
}

// --- Errors.

absl::Status OpCall::Error(std::string_view message) const {
  const graph::Expr call(&call_);
  return absl::InvalidArgumentError(absl::StrCat(
      "R.", name(), ": ", Text(message), "\n    ", PrintGraphExpr(call)));
}

absl::Status OpCall::ErrorAt(size_t arg, std::string_view message) const {
  if (arg >= size()) return Error(message);
  size_t column = absl::StrCat("R.", name(), "(").size();
  for (size_t i = 0; i < arg; ++i) {
    column += PrintGraphExpr(call_.args[i]).size() + 2;
  }
  const graph::Expr call(&call_);
  return absl::InvalidArgumentError(absl::StrCat(
      "R.", name(), ": ", Text(message), "\n    ", PrintGraphExpr(call),
      "\n    ", std::string(column, ' '), "^ ", PrintStructInfo(infos_[arg])));
}

// --- Arguments.

absl::StatusOr<const graph::TensorInfo*> OpCall::Tensor(size_t i) const {
  if (!Has(i)) return Error(absl::StrCat("`", ArgName(i), "` is missing"));
  if (const auto* tensor = infos_[i].As<graph::TensorInfo>()) return tensor;
  return ErrorAt(i, absl::StrCat("`", ArgName(i), "` has to be a tensor"));
}

absl::StatusOr<std::vector<const graph::TensorInfo*>> OpCall::Tensors(
    size_t i) const {
  if (!Has(i)) return Error(absl::StrCat("`", ArgName(i), "` is missing"));
  std::vector<const graph::TensorInfo*> tensors;
  const auto* tuple = infos_[i].As<graph::TupleInfo>();
  if (tuple) {
    for (const StructInfo& field : tuple->fields) {
      tensors.push_back(field.As<graph::TensorInfo>());
    }
  }
  const bool has_others =
      std::count(tensors.begin(), tensors.end(), nullptr) > 0;
  if (tuple && !has_others) return tensors;
  return ErrorAt(
      i, absl::StrCat("`", ArgName(i), "` has to be a tuple of tensors"));
}

absl::StatusOr<const graph::ShapeInfo*> OpCall::Shape(size_t i) const {
  if (!Has(i)) return Error(absl::StrCat("`", ArgName(i), "` is missing"));
  if (const auto* shape = infos_[i].As<graph::ShapeInfo>()) return shape;
  const auto* tuple = infos_[i].As<graph::TupleInfo>();
  std::vector<Scalar> values;
  for (size_t k = 0; tuple && k < tuple->fields.size(); ++k) {
    const auto* prim = tuple->fields[k].As<graph::PrimInfo>();
    if (!prim || !prim->dtype.is_integral() || !prim->value) break;
    values.push_back(Cast(DType::Index(), prim->value));
  }
  if (tuple && values.size() == tuple->fields.size()) {
    shapes_.push_back(graph::Shape(std::move(values)));
    return shapes_.back().As<graph::ShapeInfo>();
  }
  return ErrorAt(i, absl::StrCat("`", ArgName(i), "` has to be a shape"));
}

absl::StatusOr<Scalar> OpCall::Number(size_t i) const {
  if (!Has(i)) return Error(absl::StrCat("`", ArgName(i), "` is missing"));
  if (const auto* prim = infos_[i].As<graph::PrimInfo>()) return prim->value;
  if (Scalar value = NumberOf(arg(i))) return value;
  return ErrorAt(i, absl::StrCat("`", ArgName(i), "` has to be a number"));
}

absl::StatusOr<int64_t> OpCall::IntArg(size_t i) const {
  KILN_ASSIGN_OR_RETURN(const Scalar value, Number(i));
  if (const int64_t* whole = AsInt(value)) return *whole;
  return ErrorAt(
      i, absl::StrCat("`", ArgName(i), "` has to be a constant integer"));
}

absl::StatusOr<double> OpCall::RealArg(size_t i) const {
  KILN_ASSIGN_OR_RETURN(const Scalar value, Number(i));
  if (const std::optional<double> real = RealOf(value)) return *real;
  return ErrorAt(
      i, absl::StrCat("`", ArgName(i), "` has to be a constant number"));
}

absl::StatusOr<bool> OpCall::BoolArg(size_t i) const {
  KILN_ASSIGN_OR_RETURN(const int64_t value, IntArg(i));
  return value != 0;
}

// --- Attributes.

const Attr& OpCall::attr(std::string_view name) const {
  static const Attr& none = *new Attr();
  const auto found = call_.attrs.find(std::string(name));
  return found == call_.attrs.end() ? none : found->second;
}

absl::StatusOr<int64_t> OpCall::Int(std::string_view name) const {
  const Expr* e = attr(name).expr();
  if (const int64_t* value = e ? AsInt(*e) : nullptr) return *value;
  return Error(absl::StrCat("`", Text(name), "` has to be an integer"));
}

absl::StatusOr<double> OpCall::Real(std::string_view name) const {
  const Expr* e = attr(name).expr();
  const std::optional<double> value = e ? RealOf(*e) : std::nullopt;
  if (value) return *value;
  return Error(absl::StrCat("`", Text(name), "` has to be a number"));
}

absl::StatusOr<bool> OpCall::Bool(std::string_view name) const {
  const Expr* e = attr(name).expr();
  if (const int64_t* value = e ? AsInt(*e) : nullptr) return *value != 0;
  return Error(absl::StrCat("`", Text(name), "` has to be True or False"));
}

absl::StatusOr<std::string> OpCall::String(std::string_view name) const {
  if (const std::string* text = attr(name).string()) return *text;
  return Error(absl::StrCat("`", Text(name), "` has to be a string"));
}

absl::StatusOr<DType> OpCall::Type(std::string_view name) const {
  if (IsNone(name)) return DType::Void();
  KILN_ASSIGN_OR_RETURN(const std::string text, String(name));
  if (text.empty()) return DType::Void();
  if (const std::optional<DType> dtype = DType::FromString(text)) {
    return *dtype;
  }
  return Error(absl::StrCat("`", Text(name), "` is no type: ", text));
}

absl::StatusOr<std::vector<int64_t>> OpCall::Ints(std::string_view name) const {
  const AttrList* list = attr(name).list();
  if (!list) {
    KILN_ASSIGN_OR_RETURN(const int64_t value, Int(name));
    return std::vector<int64_t>{value};
  }
  std::vector<int64_t> values;
  for (const Attr& item : *list) {
    const int64_t* value = item.expr() ? AsInt(*item.expr()) : nullptr;
    if (!value) {
      return Error(absl::StrCat("`", Text(name), "` has to hold integers"));
    }
    values.push_back(*value);
  }
  return values;
}

absl::StatusOr<std::vector<double>> OpCall::Reals(std::string_view name) const {
  const AttrList* list = attr(name).list();
  std::vector<double> values;
  for (size_t i = 0; list && i < list->size(); ++i) {
    const Expr* e = (*list)[i].expr();
    const std::optional<double> value = e ? RealOf(*e) : std::nullopt;
    if (!value) break;
    values.push_back(*value);
  }
  if (list && values.size() == list->size()) return values;
  return Error(absl::StrCat("`", Text(name), "` has to hold numbers"));
}

absl::StatusOr<std::vector<int64_t>> OpCall::Ints(std::string_view name,
                                                  size_t count) const {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> values, Ints(name));
  if (values.size() == 1) values.resize(count, values[0]);
  if (values.size() == count) return values;
  return Error(absl::StrCat("`", Text(name), "` has to hold ", count,
                            " integers and has ", values.size()));
}

absl::StatusOr<int> OpCall::NormalAxis(int64_t axis, int rank) const {
  if (rank == graph::kUnknownRank) return static_cast<int>(axis);
  if (axis >= -rank && axis < rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  return Error(absl::StrCat("axis ", axis, " is outside of the ", rank,
                            " dimensions, -", rank, " to ", rank - 1));
}

absl::StatusOr<int> OpCall::Axis(std::string_view name, int rank) const {
  KILN_ASSIGN_OR_RETURN(const int64_t axis, Int(name));
  return NormalAxis(axis, rank);
}

absl::StatusOr<std::optional<std::vector<int>>> OpCall::Axes(
    std::string_view name, int rank) const {
  if (IsNone(name)) return std::optional<std::vector<int>>();
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> given, Ints(name));
  std::vector<int> axes;
  for (const int64_t axis : given) {
    KILN_ASSIGN_OR_RETURN(const int normal, NormalAxis(axis, rank));
    if (std::count(axes.begin(), axes.end(), normal)) {
      return Error(
          absl::StrCat("axis ", axis, " stands twice in `", Text(name), "`"));
    }
    axes.push_back(normal);
  }
  return std::optional<std::vector<int>>(std::move(axes));
}

}  // namespace kiln
