// Conditions, bits and choices, element by element:
//
//   R.where(c, x, y)        x where c, else y
//   R.clip(x, 0, 6)         max(min(x, 6), 0)
//   R.logical_and(x, y)     of numbers: whether neither is 0, as 1 or 0
//   R.bitwise_and(x, y)     of integers and bools
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/ops/broadcast.h"
#include "kiln/ir/ops/elementwise/elementwise.h"
#include "kiln/ir/ops/op.h"

namespace kiln {
namespace {

using graph::StructInfo;
using graph::TensorInfo;
using Inputs = std::vector<te::Tensor>;
using Elements = std::vector<Expr>;

// --- Logic.

Expr IsTrue(const Expr& x) {
  return x.dtype().is_bool() ? x
                             : Binary(ExprKind::kNE, x, Constant(0, x.dtype()));
}

// A condition as a number of a type: 1 or 0.
Expr AsNumber(const Expr& condition, DType dtype) {
  if (dtype.is_bool()) return condition;
  return Select(condition, Constant(1, dtype), Constant(0, dtype));
}

template <ExprKind kind>
absl::StatusOr<Lowered> LowerLogic(const OpCall& call, const Inputs& in) {
  return Together(call, in, [](const Elements& x) {
    return AsNumber(Binary(kind, IsTrue(x[0]), IsTrue(x[1])), x[0].dtype());
  });
}

absl::StatusOr<Lowered> LowerLogicalNot(const OpCall&, const Inputs& in) {
  return OneByOne(
      in[0], [](const Expr& x) { return AsNumber(Not(IsTrue(x)), x.dtype()); });
}

// --- Bits.

absl::StatusOr<StructInfo> InferBits(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, CommonType(call));
  if (dtype.is_void() || dtype.is_integral()) {
    return BroadcastInfo(call, dtype);
  }
  return call.ErrorAt(
      0, absl::StrCat("the op is one of integers and bools, not of ",
                      dtype.ToString()));
}

absl::StatusOr<StructInfo> InferBitwiseNot(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const TensorInfo* x, call.Tensor(0));
  if (!x->dtype.is_float()) return call.info(0);
  return call.ErrorAt(0, "the op is one of integers and bools");
}

template <Intrinsic op, ExprKind of_bools>
absl::StatusOr<Lowered> LowerBits(const OpCall& call, const Inputs& in) {
  return Together(call, in, [](const Elements& x) {
    const DType dtype = x[0].dtype();
    if (dtype.is_bool()) return Binary(of_bools, x[0], x[1]);
    return Call(dtype, op, {x[0], x[1]});
  });
}

absl::StatusOr<Lowered> LowerBitwiseNot(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) {
    if (x.dtype().is_bool()) return Not(x);
    return Call(x.dtype(), Intrinsic::kBitwiseNot, {x});
  });
}

template <Intrinsic op>
absl::StatusOr<Lowered> LowerShift(const OpCall& call, const Inputs& in) {
  if (!in.empty() && in[0].dtype().is_bool()) {
    return absl::UnimplementedError("a shift of bools");
  }
  return Together(call, in, [](const Elements& x) {
    return Call(x[0].dtype(), op, {x[0], x[1]});
  });
}

// --- clip.

absl::StatusOr<StructInfo> InferClip(const OpCall& call) {
  for (size_t i = 1; i < 3; ++i) {
    KILN_RETURN_IF_ERROR(call.Number(i).status());
  }
  return InferLike(call);
}

// A bound as a number of `dtype`; null where it bounds nothing. Integers are
// bounded by the nearest integer inside.
absl::StatusOr<Expr> BoundOf(const OpCall& call, size_t arg, DType dtype) {
  KILN_ASSIGN_OR_RETURN(const Expr bound, call.Number(arg));
  if (!bound) return absl::UnimplementedError("a bound is not known");
  const auto* real = bound.As<FloatImmNode>();
  const int64_t* whole = AsInt(bound);
  if (!real && !whole) return Cast(dtype, bound);
  double value = real ? real->value : static_cast<double>(*whole);
  if (dtype.is_float()) return Float(value, dtype);
  value = arg == 1 ? std::ceil(value) : std::floor(value);
  const auto lowest = static_cast<double>(LowestInt(dtype));
  const double highest = std::ldexp(1.0, dtype.bits() - dtype.is_int()) - 1;
  if (!(arg == 1 ? value > lowest : value < highest)) return Expr();
  if (value < lowest || value > highest) {
    return absl::UnimplementedError("a bound that the type does not hold");
  }
  return whole ? Int(*whole, dtype) : Constant(value, dtype);
}

absl::StatusOr<Lowered> LowerClip(const OpCall& call, const Inputs& in) {
  const DType dtype = in[0].dtype();
  if (dtype.is_bool()) return absl::UnimplementedError("bools are not clipped");
  KILN_ASSIGN_OR_RETURN(const Expr lower, BoundOf(call, 1, dtype));
  KILN_ASSIGN_OR_RETURN(const Expr upper, BoundOf(call, 2, dtype));
  return OneByOne(in[0], [&](Expr x) {
    if (upper) x = Min(x, upper);
    return lower ? Max(x, lower) : x;
  });
}

// --- sign, log_add_exp, where.

absl::StatusOr<Lowered> LowerSign(const OpCall&, const Inputs& in) {
  return OneByOne(in[0], [](const Expr& x) {
    const DType dtype = x.dtype();
    if (dtype.is_bool()) return x;
    const Expr zero = Constant(0, dtype), one = Constant(1, dtype);
    if (dtype.is_uint()) return Select(LT(zero, x), one, zero);
    return Select(LT(zero, x), one,
                  Select(LT(x, zero), Constant(-1, dtype), zero));
  });
}

// max(x, y) + log(1 + exp(-|x - y|)), which no large x makes infinite; of
// equal ones x + log(2), infinities included.
absl::StatusOr<Lowered> LowerLogAddExp(const OpCall& call, const Inputs& in) {
  return Together(call, in, [](const Elements& e) {
    const Expr &x = e[0], &y = e[1];
    const DType dtype = x.dtype();
    const Expr distance = Sub(Min(x, y), Max(x, y));
    const Expr ratio = Call(dtype, Intrinsic::kExp, {distance});
    const Expr rest = Call(dtype, Intrinsic::kLog1p, {ratio});
    return Select(EQ(x, y), Add(x, Constant(M_LN2, dtype)),
                  Add(Max(x, y), rest));
  });
}

absl::StatusOr<StructInfo> InferLogAddExp(const OpCall& call) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, CommonType(call));
  if (dtype.is_void() || dtype.is_float()) return BroadcastInfo(call, dtype);
  return call.ErrorAt(
      0, absl::StrCat("the op is one of floats, not of ", dtype.ToString()));
}

absl::StatusOr<StructInfo> InferWhere(const OpCall& call) {
  if (!call.Has(2)) return call.Error("x1 or x2 is missing");
  DType types[3];
  for (size_t i = 0; i < 3; ++i) {
    const auto* number = call.info(i).As<graph::PrimInfo>();
    if (!number) KILN_RETURN_IF_ERROR(call.Tensor(i).status());
    types[i] = number ? number->dtype : call.info(i).As<TensorInfo>()->dtype;
  }
  if (!types[0].is_void() && !types[0].is_bool()) {
    return call.ErrorAt(0, "`condition` has to hold bools");
  }
  const bool is_known = !types[1].is_void() && !types[2].is_void();
  if (is_known && types[1] != types[2]) {
    return call.ErrorAt(
        2, absl::StrCat("the types differ, ", types[1].ToString(), " and ",
                        types[2].ToString()));
  }
  return BroadcastInfo(call, is_known ? types[1] : DType::Void());
}

absl::StatusOr<Lowered> LowerWhere(const OpCall& call, const Inputs& in) {
  return Together(
      call, in,
      [](const Elements& e) { return Select(IsTrue(e[0]), e[1], e[2]); },
      /*has_condition=*/true);
}

using enum Intrinsic;

constexpr OpRow kRows[] = {
    {"bitwise_and", InferBits, LowerBits<kBitwiseAnd, ExprKind::kAnd>},
    {"bitwise_not", InferBitwiseNot, LowerBitwiseNot},
    {"bitwise_or", InferBits, LowerBits<kBitwiseOr, ExprKind::kOr>},
    {"bitwise_xor", InferBits, LowerBits<kBitwiseXor, ExprKind::kNE>},
    {"clip", InferClip, LowerClip},
    {"left_shift", InferBits, LowerShift<kShiftLeft>},
    {"log_add_exp", InferLogAddExp, LowerLogAddExp},
    {"logical_and", InferBinary, LowerLogic<ExprKind::kAnd>},
    {"logical_not", InferLike, LowerLogicalNot},
    {"logical_or", InferBinary, LowerLogic<ExprKind::kOr>},
    {"logical_xor", InferBinary, LowerLogic<ExprKind::kNE>},
    {"right_shift", InferBits, LowerShift<kShiftRight>},
    {"sign", InferLike, LowerSign},
    {"where", InferWhere, LowerWhere},
};

}  // namespace

absl::Span<const OpRow> ChoiceOps() { return kRows; }

}  // namespace kiln
