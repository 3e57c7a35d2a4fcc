// Ops that move elements, or copy them: the adjoint moves back, and copies are
// summed.
//
//   y = R.concat((a, b), axis=0)    R.split(grad, [extent of a], axis=0)
//   y = R.tile(x, (2, 3))           grad as (2, n, 3, m), summed over 2 and 3
#include <numeric>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;
using graph::Scalar;

Expr SumOver(Expr e, const std::vector<int64_t>& axes) {
  return CallOp("sum", {std::move(e)},
                {{"axis", AxesAttr(axes)}, {"keepdims", Bool(false)}});
}

// The elements stay in their order.
absl::StatusOr<Partials> Reshape(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  Partials partials(call.size());
  partials[0] = CallOp("reshape", {call.grad(), ShapeOfInfo(*x)});
  return partials;
}

absl::StatusOr<Partials> ExpandDims(const GradientCall& call) {
  return Partials{
      CallOp("squeeze", {call.grad()}, {{"axis", call.attr("axis")}})};
}

absl::StatusOr<Partials> PermuteDims(const GradientCall& call) {
  if (call.attr("axes").is_none()) {
    return Partials{CallOp("permute_dims", {call.grad()}, {{"axes", Attr()}})};
  }
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  const AttrList* list = call.attr("axes").list();
  const auto rank = static_cast<int64_t>(x->rank);
  std::vector<int64_t> back(rank);
  for (int64_t i = 0; list && i < rank; ++i) {
    const kiln::Expr* e = (*list)[i].expr();
    const int64_t* axis = e ? AsInt(*e) : nullptr;
    if (!axis) return call.Refuse("its axes are no numbers");
    back[(*axis + rank) % rank] = i;
  }
  return Partials{Permuted(call.grad(), back)};
}

absl::StatusOr<Partials> BroadcastTo(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  return Partials{SummedTo(call.grad(), *y, *x), Expr()};
}

absl::StatusOr<Partials> CollapseSum(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  return Partials{CallOp("broadcast_to", {call.grad(), ShapeOfInfo(*x)}),
                  Expr()};
}

// The infos of the tensors that an argument holds.
absl::StatusOr<std::vector<const graph::TensorInfo*>> FieldsOf(
    const GradientCall& call, const graph::StructInfo& info) {
  const auto* tuple = info.As<graph::TupleInfo>();
  if (!tuple) return call.Refuse("its argument has to be a tuple of tensors");
  std::vector<const graph::TensorInfo*> fields;
  for (const graph::StructInfo& field : tuple->fields) {
    fields.push_back(field.As<graph::TensorInfo>());
    if (fields.back() && fields.back()->extents()) continue;
    return call.Refuse("the extents of its argument have to be known");
  }
  return fields;
}

// The ends of all parts but the last.
absl::StatusOr<Partials> Concat(const GradientCall& call) {
  const graph::StructInfo info = graph::InfoOf(call.arg(0));
  KILN_ASSIGN_OR_RETURN(const auto parts, FieldsOf(call, info));
  if (parts.empty()) return call.Refuse("it joins nothing");
  KILN_ASSIGN_OR_RETURN(const int64_t axis, call.Axis("axis", parts[0]->rank));
  AttrList ends;
  int64_t end = 0;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    const int64_t* extent = AsInt((*parts[i]->extents())[axis]);
    if (!extent) return call.Refuse("its parts have to have constant extents");
    end += *extent;
    ends.push_back(Int(end));
  }
  if (parts.size() == 1) return Partials{graph::TupleOf({call.grad()})};
  return Partials{CallOp(
      "split", {call.grad()},
      {{"indices_or_sections", std::move(ends)}, {"axis", call.attr("axis")}})};
}

absl::StatusOr<Partials> Split(const GradientCall& call) {
  return Partials{
      CallOp("concat", {call.grad()}, {{"axis", call.attr("axis")}})};
}

// Each part is what one index along the new axis gives.
absl::StatusOr<Partials> Stack(const GradientCall& call) {
  const graph::StructInfo info = graph::InfoOf(call.arg(0));
  KILN_ASSIGN_OR_RETURN(const auto parts, FieldsOf(call, info));
  if (parts.empty()) return call.Refuse("it joins nothing");
  KILN_ASSIGN_OR_RETURN(const int64_t axis,
                        call.Axis("axis", parts[0]->rank + 1));
  std::vector<Expr> fields;
  for (size_t i = 0; i < parts.size(); ++i) {
    fields.push_back(CallOp(
        "take", {call.grad(), graph::Number(Int(static_cast<int64_t>(i)))},
        {{"axis", Int(axis)}, {"mode", std::string("fast")}}));
  }
  return Partials{graph::TupleOf(std::move(fields))};
}

absl::StatusOr<Partials> Flip(const GradientCall& call) {
  return Partials{CallOp("flip", {call.grad()}, {{"axis", call.attr("axis")}})};
}

// Copies stand side by side: an axis of their own, which is summed.
absl::StatusOr<Partials> Repeat(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const int64_t count, call.Int("repeats"));
  std::vector<Scalar> extents = *x->extents();
  int64_t axis = 0;
  const bool is_flat = call.attr("axis").is_none();
  if (is_flat) {
    extents = {std::accumulate(extents.begin(), extents.end(), Scalar(Int(1)),
                               [](Scalar a, Scalar b) { return Mul(a, b); })};
  } else {
    KILN_ASSIGN_OR_RETURN(axis, call.Axis("axis", x->rank));
  }
  extents.insert(extents.begin() + axis + 1, Int(count));
  Expr partial = SumOver(
      CallOp("reshape", {call.grad(), graph::ShapeOf(extents)}), {axis + 1});
  if (is_flat) partial = CallOp("reshape", {partial, ShapeOfInfo(*x)});
  return Partials{partial};
}

absl::StatusOr<Partials> Tile(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  AttrList counts;
  if (const AttrList* list = call.attr("repeats").list()) {
    counts = *list;
  } else {
    counts.push_back(call.attr("repeats"));
  }
  std::vector<Scalar> own = *x->extents();
  while (own.size() < counts.size()) own.insert(own.begin(), Int(1));
  while (counts.size() < own.size()) counts.insert(counts.begin(), Int(1));
  std::vector<Scalar> extents;
  std::vector<int64_t> copies;
  for (size_t i = 0; i < own.size(); ++i) {
    const kiln::Expr* count = counts[i].expr();
    if (!count) return call.Refuse("its counts are no numbers");
    copies.push_back(static_cast<int64_t>(extents.size()));
    extents.push_back(*count);
    extents.push_back(own[i]);
  }
  const Expr apart = CallOp("reshape", {call.grad(), graph::ShapeOf(extents)});
  return Partials{CallOp("reshape", {SumOver(apart, copies), ShapeOfInfo(*x)})};
}

Expr NumbersOf(const std::vector<Scalar>& values) {
  std::vector<Expr> numbers;
  for (const Scalar& value : values) numbers.push_back(graph::Number(value));
  return graph::TupleOf(std::move(numbers));
}

// What was put around it goes.
absl::StatusOr<Partials> Pad(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  const std::string* mode = call.attr("pad_mode").string();
  const AttrList* widths = call.attr("pad_width").list();
  if (mode && *mode != "constant") {
    return call.Refuse("only constants are put around it");
  }
  if (!widths || widths->size() != 2 * x->extents()->size()) {
    return call.Refuse("`pad_width` has two numbers for each axis");
  }
  std::vector<Scalar> axes, begins, ends, strides;
  for (size_t i = 0; i < x->extents()->size(); ++i) {
    const kiln::Expr* before = (*widths)[2 * i].expr();
    if (!before) return call.Refuse("its widths are no numbers");
    axes.push_back(Int(static_cast<int64_t>(i)));
    begins.push_back(*before);
    ends.push_back(Add(*before, (*x->extents())[i]));
    strides.push_back(Int(1));
  }
  return Partials{CallOp("strided_slice",
                         {call.grad(), NumbersOf(axes), NumbersOf(begins),
                          NumbersOf(ends), NumbersOf(strides)},
                         {{"assume_inbound", Bool(false)}})};
}

template <int kind>
absl::StatusOr<Partials> Triangle(const GradientCall& call) {
  Partials partials(call.size());
  std::vector<Expr> args = call.node().args;
  args[0] = call.grad();
  partials[0] = CallOp(kind == 0 ? "tril" : "triu", std::move(args));
  return partials;
}

constexpr GradientRow kRows[] = {
    {"broadcast_to", BroadcastTo},
    {"collapse_sum_like", CollapseSum},
    {"collapse_sum_to", CollapseSum},
    {"concat", Concat},
    {"expand_dims", ExpandDims},
    {"flatten", Reshape},
    {"flip", Flip},
    {"nn.batch_flatten", Reshape},
    {"nn.pad", Pad},
    {"permute_dims", PermuteDims},
    {"repeat", Repeat},
    {"reshape", Reshape},
    {"split", Split},
    {"squeeze", Reshape},
    {"stack", Stack},
    {"tile", Tile},
    {"tril", Triangle<0>},
    {"triu", Triangle<1>},
};

}  // namespace

absl::Span<const GradientRow> ShapeGradients() { return kRows; }

}  // namespace kiln
