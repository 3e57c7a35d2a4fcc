// Ops that compute each element from the elements at its place. An op of one
// tensor that is an intrinsic of the tensor level, or of two that is an
// operator, is a row and no more:
//
//   R.exp(x)      T.exp(x[i])
//   R.add(x, y)   x[i] + y[i], extents of 1 stretched
#include "kiln/ir/ops/elementwise/elementwise.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/interp/fold.h"
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

// Integers are whole.
template <Intrinsic op>
absl::StatusOr<Lowered> LowerRounding(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) {
    return x.dtype().is_integral() ? x : Call(x.dtype(), op, {x});
  });
}

// Narrow floats are asked as float32; integers are never.
Expr IsNan(const Expr& x) {
  const bool is_narrow = x.dtype().is_float() && x.dtype().bits() < 32;
  return Call(DType::Bool(), Intrinsic::kIsNan,
              {is_narrow ? Cast(DType::Float(32), x) : x});
}

// |x| == inf and not isnan(x); of integers the intrinsic.
Expr IsInf(const Expr& x) {
  const DType dtype = x.dtype();
  if (!dtype.is_float()) return Call(DType::Bool(), Intrinsic::kIsInf, {x});
  const Expr size = Call(dtype, Intrinsic::kAbs, {x});
  const Expr bound = Float(std::numeric_limits<double>::infinity(), dtype);
  return And(EQ(size, bound), Not(IsNan(x)));
}

Expr IsFinite(const Expr& x) {
  const Expr is_nan = IsNan(x);
  const DType dtype = x.dtype();
  if (!dtype.is_float()) return Not(is_nan);
  const Expr size = Call(dtype, Intrinsic::kAbs, {x});
  const Expr bound = Float(std::numeric_limits<double>::infinity(), dtype);
  const Expr is_no_bound = Binary(ExprKind::kNE, size, bound);
  return And(Or(is_no_bound, is_nan), Not(is_nan));
}

template <Expr (*test)(const Expr&)>
absl::StatusOr<Lowered> LowerTest(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], test);
}

absl::StatusOr<Lowered> LowerNegative(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) {
    const DType dtype = x.dtype();
    return dtype.is_uint() ? Sub(Constant(0, dtype), x)
                           : Mul(x, Constant(-1, dtype));
  });
}

absl::StatusOr<Lowered> LowerSquare(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) { return Mul(x, x); });
}

absl::StatusOr<StructInfo> InferAstype(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const graph::TensorInfo* x, call.Tensor(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  return WithType(*x, dtype);
}

// The constant of no dimensions that is converted, or nullptr.
const graph::ConstantNode* ConvertedNumber(const OpCall& call) {
  const auto* constant = call.arg(0).As<graph::ConstantNode>();
  const bool is_number =
      constant && constant->is_known() && constant->shape.empty();
  return is_number ? constant : nullptr;
}

absl::StatusOr<graph::Expr> ExpandAstype(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, call.Type("dtype"));
  const graph::ConstantNode* number = ConvertedNumber(call);
  if (!number) return absl::UnimplementedError("no constant number");
  const Expr value = graph::ElementOf(*number, 0);
  return graph::MakeConstant(dtype, {}, {FoldNumbers(Cast(dtype, value))});
}

absl::StatusOr<Lowered> LowerAstype(const OpCall& call, const Inputs& in) {
  if (ConvertedNumber(call)) {
    return absl::UnimplementedError("a number is converted ahead of time");
  }
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

// The sum of bools is whether one is true, their product whether both are.
constexpr ExprKind OfBools(ExprKind kind) {
  if (kind == ExprKind::kAdd) return ExprKind::kOr;
  return kind == ExprKind::kMul ? ExprKind::kAnd : kind;
}

template <ExprKind kind>
absl::StatusOr<Lowered> LowerBinary(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in, [](const Expr& a, const Expr& b) {
    return Binary(a.dtype().is_bool() ? OfBools(kind) : kind, a, b);
  });
}

// Rounded towards minus infinity.
absl::StatusOr<Lowered> LowerFloorDivide(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in, [](const Expr& a, const Expr& b) {
    if (!a.dtype().is_float()) return Binary(ExprKind::kFloorDiv, a, b);
    return Call(a.dtype(), Intrinsic::kFloor, {Binary(ExprKind::kDiv, a, b)});
  });
}

// The remainder of a division that rounds towards zero: of the sign of a.
Expr Remainder(const Expr& a, const Expr& b) {
  if (!a.dtype().is_float()) return Binary(ExprKind::kTruncMod, a, b);
  return Call(a.dtype(), Intrinsic::kFmod, {a, b});
}

// Of the sign of b.
Expr FloorRemainder(const Expr& a, const Expr& b) {
  if (!a.dtype().is_float()) return FloorMod(a, b);
  const Expr rest = Remainder(a, b), zero = Constant(0, a.dtype());
  const Expr differ = Binary(ExprKind::kNE, LT(rest, zero), LT(b, zero));
  const Expr moves = And(Binary(ExprKind::kNE, rest, zero), differ);
  return Select(moves, Add(rest, b), rest);
}

template <Expr (*map)(const Expr&, const Expr&)>
absl::StatusOr<Lowered> LowerTwoBy(const OpCall& call, const Inputs& in) {
  return OfTwo(call, in, map);
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
  const std::vector<Expr> shape = BroadcastExtents(in);
  return Lowered(te::Compute(
      shape,
      [&](const std::vector<Expr>& i) -> te::Value {
        return Add(Mul(ElementAt(in[0], shape, i), ElementAt(in[1], shape, i)),
                   ElementAt(in[2], shape, i));
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
    {"astype", InferAstype, LowerAstype, ExpandAstype},
    {"atan", InferLikeFloat, LowerIntrinsic<Intrinsic::kAtan>},
    {"atan2", InferBinary, LowerOfTwo<Intrinsic::kAtan2>},
    {"atanh", InferLikeFloat, LowerIntrinsic<Intrinsic::kAtanh>},
    {"ceil", InferLike, LowerRounding<Intrinsic::kCeil>},
    {"cos", InferLikeFloat, LowerIntrinsic<Intrinsic::kCos>},
    {"cosh", InferLikeFloat, LowerIntrinsic<Intrinsic::kCosh>},
    {"divide", InferBinary, LowerDivide},
    {"equal", InferComparison, LowerBinary<ExprKind::kEQ>},
    {"erf", InferLikeFloat, LowerIntrinsic<Intrinsic::kErf>},
    {"ewise_fma", InferFma, LowerFma},
    {"exp", InferLikeFloat, LowerIntrinsic<Intrinsic::kExp>},
    {"floor", InferLike, LowerRounding<Intrinsic::kFloor>},
    {"floor_divide", InferBinary, LowerFloorDivide},
    {"floor_mod", InferBinary, LowerTwoBy<FloorRemainder>},
    {"greater", InferComparison, LowerBinary<ExprKind::kGT>},
    {"greater_equal", InferComparison, LowerBinary<ExprKind::kGE>},
    {"isfinite", InferCondition, LowerTest<IsFinite>},
    {"isinf", InferCondition, LowerTest<IsInf>},
    {"isnan", InferCondition, LowerTest<IsNan>},
    {"less", InferComparison, LowerBinary<ExprKind::kLT>},
    {"less_equal", InferComparison, LowerBinary<ExprKind::kLE>},
    {"log", InferLikeFloat, LowerIntrinsic<Intrinsic::kLog>},
    {"maximum", InferBinary, LowerBinary<ExprKind::kMax>},
    {"minimum", InferBinary, LowerBinary<ExprKind::kMin>},
    {"mod", InferBinary, LowerTwoBy<Remainder>},
    {"multiply", InferBinary, LowerBinary<ExprKind::kMul>},
    {"negative", InferLike, LowerNegative},
    {"not_equal", InferComparison, LowerBinary<ExprKind::kNE>},
    {"power", InferBinary, LowerOfTwo<Intrinsic::kPow>},
    {"round", InferLike, LowerRounding<Intrinsic::kNearbyint>},
    {"rsqrt", InferLikeFloat, LowerIntrinsic<Intrinsic::kRsqrt>},
    {"sigmoid", InferLikeFloat, LowerIntrinsic<Intrinsic::kSigmoid>},
    {"sin", InferLikeFloat, LowerIntrinsic<Intrinsic::kSin>},
    {"sinh", InferLikeFloat, LowerIntrinsic<Intrinsic::kSinh>},
    {"sqrt", InferLikeFloat, LowerIntrinsic<Intrinsic::kSqrt>},
    {"square", InferLike, LowerSquare},
    {"subtract", InferBinary, LowerBinary<ExprKind::kSub>},
    {"tan", InferLikeFloat, LowerIntrinsic<Intrinsic::kTan>},
    {"tanh", InferLikeFloat, LowerIntrinsic<Intrinsic::kTanh>},
    {"trunc", InferLike, LowerRounding<Intrinsic::kTrunc>},
};

}  // namespace

absl::Span<const OpRow> ElementwiseOps() { return kRows; }

}  // namespace kiln
