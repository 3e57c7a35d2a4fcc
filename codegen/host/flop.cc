// Work is counted for numbers, so symbolic extents are given numbers: three
// neighbours each, whose counts tell a parabola. Of
//
//   for i, j in T.grid(n, n): if j <= i: C[i, j] = A[i, j] * 2
//
// the counts at n = 24, 25, 26 are 300, 325, 351: 0 + n / 2 + n * n / 2. With
// several scalars this is done for one after the other, on the coefficients of
// those before. All steps are exact in float64 where the counts are far below
// 2 ** 53; what is no polynomial fails at the extents that are tried last.
#include "kiln/codegen/host/flop.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/work/work.h"
#include "kiln/vm/library/kernel_dim.h"

namespace kiln {
namespace {

constexpr int kMostScalars = 3;
constexpr int kPoints = 3;  // of each scalar
constexpr double kFirst = 24;
constexpr double kMostFlop = 1e15;
// Extents that are tried last, each seven more than that of the scalar before.
constexpr int kTried[] = {29, 37, 58};
constexpr int kTriedStep = 7;

struct Scalar {
  Var var;
  int place;  // in the signature
};

// Those that may be extents.
std::vector<Scalar> ScalarsOf(const Function& f) {
  std::vector<Scalar> scalars;
  int place = 0;
  const auto add = [&](const Var& var) {
    if (var.dtype().is_integral()) scalars.push_back({var, place});
    ++place;
  };
  for (const Param& param : f.params) {
    if (!param.buffer) add(param.var);
  }
  for (const Var& dim : SymbolicDims(f)) add(dim);
  return scalars;
}

std::optional<Count> CountAt(const Function& f,
                             const std::vector<Scalar>& scalars,
                             const std::vector<int64_t>& values) {
  VarMap map;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const Var& var = scalars[i].var;
    map[var.get()] = Int(values[i], var.dtype());
  }
  Function bound = f;
  bound.body = Substitute(f.body, map);
  const absl::StatusOr<Work> work = CountWork(bound);
  if (!work.ok() || !(work->needed_flop.value <= kMostFlop)) {
    return std::nullopt;
  }
  return work->needed_flop;
}

// Values at 24, 25, 26 become the coefficients of 1, x, x * x.
void Interpolate(double* v, size_t stride) {
  double &a = v[0], &b = v[stride], &c = v[2 * stride];
  const double square = (c - 2 * b + a) / 2;
  const double linear = b - a - square * (2 * kFirst + 1);
  a -= kFirst * (linear + kFirst * square);
  b = linear;
  c = square;
}

// A number in base 3 has digit 0, 1 or 2 for each scalar, the first one lowest:
// which point, and later which power of it.
class Polynomial {
 public:
  // Nothing where some point cannot be counted.
  static std::optional<Polynomial> Fit(const Function& f,
                                       const std::vector<Scalar>& scalars) {
    Polynomial p(scalars);
    size_t size = 1;
    for (size_t i = 0; i < scalars.size(); ++i) size *= kPoints;
    for (size_t at = 0; at < size; ++at) {
      std::vector<int64_t> values;
      for (int digit : p.Digits(at)) {
        values.push_back(static_cast<int64_t>(kFirst) + digit);
      }
      const std::optional<Count> count = CountAt(f, scalars, values);
      if (!count) return std::nullopt;
      p.is_bound_ = p.is_bound_ || !count->exact;
      p.terms_.push_back(count->value);
    }
    for (size_t stride = 1; stride < size; stride *= kPoints) {
      for (size_t at = 0; at < size; ++at) {
        if (at / stride % kPoints == 0) Interpolate(&p.terms_[at], stride);
      }
    }
    return p;
  }

  // Over the scalars; nothing where a coefficient is no multiple of 1 / 8.
  std::optional<vm::KernelFlop> ToFlop() const {
    using Op = KernelDim::Op;
    const double divisor = std::exp2(scalars_.size());
    KernelDim sum = KernelDim::Constant(0);
    for (size_t at = 0; at < terms_.size(); ++at) {
      const double factor = terms_[at] * divisor;
      if (factor == 0) continue;
      if (factor != std::round(factor) || std::abs(factor) > 8 * kMostFlop) {
        return std::nullopt;
      }
      KernelDim term = KernelDim::Constant(static_cast<int64_t>(factor));
      const std::vector<int> digits = Digits(at);
      for (size_t i = 0; i < digits.size(); ++i) {
        for (int power = 0; power < digits[i]; ++power) {
          term = KernelDim::Compound(Op::kMul, term,
                                     KernelDim::Symbolic(scalars_[i].place));
        }
      }
      sum = KernelDim::Compound(Op::kAdd, sum, term);
    }
    return vm::KernelFlop{
        KernelDim::Compound(Op::kFloorDiv, sum,
                            KernelDim::Constant(static_cast<int64_t>(divisor))),
        is_bound_};
  }

 private:
  explicit Polynomial(const std::vector<Scalar>& scalars) : scalars_(scalars) {}

  std::vector<int> Digits(size_t at) const {
    std::vector<int> digits;
    for (size_t i = 0; i < scalars_.size(); ++i) {
      digits.push_back(static_cast<int>(at % kPoints));
      at /= kPoints;
    }
    return digits;
  }

  std::vector<Scalar> scalars_;
  bool is_bound_ = false;
  std::vector<double> terms_;
};

bool HoldsElsewhere(const vm::KernelFlop& flop, const Function& f,
                    const std::vector<Scalar>& scalars) {
  for (const int tried : kTried) {
    std::vector<int64_t> values;
    std::vector<int64_t> call(scalars.back().place + 1);
    for (size_t i = 0; i < scalars.size(); ++i) {
      values.push_back(tried + kTriedStep * static_cast<int64_t>(i));
      call[scalars[i].place] = values.back();
    }
    const std::optional<Count> count = CountAt(f, scalars, values);
    const std::optional<int64_t> told =
        Evaluate(flop.count, absl::MakeConstSpan(call));
    if (!count || !told || static_cast<double>(*told) != count->value) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<vm::KernelFlop> FlopOf(const Function& f) {
  const std::vector<Scalar> scalars = ScalarsOf(f);
  if (scalars.empty()) {
    const std::optional<Count> count = CountAt(f, {}, {});
    if (!count) return std::nullopt;
    return vm::KernelFlop{
        KernelDim::Constant(static_cast<int64_t>(count->value)), !count->exact};
  }
  if (scalars.size() > kMostScalars) return std::nullopt;
  const std::optional<Polynomial> fit = Polynomial::Fit(f, scalars);
  std::optional<vm::KernelFlop> flop = fit ? fit->ToFlop() : std::nullopt;
  if (!flop || !HoldsElsewhere(*flop, f, scalars)) return std::nullopt;
  return flop;
}

}  // namespace kiln
