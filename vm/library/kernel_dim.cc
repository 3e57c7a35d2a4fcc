// A scalar is found from a number that it is part of by reading the number as
// factor * unknown + rest: from n * 2 + m = 11 and m = 3 follow the factor 2,
// the rest 3 and n = 4. Constants and known scalars have the factor 0, and
// nothing divides, or is compared with, what has another one.
#include "kiln/vm/library/kernel_dim.h"

#include <algorithm>
#include <limits>

namespace kiln {
namespace {

using Op = KernelDim::Op;
using Step = KernelDim::Step;

// factor * unknown + rest.
struct Line {
  int64_t factor = 0, rest = 0;
};
using MaybeLine = std::optional<Line>;

MaybeLine Sum(const Line& a, const Line& b) {
  Line c;
  if (__builtin_add_overflow(a.factor, b.factor, &c.factor) ||
      __builtin_add_overflow(a.rest, b.rest, &c.rest)) {
    return std::nullopt;
  }
  return c;
}

MaybeLine Times(const Line& a, int64_t by) {
  Line c;
  if (__builtin_mul_overflow(a.factor, by, &c.factor) ||
      __builtin_mul_overflow(a.rest, by, &c.rest)) {
    return std::nullopt;
  }
  return c;
}

MaybeLine Product(const Line& a, const Line& b) {
  if (b.factor == 0) return Times(a, b.rest);
  if (a.factor == 0) return Times(b, a.rest);
  return std::nullopt;
}

// Of numbers.
std::optional<int64_t> Quotient(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) {
    return std::nullopt;
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::optional<int64_t> Number(Op op, int64_t a, int64_t b) {
  switch (op) {
    case Op::kFloorDiv:
      return Quotient(a, b);
    case Op::kFloorMod: {
      const std::optional<int64_t> quotient = Quotient(a, b);
      if (!quotient) return std::nullopt;
      return a - *quotient * b;
    }
    case Op::kMin:
      return std::min(a, b);
    case Op::kMax:
      return std::max(a, b);
    case Op::kConstant:
    case Op::kScalar:
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
      return std::nullopt;
  }
  return std::nullopt;
}

MaybeLine Combine(Op op, const Line& a, const Line& b) {
  if (op == Op::kAdd) return Sum(a, b);
  if (op == Op::kMul) return Product(a, b);
  if (op == Op::kSub) {
    const MaybeLine minus_b = Times(b, -1);
    return minus_b ? Sum(a, *minus_b) : std::nullopt;
  }
  if (a.factor != 0 || b.factor != 0) return std::nullopt;
  const std::optional<int64_t> number = Number(op, a.rest, b.rest);
  return number ? MaybeLine(Line{0, *number}) : std::nullopt;
}

// `value_of(scalar)` is a MaybeLine.
template <typename ValueOf>
MaybeLine LineOf(const KernelDim& dim, ValueOf value_of) {
  return dim.Fold<MaybeLine>(
      [&](const Step& step) -> MaybeLine {
        if (step.op == Op::kConstant) return Line{0, step.value};
        return value_of(static_cast<int>(step.value));
      },
      [](Op op, const MaybeLine& a, const MaybeLine& b) -> MaybeLine {
        return a && b ? Combine(op, *a, *b) : std::nullopt;
      });
}

template <typename ValueOf>
std::optional<int64_t> NumberOf(const KernelDim& dim, ValueOf value_of) {
  const MaybeLine line = LineOf(dim, value_of);
  return line ? std::optional(line->rest) : std::nullopt;
}

const char* Spelled(Op op) {
  switch (op) {
    case Op::kAdd:
      return " + ";
    case Op::kSub:
      return " - ";
    case Op::kMul:
      return " * ";
    case Op::kFloorDiv:
      return " // ";
    case Op::kFloorMod:
      return " % ";
    case Op::kMin:
      return "T.min";
    case Op::kMax:
      return "T.max";
    case Op::kConstant:
    case Op::kScalar:
      return "";
  }
  return "";
}

// A text, and how tightly it holds together: sums 0, products 1, others 2.
struct Text {
  std::string text;
  int tightness = 2;

  std::string Within(int least) const {
    return tightness < least ? "(" + text + ")" : text;
  }
};

Text Spell(Op op, const Text& a, const Text& b) {
  if (op == Op::kMin || op == Op::kMax) {
    return {std::string(Spelled(op)) + "(" + a.text + ", " + b.text + ")"};
  }
  const int tightness = op == Op::kAdd || op == Op::kSub ? 0 : 1;
  return {a.Within(tightness) + Spelled(op) + b.Within(tightness + 1),
          tightness};
}

}  // namespace

KernelDim KernelDim::Constant(int64_t value) {
  return KernelDim({{Op::kConstant, value}});
}

KernelDim KernelDim::Symbolic(int scalar) {
  return KernelDim({{Op::kScalar, scalar}});
}

KernelDim KernelDim::Compound(Op op, const KernelDim& a, const KernelDim& b) {
  std::vector<Step> steps = a.steps_;
  steps.insert(steps.end(), b.steps_.begin(), b.steps_.end());
  steps.push_back({op, 0});
  return KernelDim(std::move(steps));
}

std::optional<KernelDim> KernelDim::FromSteps(std::vector<Step> steps) {
  int64_t depth = 0;
  for (const Step& step : steps) {
    if (IsLeaf(step.op)) {
      ++depth;
    } else if (--depth < 1) {
      return std::nullopt;
    }
  }
  if (depth != 1) return std::nullopt;
  return KernelDim(std::move(steps));
}

std::vector<int> KernelDim::Scalars() const {
  std::vector<int> scalars;
  for (const Step& step : steps_) {
    if (step.op == Op::kScalar) scalars.push_back(static_cast<int>(step.value));
  }
  return scalars;
}

std::optional<int64_t> Evaluate(const KernelDim& dim,
                                absl::Span<const int64_t> scalars) {
  if (dim.is_constant()) return dim.constant();
  return NumberOf(dim, [&](int s) { return Line{0, scalars[s]}; });
}

std::optional<int64_t> Evaluate(
    const KernelDim& dim, absl::Span<const std::optional<int64_t>> scalars) {
  if (dim.is_constant()) return dim.constant();
  return NumberOf(dim, [&](int s) -> MaybeLine {
    return scalars[s] ? MaybeLine(Line{0, *scalars[s]}) : std::nullopt;
  });
}

std::optional<int> OnlyUnknown(
    const KernelDim& dim, absl::Span<const std::optional<int64_t>> scalars) {
  std::optional<int> unknown;
  for (const Step& step : dim.steps()) {
    if (step.op != Op::kScalar || scalars[step.value]) continue;
    if (unknown && *unknown != step.value) return std::nullopt;
    unknown = static_cast<int>(step.value);
  }
  return unknown;
}

std::optional<int64_t> Solve(const KernelDim& dim,
                             absl::Span<const std::optional<int64_t>> scalars,
                             int unknown, int64_t wanted) {
  const MaybeLine line = LineOf(dim, [&](int s) -> MaybeLine {
    if (s == unknown) return Line{1, 0};
    return scalars[s] ? MaybeLine(Line{0, *scalars[s]}) : std::nullopt;
  });
  int64_t product;
  if (!line || line->factor == 0 ||
      __builtin_sub_overflow(wanted, line->rest, &product)) {
    return std::nullopt;
  }
  const std::optional<int64_t> value = Quotient(product, line->factor);
  return value && *value * line->factor == product ? value : std::nullopt;
}

std::string ToString(const KernelDim& dim,
                     const std::function<std::string(int)>& name_of_scalar) {
  return dim
      .Fold<Text>(
          [&](const Step& step) -> Text {
            const bool scalar = step.op == Op::kScalar;
            return {scalar ? name_of_scalar(static_cast<int>(step.value))
                           : std::to_string(step.value)};
          },
          Spell)
      .text;
}

}  // namespace kiln
