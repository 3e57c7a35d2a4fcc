// Gradient rules: what an op's arguments contribute to a scalar, given what its
// result does.
//
//   absl::StatusOr<Partials> OfExp(const GradientCall& call) {
//     return Partials{Multiply(call.grad(), call.result())};
//   }
//   constexpr GradientRow kRows[] = {{"exp", OfExp}};
//
// A partial is an expression over leaves and other expressions: it gets
// bindings of its own where it is used.
#ifndef KILN_IR_TRANSFORM_GRAPH_GRADIENT_RULE_H_
#define KILN_IR_TRANSFORM_GRAPH_GRADIENT_RULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/expr/attr.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// One for each argument, null where nothing is contributed; of a tuple, a
// tuple.
using Partials = std::vector<graph::Expr>;

// Binds an expression ahead of others, and gives its variable.
using EmitFn = FunctionRef<graph::Expr(const graph::Expr&)>;

// A call of an op in the function, and the adjoint of its result.
class GradientCall {
 public:
  // The call and `emit` outlive this.
  GradientCall(const graph::CallNode& call, graph::Var result, graph::Expr grad,
               std::vector<bool> wanted, EmitFn emit);

  const graph::CallNode& node() const { return call_; }
  size_t size() const { return call_.args.size(); }
  bool Has(size_t i) const { return i < size(); }
  const graph::Expr& arg(size_t i) const { return call_.args[i]; }
  // Whether the partial of the argument is used. Others may be given, too.
  bool IsWanted(size_t i) const { return Has(i) && wanted_[i]; }
  const graph::Var& result() const { return result_; }
  const graph::Expr& grad() const { return grad_; }
  graph::Expr Emit(const graph::Expr& e) const { return emit_(e); }

  // A tensor whose extents and type are known: of an argument, of the result.
  absl::StatusOr<const graph::TensorInfo*> Tensor(size_t i) const;
  absl::StatusOr<const graph::TensorInfo*> Result() const;

  // Attributes. InvalidArgument where they are something else.
  const Attr& attr(const std::string& name) const;
  bool IsTrue(const std::string& name) const;
  absl::StatusOr<int64_t> Int(const std::string& name) const;
  absl::StatusOr<double> Real(const std::string& name) const;
  // An axis from the front.
  absl::StatusOr<int64_t> Axis(const std::string& name, int rank) const;
  // Axes from the front, in ascending order; all of them for None.
  absl::StatusOr<std::vector<int64_t>> Axes(const std::string& name,
                                            int rank) const;

  // "R.add(x, y): " and the reason, as Unimplemented.
  absl::Status Refuse(std::string_view reason) const;

 private:
  const graph::CallNode& call_;
  const graph::Var result_;
  const graph::Expr grad_;
  const std::vector<bool> wanted_;
  const EmitFn emit_;
  std::vector<graph::StructInfo> infos_;
};

using GradientFn = absl::StatusOr<Partials> (*)(const GradientCall& call);

struct GradientRow {
  std::string_view op;
  GradientFn rule;
};

// The row, or nullptr where the op has no gradient.
const GradientRow* FindGradient(std::string_view op);

// All of them.
const std::vector<GradientRow>& GradientRows();

// --- The families, for the table.
absl::Span<const GradientRow> ElementwiseGradients();
absl::Span<const GradientRow> ActivationGradients();
absl::Span<const GradientRow> PairGradients();
absl::Span<const GradientRow> ReductionGradients();
absl::Span<const GradientRow> ShapeGradients();
absl::Span<const GradientRow> IndexGradients();
absl::Span<const GradientRow> ScatterGradients();
absl::Span<const GradientRow> ProductGradients();
absl::Span<const GradientRow> ContractionGradients();
absl::Span<const GradientRow> NetworkGradients();
absl::Span<const GradientRow> NormGradients();
absl::Span<const GradientRow> WindowGradients();

// --- What rules are made of.
inline graph::Expr Unary(std::string op, graph::Expr x) {
  return graph::CallOp(std::move(op), {std::move(x)});
}
inline graph::Expr Binary(std::string op, graph::Expr a, graph::Expr b) {
  return graph::CallOp(std::move(op), {std::move(a), std::move(b)});
}
inline graph::Expr Plus(graph::Expr a, graph::Expr b) {
  return Binary("add", std::move(a), std::move(b));
}
inline graph::Expr Minus(graph::Expr a, graph::Expr b) {
  return Binary("subtract", std::move(a), std::move(b));
}
inline graph::Expr Times(graph::Expr a, graph::Expr b) {
  return Binary("multiply", std::move(a), std::move(b));
}
inline graph::Expr Over(graph::Expr a, graph::Expr b) {
  return Binary("divide", std::move(a), std::move(b));
}
inline graph::Expr Minus(graph::Expr x) {
  return Unary("negative", std::move(x));
}

// A constant of no dimensions, of the type of `e`; float32 where that is no
// float, or is not known.
graph::Expr NumberLike(double value, const graph::Expr& e);
// A shape as a value.
graph::Expr ShapeOfInfo(const graph::TensorInfo& info);
graph::Expr ZerosLike(const graph::TensorInfo& info);
// Axes as an attribute.
Attr AxesAttr(const std::vector<int64_t>& axes);
// `grad`, which has the shape of `from`, summed to the shape of `to`: where
// both are alike, `grad` itself.
graph::Expr SummedTo(const graph::Expr& grad, const graph::TensorInfo& from,
                     const graph::TensorInfo& to);
// `x` with the axes in this order.
graph::Expr Permuted(graph::Expr x, const std::vector<int64_t>& axes);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_GRADIENT_RULE_H_
