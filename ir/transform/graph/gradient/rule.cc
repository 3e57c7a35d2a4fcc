// What rules ask of a call, and what they are made of. A call that lacks what a
// rule needs is refused by its text:
//
//   the gradient of R.take(x, 1): its index has to be a tensor
#include "kiln/ir/transform/graph/gradient/rule.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/info/info.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

using graph::TensorInfo;
using GraphExpr = graph::Expr;

namespace {

// Null where extents or type are not known.
const TensorInfo* Complete(const graph::StructInfo& info) {
  const auto* tensor = info.As<TensorInfo>();
  return tensor && tensor->extents() && !tensor->dtype.is_void() ? tensor
                                                                 : nullptr;
}

}  // namespace

GradientCall::GradientCall(const graph::CallNode& call, graph::Var result,
                           GraphExpr grad, std::vector<bool> wanted,
                           EmitFn emit)
    : call_(call),
      result_(std::move(result)),
      grad_(std::move(grad)),
      wanted_(std::move(wanted)),
      emit_(emit) {
  for (const GraphExpr& arg : call.args) infos_.push_back(graph::InfoOf(arg));
}

absl::StatusOr<const TensorInfo*> GradientCall::Tensor(size_t i) const {
  const TensorInfo* tensor = Has(i) ? Complete(infos_[i]) : nullptr;
  if (tensor) return tensor;
  return Refuse(absl::StrCat("the extents of argument ", i + 1,
                             " have to be known one by one"));
}

absl::StatusOr<const TensorInfo*> GradientCall::Result() const {
  const TensorInfo* tensor = Complete(result_->info);
  if (tensor) return tensor;
  return Refuse("the extents of its result have to be known one by one");
}

const Attr& GradientCall::attr(const std::string& name) const {
  static const Attr* const none = new Attr();
  const auto found = call_.attrs.find(name);
  return found == call_.attrs.end() ? *none : found->second;
}

absl::StatusOr<int64_t> GradientCall::Int(const std::string& name) const {
  const kiln::Expr* e = attr(name).expr();
  const int64_t* value = e ? AsInt(*e) : nullptr;
  if (value) return *value;
  return Refuse(absl::StrCat("`", name, "` has to be a whole number"));
}

bool GradientCall::IsTrue(const std::string& name) const {
  const absl::StatusOr<int64_t> value = Int(name);
  return value.ok() && *value != 0;
}

absl::StatusOr<double> GradientCall::Real(const std::string& name) const {
  const kiln::Expr* e = attr(name).expr();
  const auto* real = e ? e->As<FloatImmNode>() : nullptr;
  if (real) return real->value;
  KILN_ASSIGN_OR_RETURN(const int64_t value, Int(name));
  return static_cast<double>(value);
}

absl::StatusOr<int64_t> GradientCall::Axis(const std::string& name,
                                           int rank) const {
  KILN_ASSIGN_OR_RETURN(const int64_t axis, Int(name));
  return axis < 0 ? axis + rank : axis;
}

absl::StatusOr<std::vector<int64_t>> GradientCall::Axes(const std::string& name,
                                                        int rank) const {
  std::vector<int64_t> axes;
  if (attr(name).is_none()) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  if (const AttrList* list = attr(name).list()) {
    for (const Attr& item : *list) {
      const int64_t* axis = item.expr() ? AsInt(*item.expr()) : nullptr;
      if (!axis) return Refuse(absl::StrCat("`", name, "` lists no axes"));
      axes.push_back(*axis < 0 ? *axis + rank : *axis);
    }
  } else {
    KILN_ASSIGN_OR_RETURN(axes.emplace_back(), Axis(name, rank));
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

absl::Status GradientCall::Refuse(std::string_view reason) const {
  return absl::UnimplementedError(
      absl::StrCat("the gradient of ", PrintGraphExpr(GraphExpr(&call_)), ": ",
                   std::string(reason)));
}

const std::vector<GradientRow>& GradientRows() {
  static const auto* const rows = [] {
    auto* all = new std::vector<GradientRow>;
    for (const auto& part :
         {ElementwiseGradients(), ActivationGradients(), PairGradients(),
          ReductionGradients(), ShapeGradients(), IndexGradients(),
          ScatterGradients(), ProductGradients(), ContractionGradients(),
          NetworkGradients(), NormGradients(), WindowGradients()}) {
      all->insert(all->end(), part.begin(), part.end());
    }
    return all;
  }();
  return *rows;
}

const GradientRow* FindGradient(std::string_view op) {
  for (const GradientRow& row : GradientRows()) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

GraphExpr NumberLike(double value, const GraphExpr& e) {
  const graph::StructInfo info = graph::InfoOf(e);
  const auto* tensor = info.As<TensorInfo>();
  const bool is_known = tensor && tensor->dtype.is_float();
  const DType dtype = is_known ? tensor->dtype : DType::Float(32);
  absl::StatusOr<GraphExpr> made =
      graph::MakeConstant(dtype, {}, {Float(value, DType::Float(64))});
  // Only floats have gradients, and they hold every number.
  KILN_CHECK(made.ok()) << made.status();
  return *std::move(made);
}

GraphExpr ShapeOfInfo(const TensorInfo& info) {
  return graph::ShapeOf(*info.extents());
}

GraphExpr ZerosLike(const TensorInfo& info) {
  return graph::CallOp("zeros", {ShapeOfInfo(info)},
                       {{"dtype", info.dtype.ToString()}});
}

Attr AxesAttr(const std::vector<int64_t>& axes) {
  AttrList list;
  for (const int64_t axis : axes) list.push_back(Int(axis));
  return list;
}

GraphExpr SummedTo(const GraphExpr& grad, const TensorInfo& from,
                   const TensorInfo& to) {
  Analyzer analyzer;
  const auto& have = *from.extents();
  const auto& want = *to.extents();
  bool is_same = have.size() == want.size();
  for (size_t i = 0; is_same && i < have.size(); ++i) {
    is_same = analyzer.CanProveEqual(have[i], want[i]);
  }
  if (is_same) return grad;
  return graph::CallOp("collapse_sum_to", {grad, ShapeOfInfo(to)});
}

GraphExpr Permuted(GraphExpr x, const std::vector<int64_t>& axes) {
  return graph::CallOp("permute_dims", {std::move(x)},
                       {{"axes", AxesAttr(axes)}});
}

}  // namespace kiln
