// Products. Of y = a b with matrices:
//
//   of a: grad b^T        of b: a^T grad
//
// Where leading axes are stretched, the partial is summed over them. A vector
// is a matrix of one row (a) or of one column (b).
#include <numeric>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/transform/graph/gradient/rule.h"

namespace kiln {
namespace {

using graph::CallOp;
using graph::Expr;
using graph::Scalar;

Expr Product(Expr a, Expr b) {
  return CallOp("matmul", {std::move(a), std::move(b)},
                {{"out_dtype", Attr()}});
}

// `e` with its last two axes, of `rank`, exchanged.
Expr Transposed(Expr e, size_t rank) {
  std::vector<int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[rank - 2], axes[rank - 1]);
  return Permuted(std::move(e), axes);
}

// An operand, or the adjoint, as a matrix (or a batch of them).
struct Matrix {
  Expr e;
  std::vector<Scalar> extents;
};

Matrix AsMatrix(const Expr& e, std::vector<Scalar> extents, bool adds_row,
                bool adds_column) {
  Matrix m{e, std::move(extents)};
  const auto rank = static_cast<int64_t>(m.extents.size());
  if (adds_column) {
    m.extents.push_back(Int(1));
    m.e = CallOp("expand_dims", {m.e}, {{"axis", AxesAttr({rank})}});
  }
  if (adds_row) {
    const int64_t at = static_cast<int64_t>(m.extents.size()) - 1;
    m.extents.insert(m.extents.begin() + at, Int(1));
    m.e = CallOp("expand_dims", {m.e}, {{"axis", AxesAttr({at})}});
  }
  return m;
}

// The partial of an operand: `product` has the batch of `grad` and the last two
// extents of `m`.
Expr Fitted(const Expr& product, const Matrix& grad, const Matrix& m,
            const graph::TensorInfo& info) {
  std::vector<Scalar> full(grad.extents.begin(), grad.extents.end() - 2);
  full.insert(full.end(), m.extents.end() - 2, m.extents.end());
  const graph::StructInfo from = graph::Tensor(std::move(full), info.dtype);
  const graph::StructInfo to = graph::Tensor(m.extents, info.dtype);
  const Expr summed = SummedTo(product, *from.As<graph::TensorInfo>(),
                               *to.As<graph::TensorInfo>());
  if (m.extents.size() == info.extents()->size()) return summed;
  return CallOp("reshape", {summed, ShapeOfInfo(info)});
}

absl::StatusOr<Partials> Matmul(const GradientCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* a, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* b, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Result());
  if (a->dtype != y->dtype || b->dtype != y->dtype) {
    return call.Refuse("its operands and its result have to be of one type");
  }
  const bool is_row = a->rank == 1, is_column = b->rank == 1;
  const Matrix left = AsMatrix(call.arg(0), *a->extents(), is_row, false);
  const Matrix right = AsMatrix(call.arg(1), *b->extents(), false, is_column);
  // A column that was left out goes behind, a row ahead of it.
  std::vector<Scalar> extents = *y->extents();
  Expr e = call.grad();
  if (is_row && is_column) {
    extents = {Int(1), Int(1)};
    e = CallOp("reshape", {e, graph::ShapeOf(extents)});
  }
  const Matrix grad = is_row && is_column
                          ? Matrix{e, extents}
                          : AsMatrix(e, extents, is_row, is_column);
  const Expr right_back = call.Emit(Transposed(right.e, right.extents.size()));
  const Expr left_back = call.Emit(Transposed(left.e, left.extents.size()));
  return Partials{Fitted(Product(grad.e, right_back), grad, left, *a),
                  Fitted(Product(left_back, grad.e), grad, right, *b)};
}

absl::StatusOr<Partials> Outer(const GradientCall& call) {
  return Partials{Product(call.grad(), call.arg(1)),
                  Product(call.arg(0), call.grad())};
}

constexpr GradientRow kRows[] = {
    {"matmul", Matmul},
    {"outer", Outer},
};

}  // namespace

absl::Span<const GradientRow> ProductGradients() { return kRows; }

}  // namespace kiln
