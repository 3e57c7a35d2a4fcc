// Ops that compute each element from the elements at its place. An op of one
// tensor that is an intrinsic of the tensor level, or of two that is an
// operator, is a row and no more:
//
//   R.exp(x)      T.exp(x[i])
//   R.add(x, y)   x[i] + y[i], extents of 1 stretched
#include "kiln/ir/ops/elementwise/elementwise.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/extents.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using Inputs = std::vector<te::Tensor>;

// --- One tensor.

absl::StatusOr<StructInfo> InferCondition(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  return WithType(*x, DType::Bool());
}

template <Intrinsic op>
absl::StatusOr<Lowered> LowerIntrinsic(const OpCall&, const Inputs& in) {
  return OneByOne(in[0],
                  [](const Expr& x) { return Call(x.dtype(), op, {x}); });
}

template <Intrinsic op>
absl::StatusOr<Lowered> LowerTest(const OpCall&, const Inputs& in) {
  return OneByOne(in[0],
                  [](const Expr& x) { return Call(DType::Bool(), op, {x}); });
}

absl::StatusOr<Lowered> LowerNegative(const OpCall&, const Inputs& in) {
  return OneByOne(
      in[0], [](const Expr& x) { return Mul(x, Constant(-1, x.dtype())); });
}

absl::StatusOr<Lowered> LowerSquare(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) { return Mul(x, x); });
}

absl::StatusOr<StructInfo> InferAstype(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return WithType(*x, dtype);
}

absl::StatusOr<Lowered> LowerAstype(const OpCall& call, const Inputs& in) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return OneByOne(in[0], [&](const Expr& x) { return Cast(dtype, x); });
}

// --- Two.

// Operands of two types are compared, too, but not by a tensor function.
absl::StatusOr<StructInfo> InferComparison(const OpCall& call) {
  KILN_RETURN_IF_ERROR(CheckTwo(call));
  for (size_t i = 0; i < call.size(); ++i) {
    if (call.info(i).As<graph::PrimInfo>()) continue;
    KILN_RETURN_IF_ERROR(call.Tensor(i).status());
  }
  return BroadcastInfo(call, DType::Bool());
}

absl::StatusOr<Lowered> OfTwo(const OpCall& call, const Inputs& in,
                              FunctionRef<Expr(const Expr&, const Expr&)> map) {
  return Together(call, in, [&](const std::vector<Expr>& elements) {
    return map(elements[0], elements[1]);
  });
}

template <ExprKind kind>
absl::StatusOr<Lowered> LowerBinary(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in,
               [](const Expr& a, const Expr& b) { return Binary(kind, a, b); });
}

// Of floats the quotient, of integers that of C.
absl::StatusOr<Lowered> LowerDivide(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in, [](const Expr& a, const Expr& b) {
    const bool is_float = a.dtype().is_float();
    return Binary(is_float ? ExprKind::kDiv : ExprKind::kTruncDiv, a, b);
  });
}

// --- Three.

absl::StatusOr<StructInfo> InferFma(const OpCall& call) {
  const graph::TensorInfo* first = nullptr;
  for (size_t i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(i));
    if (!first) first = x;
    if (x->rank == first->rank || x->rank == graph::kUnknownRank ||
        first->rank == graph::kUnknownRank) {
      continue;
    }
    return call.ErrorAt(
        i, absl::StrCat("the ranks differ, ", first->rank, " and ", x->rank));
  }
  KILN_ASSIGN_OR_RETURN(StructInfo result, InferBinary(call));
  const auto* tensor = result.As<graph::TensorInfo>();
  // All ranks are equal, so that one of them tells all.
  for (size_t i = 0; tensor->rank == graph::kUnknownRank && i < 3; ++i) {
    const int rank = call.info(i).As<graph::TensorInfo>()->rank;
    if (rank == graph::kUnknownRank || tensor->shape) continue;
    return Like(*tensor, rank);
  }
  return result;
}

absl::StatusOr<Lowered> LowerFma(const OpCall&, const Inputs& in) {
  return Lowered(te::Compute(
      BroadcastExtents(in),
      [&](const std::vector<Expr>& i) -> te::Value {
        return Add(Mul(ElementAt(in[0], i), ElementAt(in[1], i)),
                   ElementAt(in[2], i));
      },
      "compute"));
}

template <Intrinsic op>
absl::StatusOr<Lowered> LowerOfTwo(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in, [](const Expr& a, const Expr& b) {
    return Call(a.dtype(), op, {a, b});
  });
}

constexpr OpRow kRows[] = {
    {"abs", InferLike, LowerIntrinsic<Intrinsic::kAbs>},
    {"acos", InferLikeFloat, LowerIntrinsic<Intrinsic::kAcos>},
    {"acosh", InferLikeFloat, LowerIntrinsic<Intrinsic::kAcosh>},
    {"add", InferBinary, LowerBinary<ExprKind::kAdd>},
    {"asin", InferLikeFloat, LowerIntrinsic<Intrinsic::kAsin>},
    {"asinh", InferLikeFloat, LowerIntrinsic<Intrinsic::kAsinh>},
    {"astype", InferAstype, LowerAstype},
    {"atan", InferLikeFloat, LowerIntrinsic<Intrinsic::kAtan>},
    {"atan2", InferBinary, LowerOfTwo<Intrinsic::kAtan2>},
    {"atanh", InferLikeFloat, LowerIntrinsic<Intrinsic::kAtanh>},
    {"ceil", InferLike, LowerIntrinsic<Intrinsic::kCeil>},
    {"cos", InferLikeFloat, LowerIntrinsic<Intrinsic::kCos>},
    {"cosh", InferLikeFloat, LowerIntrinsic<Intrinsic::kCosh>},
    {"divide", InferBinary, LowerDivide},
    {"equal", InferComparison, LowerBinary<ExprKind::kEQ>},
    {"erf", InferLikeFloat, LowerIntrinsic<Intrinsic::kErf>},
    {"ewise_fma", InferFma, LowerFma},
    {"exp", InferLikeFloat, LowerIntrinsic<Intrinsic::kExp>},
    {"floor", InferLike, LowerIntrinsic<Intrinsic::kFloor>},
    {"floor_divide", InferBinary, LowerBinary<ExprKind::kFloorDiv>},
    {"floor_mod", InferBinary, LowerBinary<ExprKind::kFloorMod>},
    {"greater", InferComparison, LowerBinary<ExprKind::kGT>},
    {"greater_equal", InferComparison, LowerBinary<ExprKind::kGE>},
    {"isfinite", InferCondition, LowerTest<Intrinsic::kIsFinite>},
    {"isinf", InferCondition, LowerTest<Intrinsic::kIsInf>},
    {"isnan", InferCondition, LowerTest<Intrinsic::kIsNan>},
    {"less", InferComparison, LowerBinary<ExprKind::kLT>},
    {"less_equal", InferComparison, LowerBinary<ExprKind::kLE>},
    {"log", InferLikeFloat, LowerIntrinsic<Intrinsic::kLog>},
    {"maximum", InferBinary, LowerBinary<ExprKind::kMax>},
    {"minimum", InferBinary, LowerBinary<ExprKind::kMin>},
    {"mod", InferBinary, LowerBinary<ExprKind::kTruncMod>},
    {"multiply", InferBinary, LowerBinary<ExprKind::kMul>},
    {"negative", InferLike, LowerNegative},
    {"not_equal", InferComparison, LowerBinary<ExprKind::kNE>},
    {"power", InferBinary, LowerOfTwo<Intrinsic::kPow>},
    {"round", InferLike, LowerIntrinsic<Intrinsic::kNearbyint>},
    {"rsqrt", InferLikeFloat, LowerIntrinsic<Intrinsic::kRsqrt>},
    {"sigmoid", InferLikeFloat, LowerIntrinsic<Intrinsic::kSigmoid>},
    {"sin", InferLikeFloat, LowerIntrinsic<Intrinsic::kSin>},
    {"sinh", InferLikeFloat, LowerIntrinsic<Intrinsic::kSinh>},
    {"sqrt", InferLikeFloat, LowerIntrinsic<Intrinsic::kSqrt>},
    {"square", InferLike, LowerSquare},
    {"subtract", InferBinary, LowerBinary<ExprKind::kSub>},
    {"tan", InferLikeFloat, LowerIntrinsic<Intrinsic::kTan>},
    {"tanh", InferLikeFloat, LowerIntrinsic<Intrinsic::kTanh>},
    {"trunc", InferLike, LowerIntrinsic<Intrinsic::kTrunc>},
};

}  // namespace

absl::Span<const OpRow> ElementwiseOps() { return kRows; }

}  // namespace kiln
