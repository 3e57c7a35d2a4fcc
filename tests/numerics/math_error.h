// Errors of the elementary functions in compiled code.
#ifndef KILN_TESTS_NUMERICS_MATH_ERROR_H_
#define KILN_TESTS_NUMERICS_MATH_ERROR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {

// A function of one or two numbers, with libm's result in a wider type.
struct MathFunction {
  std::string name;  // "exp", as in T.exp
  double (*of_double)(double) = nullptr;
  long double (*of_long)(long double) = nullptr;
  double (*of_doubles)(double, double) = nullptr;
  long double (*of_longs)(long double, long double) = nullptr;
  int arity() const { return of_double ? 1 : 2; }
};

const std::vector<MathFunction>& MathFunctions();

struct MathError {
  // The largest distance from the exact result, in units of the last place of
  // that (of the smallest normal number below it); 0.5 where all results are
  // rounded correctly. What is too large for the type counts as 2^128 in
  // float32, and so on.
  double ulps = 0.5;
  double worst[2] = {0, 0};  // the arguments
  // Results that should be NaN and are not, or the other way round, and zeros
  // with the wrong sign.
  int64_t wrong = 0;
  double wrong_at[2] = {0, 0};
  int64_t count = 0;

  void Merge(const MathError& other);
};

// Applies one function to elements of one type, in vectors. `numerics` is the
// mode of ir/tensor/numerics.h.
class MathKernel {
 public:
  static absl::StatusOr<MathKernel> Create(const MathFunction& function,
                                           DType dtype,
                                           const std::string& numerics,
                                           const Target& target);
  // The bits of results of arguments given by their bits, `arity` spans of the
  // same length.
  absl::StatusOr<std::vector<uint64_t>> Results(
      absl::Span<const absl::Span<const uint64_t>> bits) const;
  // The error of those results.
  absl::StatusOr<MathError> Measure(
      absl::Span<const absl::Span<const uint64_t>> bits) const;

 private:
  MathKernel(const MathFunction& function, DType dtype, LoadedKernel kernel)
      : function_(function), dtype_(dtype), kernel_(std::move(kernel)) {}
  long double Exact(double x, double y) const;
  // Of one result.
  MathError ErrorOf(double x, double y, double got) const;

  const MathFunction& function_;
  DType dtype_;
  LoadedKernel kernel_;
};

// Zeros, the least and the largest numbers of all kinds, infinities, quiet NaNs
// with several payloads, small integers, and their neighbours, as bits.
std::vector<uint64_t> SpecialBits(DType dtype);

}  // namespace kiln

#endif  // KILN_TESTS_NUMERICS_MATH_ERROR_H_
