// R.matmul, as NumPy has it: rows of the last but one dimension of x with
// columns of y, batches stretched; a vector is a row of x, a column of y, and
// its dimension is none of the result's.
//
//   (2, 1, 4, 5) and (6, 1, 3, 5, 7)   (6, 2, 3, 4, 7)
//   (4,) and (4, 5)                    (5,)
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/product/product.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Extents = std::vector<Expr>;
using Inputs = std::vector<te::Tensor>;

absl::StatusOr<DType> ResultType(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType wanted, call.Type("out_dtype"));
  if (!wanted.is_void()) return wanted;
  return CommonType(call);
}

int ResultRank(int x, int y) {
  if (x == graph::kUnknownRank || y == graph::kUnknownRank) {
    return graph::kUnknownRank;
  }
  return std::max({x, y, 2}) - (x == 1) - (y == 1);
}

// The batch, which is what stands ahead of the last two dimensions; nullopt
// where extents may or may not meet.
absl::StatusOr<std::optional<Extents>> Batch(const OpCall& call,
                                             const Extents& x,
                                             const Extents& y) {
  const size_t of_x = x.size() - std::min<size_t>(x.size(), 2);
  const size_t of_y = y.size() - std::min<size_t>(y.size(), 2);
  Extents batch;
  for (size_t back = std::max(of_x, of_y); back > 0; --back) {
    const Expr a = back > of_x ? Int(1) : x[of_x - back];
    const Expr b = back > of_y ? Int(1) : y[of_y - back];
    const bool equal = call.analyzer().CanProveEqual(a, b);
    if (!equal && !IsOne(a) && !IsOne(b)) {
      const bool is_open = !AsInt(a) || !AsInt(b);
      if (is_open && !call.has_checks()) return std::optional<Extents>();
      if (is_open && call.AreEqual(a, b)) {
        batch.push_back(AsInt(b) ? b : a);
        continue;
      }
      return call.ErrorAt(1, absl::StrCat("batches of ", PrintExpr(a), " and ",
                                          PrintExpr(b), " do not meet"));
    }
    batch.push_back(IsOne(a) ? b : a);
  }
  return std::optional<Extents>(std::move(batch));
}

absl::Status CheckSum(const OpCall& call, const Extents& x, const Extents& y) {
  const Expr& a = x.back();
  const Expr& b = y.size() == 1 ? y[0] : y[y.size() - 2];
  if (call.AreEqual(a, b)) return absl::OkStatus();
  return call.ErrorAt(1,
                      "the last extent of x is not the one of y that the "
                      "sum runs over");
}

absl::StatusOr<StructInfo> InferMatmul(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* y, call.Tensor(1));
  KILN_ASSIGN_OR_RETURN(const DType dtype, ResultType(call));
  if (x->rank == 0 || y->rank == 0) {
    return call.ErrorAt(x->rank == 0 ? 0 : 1, "a scalar has no rows");
  }
  const StructInfo ranked =
      graph::TensorOfRank(ResultRank(x->rank, y->rank), dtype, x->device);
  if (!x->extents() || !y->extents()) return ranked;
  KILN_RETURN_IF_ERROR(CheckSum(call, *x->extents(), *y->extents()));
  KILN_ASSIGN_OR_RETURN(std::optional<Extents> shape,
                        Batch(call, *x->extents(), *y->extents()));
  if (!shape) return ranked;
  if (x->rank > 1) shape->push_back((*x->extents())[x->rank - 2]);
  if (y->rank > 1) shape->push_back(y->extents()->back());
  return graph::Tensor(*std::move(shape), dtype, x->device);
}

// The element in `row` and `column` of the batch at `indices`.
Expr Entry(const te::Tensor& tensor, const Extents& indices, size_t batch,
           const Extents& last) {
  const Extents& shape = tensor.shape();
  const size_t own = shape.size() - last.size();
  Extents at;
  for (size_t d = 0; d < own; ++d) {
    at.push_back(IsOne(shape[d]) ? Int(0) : indices[batch - own + d]);
  }
  at.insert(at.end(), last.begin(), last.end());
  return tensor(std::move(at));
}

absl::StatusOr<Lowered> LowerMatmul(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const StructInfo info, InferMatmul(call));
  const auto* result = info.As<graph::TensorInfo>();
  if (!result->extents() || result->dtype.is_void()) {
    return absl::UnimplementedError("batches that may not meet");
  }
  const te::Tensor &x = in[0], &y = in[1];
  const bool has_row = x.shape().size() > 1, has_column = y.shape().size() > 1;
  const size_t batch = result->rank - has_row - has_column;
  const te::IterVar k = te::ReduceAxis(Int(0), x.shape().back(), "k");
  return Lowered(te::Compute(
      *result->extents(),
      [&](const Extents& i) -> te::Value {
        const Extents of_x = has_row ? Extents{i[batch], k} : Extents{k};
        const Extents of_y = has_column ? Extents{k, i.back()} : Extents{k};
        const Expr a = Cast(result->dtype, Entry(x, i, batch, of_x));
        const Expr b = Cast(result->dtype, Entry(y, i, batch, of_y));
        return te::Sum(Mul(a, b), {k});
      },
      "matmul"));
}

constexpr OpRow kRows[] = {
    {"matmul", InferMatmul, LowerMatmul},
};

}  // namespace

absl::Span<const OpRow> MatmulOps() { return kRows; }

}  // namespace kiln
