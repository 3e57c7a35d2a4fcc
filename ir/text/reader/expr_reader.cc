// Syntax becomes expressions from the leaves up. A value that is read carries
// whether it is a plain number, which takes its type from what it meets, and
// whether it is made of indices, which are int64 here and int32 in most texts
// (value.h). in_index_ says whether an index is being read: there an int32
// value widens; elsewhere the index beside it narrows.
//
//   A[X[i] + i, 0]     X[i] is int32: A[Cast(int64, X[i]) + i, 0]
//   Y[i] = X[i] + i    Y[i] = X[i] + Cast(int32, i)
//   A[i, 0:8]          as an element: indices i and Ramp(0, 1, 8)
//                      as a region:   [i, i + 1) x [0, 8)
//   0 <= i < n         0 <= i and i < n
//
// In lo:hi, an end that is spelled lo + extent gives that extent as it stands,
// so that printed programs come back as they were; other ends are subtracted.
#include "kiln/ir/text/reader/expr_reader.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/text/python/literal.h"
#include "kiln/ir/text/python/parser.h"

namespace kiln::script {

std::string TensorName(const py::Expr& expr) {
  const std::string name = py::DottedName(expr);
  for (std::string_view prefix :
       {"T.", "tir.", "tirx.", "tvm.tir.", "tvm.tirx.", "tvm.script.tir."}) {
    if (name.compare(0, prefix.size(), prefix) == 0) {
      return name.substr(prefix.size());
    }
  }
  return "";
}

absl::StatusOr<Value> ExprReader::Read(const py::Expr& e) {
  return Dispatch(e);
}

absl::StatusOr<Expr> ExprReader::Settled(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(Value value, Read(e));
  return Settle(value);
}

absl::StatusOr<Expr> ExprReader::Index(const py::Expr& e) {
  const bool before = std::exchange(in_index_, true);
  absl::StatusOr<Value> read = Read(e);
  in_index_ = before;
  KILN_ASSIGN_OR_RETURN(Value value, std::move(read));
  KILN_ASSIGN_OR_PLACE(Expr index, context_, e.begin, AsIndex(value));
  return index;
}

absl::StatusOr<Expr> ExprReader::Condition(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(Value value, Read(e));
  KILN_ASSIGN_OR_PLACE(Expr condition, context_, e.begin, AsCondition(value));
  return condition;
}

absl::StatusOr<Expr> ExprReader::As(const py::Expr& e, DType dtype) {
  KILN_ASSIGN_OR_RETURN(Value value, Read(e));
  KILN_ASSIGN_OR_PLACE(Expr converted, context_, e.begin,
                       ConvertTo(value, dtype));
  return converted;
}

const py::Expr& ExprReader::Resolve(const py::Expr& e) const {
  if (e.kind != py::ExprKind::kName) return e;
  const Binding* binding = context_.scope.Find(e.text);
  const py::Expr* constant = binding ? std::get_if<py::Expr>(binding) : nullptr;
  return constant ? *constant : e;
}

bool ExprReader::IsPlainChoice(const py::Expr& e) const {
  if (e.kind != py::ExprKind::kCall || e.items.size() != 4) return false;
  const std::string callee = TensorName(e.items[0]);
  return (callee == "Select" || callee == "if_then_else") &&
         absl::c_none_of(e.items, [](const py::Expr& item) {
           return item.kind == py::ExprKind::kKeyword;
         });
}

absl::StatusOr<Value> ExprReader::ReadFor(const py::Expr& e, DType dtype) {
  if (!IsPlainChoice(e)) return Read(e);
  KILN_ASSIGN_OR_RETURN(Expr test, Condition(e.items[1]));
  KILN_ASSIGN_OR_RETURN(Value a, ReadFor(e.items[2], dtype));
  KILN_ASSIGN_OR_RETURN(Value b, ReadFor(e.items[3], dtype));
  if (a.weak && b.weak) {
    KILN_ASSIGN_OR_PLACE(a.expr, context_, e.begin, ConvertTo(a, dtype));
    a.weak = false;
  }
  KILN_ASSIGN_OR_PLACE(auto values, context_, e.begin, Unify(a, b, mixing()));
  if (TensorName(e.items[0]) == "Select") {
    return Value{Select(test, values.first, values.second)};
  }
  return Value{kiln::Call(values.first.dtype(), Intrinsic::kIfThenElse,
                          {test, values.first, values.second})};
}

absl::StatusOr<std::pair<Value, Value>> ExprReader::Operands(
    const py::Expr& first, const py::Expr& second) {
  const auto beside = [&](const py::Expr& e, const Value& other) {
    const DType int32 = DType::Int(32);
    const bool is_int32 = !other.weak && other.expr.dtype() == int32;
    return is_int32 ? ReadFor(e, int32) : Read(e);
  };
  if (IsPlainChoice(first)) {
    KILN_ASSIGN_OR_RETURN(Value b, Read(second));
    KILN_ASSIGN_OR_RETURN(Value a, beside(first, b));
    return std::make_pair(a, b);
  }
  KILN_ASSIGN_OR_RETURN(Value a, Read(first));
  KILN_ASSIGN_OR_RETURN(Value b, beside(second, a));
  return std::make_pair(a, b);
}

absl::StatusOr<Value> ExprReader::Number(const py::Expr& e) {
  if (e.kind == py::ExprKind::kInt) {
    KILN_ASSIGN_OR_RETURN(int64_t value, py::IntegerValue(context_.source, e));
    return Value{Int(value), true};
  }
  KILN_ASSIGN_OR_RETURN(double value, py::FloatValue(context_.source, e));
  return Value{Float(value, DType::Float(64)), true};
}

absl::StatusOr<Value> ExprReader::Dispatch(const py::Expr& e) {
  using Kind = py::ExprKind;
  const Kind kind = e.kind;
  if (kind == Kind::kName) return Name(e);
  if (kind == Kind::kInt || kind == Kind::kFloat) return Number(e);
  if (kind == Kind::kTrue) return Value{Bool(true)};
  if (kind == Kind::kFalse) return Value{Bool(false)};
  if (kind == Kind::kString) return Value{Str(e.text)};
  if (kind == Kind::kAttribute) return BufferAttribute(e);
  if (kind == Kind::kCall) return Call(e);
  if (kind == Kind::kSubscript) return Subscript(e);
  if (kind == Kind::kUnary || kind == Kind::kBinary) return Operator(e);
  if (kind == Kind::kCompare) return Comparison(e);
  if (kind == Kind::kBoolean) return Boolean(e);
  if (kind == Kind::kConditional) {
    return Choice(e, e.items[1], e.items[0], e.items[2], /*lazy=*/true);
  }
  return context_.Error(e.begin,
                        absl::StrCat(std::string(py::DescribeKind(kind)),
                                     " has no value in a program"));
}

absl::StatusOr<Value> ExprReader::Name(const py::Expr& e) {
  const Binding* binding = context_.scope.Find(e.text);
  if (binding == nullptr) {
    return context_.Error(e.begin,
                          absl::StrCat("`", e.text, "` is not defined",
                                       context_.scope.Suggestion(e.text)));
  }
  if (const Value* value = std::get_if<Value>(binding)) return *value;
  if (const py::Expr* constant = std::get_if<py::Expr>(binding)) {
    if (constant->kind == py::ExprKind::kString) {
      return Value{Str(constant->text)};
    }
    return context_.Error(
        e.begin, absl::StrCat("`", e.text, "` is ",
                              std::string(py::DescribeKind(constant->kind)),
                              ", which has no value in a program"));
  }
  const Buffer& buffer = std::get<Buffer>(*binding);
  if (buffer->shape.empty()) return Value{Load(buffer, {})};
  return context_.Error(e.begin, absl::StrCat("the buffer `", e.text,
                                              "` needs ", buffer->shape.size(),
                                              " indices: ", e.text, "[...]"));
}

// A.data, A.elem_offset, A.dtype; A.shape[0] is read by ArrayElement.
absl::StatusOr<Value> ExprReader::BufferAttribute(const py::Expr& e) {
  KILN_ASSIGN_OR_RETURN(Buffer buffer, BufferNamed(e.items[0]));
  if (e.text == "elem_offset") {
    return Value{buffer->elem_offset ? buffer->elem_offset : Int(0), false,
                 true};
  }
  if (e.text == "data" && buffer->data) return Value{buffer->data};
  if (e.text == "dtype") return Value{Str(buffer->dtype.ToString())};
  return context_.Error(e.begin,
                        absl::StrCat("a buffer has no `", e.text,
                                     "`; it has data, elem_offset, dtype, "
                                     "shape[i] and strides[i]"));
}

absl::StatusOr<Value> ExprReader::ArrayElement(const py::Expr& e) {
  const py::Expr& array = e.items[0];
  KILN_ASSIGN_OR_RETURN(Buffer buffer, BufferNamed(array.items[0]));
  if (array.text != "shape" && array.text != "strides") {
    return context_.Error(
        array.begin,
        absl::StrCat("`.", array.text, "` of a buffer takes no index"));
  }
  const bool strides = array.text == "strides";
  const auto& list = strides ? buffer->strides : buffer->shape;
  KILN_ASSIGN_OR_RETURN(int64_t index,
                        py::IntegerValue(context_.source, e.items[1]));
  if (index < 0) index += static_cast<int64_t>(list.size());
  if (e.items.size() != 2 || index < 0 ||
      index >= static_cast<int64_t>(list.size())) {
    return context_.Error(
        e.begin,
        absl::StrCat("`", buffer->name, "` has ", list.size(),
                     strides && list.empty() ? " explicit strides (it is dense)"
                                             : " dimensions"));
  }
  return Value{list[index], false, true};
}

absl::StatusOr<Value> ExprReader::Subscript(const py::Expr& e) {
  if (e.items[0].kind == py::ExprKind::kAttribute) return ArrayElement(e);
  KILN_ASSIGN_OR_RETURN(Buffer buffer, BufferNamed(e.items[0]));
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> indices, Indices(buffer, e));
  return Value{Load(buffer, std::move(indices))};
}

absl::StatusOr<Buffer> ExprReader::BufferNamed(const py::Expr& e) {
  if (e.kind != py::ExprKind::kName) {
    return context_.Error(
        e.begin, absl::StrCat("the name of a buffer is needed here, not ",
                              std::string(py::DescribeKind(e.kind))));
  }
  const Binding* binding = context_.scope.Find(e.text);
  if (binding == nullptr) {
    return context_.Error(e.begin,
                          absl::StrCat("`", e.text, "` is not defined",
                                       context_.scope.Suggestion(e.text)));
  }
  if (const Buffer* buffer = std::get_if<Buffer>(binding)) return *buffer;
  return context_.Error(e.begin,
                        absl::StrCat("`", e.text, "` is not a buffer"));
}

// The items of a subscript; A[(i, j)] and A[()] count as their tuple.
static std::vector<const py::Expr*> SubscriptItems(const py::Expr& e) {
  std::vector<const py::Expr*> items;
  const bool tuple =
      e.items.size() == 2 && e.items[1].kind == py::ExprKind::kTuple;
  const py::Expr& owner = tuple ? e.items[1] : e;
  for (size_t i = tuple ? 0 : 1; i < owner.items.size(); ++i) {
    items.push_back(&owner.items[i]);
  }
  return items;
}

absl::StatusOr<std::vector<Expr>> ExprReader::Indices(
    const Buffer& buffer, const py::Expr& subscript) {
  const std::vector<const py::Expr*> items = SubscriptItems(subscript);
  if (items.size() != buffer->shape.size()) {
    return context_.Error(
        subscript.begin,
        absl::StrCat("`", buffer->name, "` has ", buffer->shape.size(),
                     buffer->shape.size() == 1 ? " dimension" : " dimensions",
                     ", but ", items.size(),
                     items.size() == 1 ? " index is" : " indices are",
                     " given"));
  }
  std::vector<Expr> indices;
  for (const py::Expr* item : items) {
    const bool slice = item->kind == py::ExprKind::kSlice;
    KILN_ASSIGN_OR_RETURN(Expr index, slice ? Slice(*item) : Index(*item));
    if (!index.dtype().is_scalar() && item != items.back()) {
      return context_.Error(item->begin, "only the last index can be a vector");
    }
    indices.push_back(std::move(index));
  }
  return indices;
}

Range RangeBetween(const Expr& begin, const Expr& end) {
  if (IsZero(begin)) return {begin, end};
  const auto* sum = end.As<BinaryNode>();
  if (sum && sum->kind == ExprKind::kAdd && SameExpr(sum->a, begin)) {
    return {begin, sum->b};
  }
  return {begin, Analyzer().Simplify(Sub(end, begin))};
}

// lo:hi or lo:hi:step as a vector of indices.
absl::StatusOr<Expr> ExprReader::Slice(const py::Expr& slice) {
  const bool open = slice.items[0].kind == py::ExprKind::kOmitted ||
                    slice.items[1].kind == py::ExprKind::kOmitted;
  if (open) {
    return context_.Error(slice.begin,
                          "a vector access needs both bounds: lo:hi");
  }
  KILN_ASSIGN_OR_RETURN(Expr begin, Index(slice.items[0]));
  KILN_ASSIGN_OR_RETURN(Expr end, Index(slice.items[1]));
  int64_t step = 1;
  if (slice.items[2].kind != py::ExprKind::kOmitted) {
    KILN_ASSIGN_OR_RETURN(step,
                          py::IntegerValue(context_.source, slice.items[2]));
  }
  const Expr extent = Analyzer().Simplify(Sub(end, begin));
  const int64_t* known = AsInt(extent);
  const int64_t lanes = known && step > 0 ? (*known + step - 1) / step : 0;
  if (lanes < 1 || lanes > 4096) {
    return context_.Error(slice.begin,
                          "the length of a vector access must be a constant "
                          "from 1 to 4096");
  }
  if (lanes == 1) return begin;
  return Ramp(begin, Int(step), static_cast<int>(lanes));
}

absl::StatusOr<Range> ExprReader::RangeOf(const py::Expr& e,
                                          const Expr& extent) {
  if (e.kind != py::ExprKind::kSlice) {
    KILN_ASSIGN_OR_RETURN(Expr index, Index(e));
    return Range{index, Int(1)};
  }
  if (e.items[2].kind != py::ExprKind::kOmitted) {
    return context_.Error(e.begin, "a region is dense: it has no step");
  }
  Expr begin = Int(0), end = extent;
  if (e.items[0].kind != py::ExprKind::kOmitted) {
    KILN_ASSIGN_OR_RETURN(begin, Index(e.items[0]));
  }
  if (e.items[1].kind != py::ExprKind::kOmitted) {
    KILN_ASSIGN_OR_RETURN(end, Index(e.items[1]));
  }
  return RangeBetween(begin, end);
}

absl::StatusOr<BufferRegion> ExprReader::Region(const py::Expr& e) {
  if (e.kind == py::ExprKind::kName) {
    KILN_ASSIGN_OR_RETURN(Buffer buffer, BufferNamed(e));
    return FullRegion(buffer);
  }
  if (e.kind != py::ExprKind::kSubscript) {
    return context_.Error(e.begin, "a region is needed here: A[i, lo:hi]");
  }
  BufferRegion region;
  KILN_ASSIGN_OR_RETURN(region.buffer, BufferNamed(e.items[0]));
  const auto& shape = region.buffer->shape;
  const std::vector<const py::Expr*> items = SubscriptItems(e);
  if (items.size() > shape.size()) {
    return context_.Error(e.begin,
                          absl::StrCat("`", region.buffer->name, "` has only ",
                                       shape.size(), " dimensions"));
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    Range range{Int(0), shape[i]};
    if (i < items.size()) {
      KILN_ASSIGN_OR_RETURN(range, RangeOf(*items[i], shape[i]));
    }
    region.region.push_back(std::move(range));
  }
  return region;
}

absl::StatusOr<Value> ExprReader::Operator(const py::Expr& e) {
  if (e.kind == py::ExprKind::kUnary) {
    if (py::IsIntegerLiteral(e)) {
      KILN_ASSIGN_OR_RETURN(int64_t value,
                            py::IntegerValue(context_.source, e));
      return Value{Int(value), true};
    }
    KILN_ASSIGN_OR_RETURN(Value operand, Read(e.items[0]));
    KILN_ASSIGN_OR_PLACE(Value result, context_, e.begin,
                         ApplyUnary(e.text, operand));
    return result;
  }
  KILN_ASSIGN_OR_RETURN(auto sides, Operands(e.items[0], e.items[1]));
  KILN_ASSIGN_OR_PLACE(
      Value result, context_, e.begin,
      ApplyBinary(e.text, sides.first, sides.second, mixing()));
  return result;
}

absl::StatusOr<Value> ExprReader::Comparison(const py::Expr& e) {
  Expr all;
  KILN_ASSIGN_OR_RETURN(Value left, Read(e.items[0]));
  for (size_t i = 0; i < e.names.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(Value right, Read(e.items[i + 1]));
    KILN_ASSIGN_OR_PLACE(Value pair, context_, e.begin,
                         ApplyBinary(e.names[i], left, right));
    all = all ? And(all, pair.expr) : pair.expr;
    left = right;
  }
  return Value{all};
}

absl::StatusOr<Value> ExprReader::Boolean(const py::Expr& e) {
  Expr all;
  for (const py::Expr& item : e.items) {
    KILN_ASSIGN_OR_RETURN(Expr next, Condition(item));
    if (all && all.dtype() != next.dtype()) {
      return context_.Error(item.begin, "these conditions differ in lanes");
    }
    all = !all ? next : e.text == "and" ? And(all, next) : Or(all, next);
  }
  return Value{all};
}

absl::StatusOr<Value> ExprReader::Choice(const py::Expr& at,
                                         const py::Expr& condition,
                                         const py::Expr& yes,
                                         const py::Expr& no, bool lazy) {
  KILN_ASSIGN_OR_RETURN(Expr test, Condition(condition));
  KILN_ASSIGN_OR_RETURN(Value a, Read(yes));
  KILN_ASSIGN_OR_RETURN(Value b, Read(no));
  KILN_ASSIGN_OR_PLACE(auto values, context_, at.begin, Unify(a, b, mixing()));
  const bool index = BothIndex(a, b);
  if (!lazy) {
    return Value{Select(test, values.first, values.second), false, index};
  }
  return Value{kiln::Call(values.first.dtype(), Intrinsic::kIfThenElse,
                          {test, values.first, values.second}),
               false, index};
}

absl::StatusOr<std::vector<Expr>> ExprReader::Shape(const py::Expr& e) {
  const py::Expr& shape = Resolve(e);
  std::vector<Expr> extents;
  if (shape.kind != py::ExprKind::kTuple && shape.kind != py::ExprKind::kList) {
    KILN_ASSIGN_OR_RETURN(Expr extent, Extent(shape));
    extents.push_back(std::move(extent));
    return extents;
  }
  for (const py::Expr& item : shape.items) {
    KILN_ASSIGN_OR_RETURN(Expr extent, Extent(item));
    extents.push_back(std::move(extent));
  }
  return extents;
}

// Gives every node of `e` the place of the string that it was cut out of.
static void MoveTo(py::Position place, py::Expr& e) {
  e.begin = place;
  for (py::Expr& item : e.items) MoveTo(place, item);
}

// "n" names a symbolic dimension where it first appears; "n + 8" uses one.
absl::StatusOr<Expr> ExprReader::Extent(const py::Expr& e) {
  if (e.kind != py::ExprKind::kString) return Index(e);
  const py::Source text(context_.source.name(), e.text);
  absl::StatusOr<py::Expr> inner = py::ParseExpression(text);
  if (!inner.ok() || inner->kind == py::ExprKind::kString) {
    return context_.Error(e.begin,
                          "a name or an expression is needed in "
                          "these quotes");
  }
  if (inner->kind != py::ExprKind::kName) {
    MoveTo(e.begin, *inner);
    return Index(*inner);
  }
  if (const Binding* binding = context_.scope.Find(e.text)) {
    if (const Value* value = std::get_if<Value>(binding)) {
      KILN_ASSIGN_OR_PLACE(Expr extent, context_, e.begin, AsIndex(*value));
      return extent;
    }
  }
  Var var(e.text);
  context_.scope.Bind(e.text, Value{var, false, true});
  return var;
}

absl::StatusOr<std::string> ExprReader::String(const py::Expr& e) {
  const py::Expr& resolved = Resolve(e);
  if (resolved.kind == py::ExprKind::kString) return resolved.text;
  return context_.Error(e.begin,
                        absl::StrCat("a string is needed here, not ",
                                     std::string(py::DescribeKind(e.kind))));
}

absl::StatusOr<DType> ExprReader::Type(const py::Expr& e) {
  std::string name = TensorName(e);
  const py::Expr* inner = &e;
  // T.handle().ty and T.float32().dtype
  if (e.kind == py::ExprKind::kAttribute &&
      (e.text == "ty" || e.text == "dtype") &&
      e.items[0].kind == py::ExprKind::kCall) {
    inner = &e.items[0];
  }
  if (inner->kind == py::ExprKind::kCall && inner->items.size() == 1) {
    name = TensorName(inner->items[0]);
  }
  if (e.kind == py::ExprKind::kAttribute && e.text == "dtype" &&
      e.items[0].kind == py::ExprKind::kName) {
    KILN_ASSIGN_OR_RETURN(Buffer buffer, BufferNamed(e.items[0]));
    return buffer->dtype;
  }
  if (name.empty()) {
    KILN_ASSIGN_OR_RETURN(name, String(e));
  }
  if (name == "" || name == "void") return DType::Void();
  std::optional<DType> dtype = DType::FromString(name);
  if (!dtype) {
    return context_.Error(
        e.begin, absl::StrCat("`", name,
                              "` is no element type; there are float16, "
                              "bfloat16, float32, float64, int8 to int64, "
                              "uint8 to uint64, bool and handle"));
  }
  return *dtype;
}

// Whether `e` is a list of buffers.
bool ExprReader::AreBuffers(const py::Expr& e) const {
  const auto is_buffer = [&](const py::Expr& item) {
    const Binding* binding = item.kind == py::ExprKind::kName
                                 ? context_.scope.Find(item.text)
                                 : nullptr;
    return binding && std::holds_alternative<Buffer>(*binding);
  };
  return e.kind == py::ExprKind::kList &&
         std::all_of(e.items.begin(), e.items.end(), is_buffer);
}

// Which buffers may be laid out in another way is only advice to a search, and
// only of constants, which a function's attribute names; it is left out.
absl::StatusOr<AttrMap> ExprReader::AttributeMap(const py::Expr& e) {
  if (e.kind != py::ExprKind::kDict) {
    return context_.Error(e.begin, "a dict is needed here: {\"key\": value}");
  }
  AttrMap map;
  for (size_t i = 0; i + 1 < e.items.size(); i += 2) {
    KILN_ASSIGN_OR_RETURN(std::string key, String(e.items[i]));
    if (key == "layout_free_placeholders" && AreBuffers(e.items[i + 1])) {
      continue;
    }
    KILN_ASSIGN_OR_RETURN(Attr value, Attribute(e.items[i + 1]));
    if (!map.emplace(key, std::move(value)).second) {
      return context_.Error(e.items[i].begin,
                            absl::StrCat("`", key, "` stands twice"));
    }
  }
  return map;
}

absl::StatusOr<Attr> ExprReader::Attribute(const py::Expr& e) {
  const py::Expr& value = Resolve(e);
  if (value.kind == py::ExprKind::kNone) return Attr();
  if (value.kind == py::ExprKind::kString) return Attr(value.text);
  if (value.kind == py::ExprKind::kDict) {
    KILN_ASSIGN_OR_RETURN(AttrMap map, AttributeMap(value));
    return Attr(std::move(map));
  }
  if (value.kind == py::ExprKind::kList || value.kind == py::ExprKind::kTuple) {
    AttrList list;
    for (const py::Expr& item : value.items) {
      KILN_ASSIGN_OR_RETURN(Attr element, Attribute(item));
      list.push_back(std::move(element));
    }
    return Attr(std::move(list));
  }
  // T.target({"kind": "llvm"}) is what it is made from.
  if (value.kind == py::ExprKind::kCall && value.items.size() == 2 &&
      TensorName(value.items[0]) == "target") {
    return Attribute(value.items[1]);
  }
  KILN_ASSIGN_OR_RETURN(Value number, Read(value));
  return Attr(number.expr);  // a plain float stays a float64
}

}  // namespace kiln::script
