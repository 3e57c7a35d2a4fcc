// A function is compiled as the loop B[i] = T.exp(A[i]), called on a block of
// inputs at a time, and compared with libm in the next wider type: float64 for
// all narrower ones, 80 bits for float64. An error is told in units of the last
// digit that the type has at the exact value:
//
//   exp(1) in float32    exact 2.71828.., one unit is 2^-22
//     the nearest float32 counts as 0, the one beside it as about 1
//
// Beyond the largest number, infinity stands for the next power of two. NaN in
// place of a number, or the reverse, and a zero of the wrong sign are no errors
// in units: they are counted as wrong.
#include "kiln/tests/numerics/math_error.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/interp/numeric.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/support/execute.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {
namespace {

constexpr int64_t kBlock = 1 << 14;  // elements of a call

template <typename T>
T Rsqrt(T x) {
  return 1 / std::sqrt(x);
}
template <typename T>
T Sigmoid(T x) {
  const T e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
template <typename T>
T Exp10(T x) {
  return std::pow(T{10}, x);
}

// Digits with the leading one, and the exponent of the least normal number.
struct Format {
  int digits;
  int least;
  int most;
};

Format FormatOf(DType dtype) {
  if (dtype.bits() == 64) return {53, -1022, 1023};
  if (dtype.bits() == 32) return {24, -126, 127};
  if (dtype.code() == TypeCode::kBFloat) return {8, -126, 127};
  return {11, -14, 15};
}

double UlpsApart(DType dtype, double got, long double exact) {
  const Format format = FormatOf(dtype);
  const long double beyond = std::ldexp(1.0L, format.most + 1);
  const auto bounded = [&](long double x) {
    return std::isinf(x) ? std::copysign(beyond, x) : x;
  };
  long double expected = bounded(exact);
  if (std::fabs(expected) > beyond) expected = std::copysign(beyond, expected);
  int exponent = format.least + 1;
  if (expected != 0) std::frexp(expected, &exponent);
  const int leading = std::max(exponent - 1, format.least);
  const long double ulp = std::ldexp(1.0L, leading - format.digits + 1);
  return static_cast<double>(std::fabs(bounded(got) - expected) / ulp);
}

std::string Program(const MathFunction& function, DType dtype,
                    const std::string& numerics) {
  const std::string buffer =
      absl::StrCat("T.Buffer((", kBlock, ",), \"", dtype.ToString(), "\")");
  const bool binary = function.arity() == 2;
  return absl::StrCat(
      "@T.prim_func\ndef main(A: ", buffer, ", ",
      binary ? absl::StrCat("B: ", buffer, ", ") : "", "C: ", buffer,
      "):\n  T.func_attr({\"numerics\": \"", numerics,
      "\"})\n  for i in range(", kBlock, "):\n    with T.block(\"C\"):\n",
      "      v = T.axis.spatial(", kBlock, ", i)\n      C[v] = T.",
      function.name, "(A[v]", binary ? ", B[v]" : "", ")\n");
}

bool IsWrong(double got, long double exact) {
  if (std::isnan(got) != std::isnan(exact)) return true;
  return exact == 0 && got == 0 && std::signbit(got) != std::signbit(exact);
}

}  // namespace

const std::vector<MathFunction>& MathFunctions() {
  static const auto* functions = new std::vector<MathFunction>{
#define KILN_UNARY(name) {#name, std::name, std::name}
      KILN_UNARY(exp),
      KILN_UNARY(exp2),
      {"exp10", Exp10, Exp10},
      KILN_UNARY(log),
      KILN_UNARY(log2),
      KILN_UNARY(log10),
      KILN_UNARY(log1p),
      KILN_UNARY(sqrt),
      {"rsqrt", Rsqrt, Rsqrt},
      KILN_UNARY(tanh),
      {"sigmoid", Sigmoid, Sigmoid},
      KILN_UNARY(erf),
      KILN_UNARY(sin),
      KILN_UNARY(cos),
      KILN_UNARY(tan),
      KILN_UNARY(sinh),
      KILN_UNARY(cosh),
      KILN_UNARY(asin),
      KILN_UNARY(acos),
      KILN_UNARY(atan),
      KILN_UNARY(asinh),
      KILN_UNARY(acosh),
      KILN_UNARY(atanh),
      {"abs", std::fabs, std::fabs},
      KILN_UNARY(floor),
      KILN_UNARY(ceil),
      KILN_UNARY(trunc),
      KILN_UNARY(round),
      KILN_UNARY(nearbyint),
#undef KILN_UNARY
#define KILN_BINARY(name) {#name, nullptr, nullptr, std::name, std::name}
      KILN_BINARY(atan2),
      KILN_BINARY(pow),
      KILN_BINARY(fmod),
      KILN_BINARY(hypot),
#undef KILN_BINARY
  };
  return *functions;
}

void MathError::Merge(const MathError& other) {
  if (other.ulps > ulps) {
    ulps = other.ulps;
    std::copy(std::begin(other.worst), std::end(other.worst), worst);
  }
  if (wrong == 0) {
    std::copy(std::begin(other.wrong_at), std::end(other.wrong_at), wrong_at);
  }
  wrong += other.wrong;
  count += other.count;
}

absl::StatusOr<MathKernel> MathKernel::Create(const MathFunction& function,
                                              DType dtype,
                                              const std::string& numerics,
                                              const Target& target) {
  KILN_ASSIGN_OR_RETURN(
      const Function f,
      ParseFunction("math.py", Program(function, dtype, numerics)));
  KILN_ASSIGN_OR_RETURN(LoadedKernel kernel, CompileAndLoad(f, target));
  return MathKernel(function, dtype, std::move(kernel));
}

long double MathKernel::Exact(double x, double y) const {
  if (function_.arity() == 1) {
    return dtype_.bits() == 64 ? function_.of_long(x) : function_.of_double(x);
  }
  return dtype_.bits() == 64 ? function_.of_longs(x, y)
                             : function_.of_doubles(x, y);
}

MathError MathKernel::ErrorOf(double x, double y, double got) const {
  MathError error;
  const long double exact = Exact(x, y);
  if (IsWrong(got, exact)) {
    error.wrong = 1;
    error.wrong_at[0] = x, error.wrong_at[1] = y;
  } else if (!std::isnan(got) &&
             got != RoundReal(dtype_, static_cast<double>(exact))) {
    error.ulps = UlpsApart(dtype_, got, exact);
    error.worst[0] = x, error.worst[1] = y;
  }
  return error;
}

absl::StatusOr<std::vector<uint64_t>> MathKernel::Results(
    absl::Span<const absl::Span<const uint64_t>> bits) const {
  const int width = dtype_.bytes();
  const int64_t size = bits[0].size();
  ThreadPool::Options one;
  one.num_threads = 1;
  ThreadPool pool(one);
  KernelHost host(&pool);
  std::vector<PackedValue> values;
  std::vector<uint8_t*> data;
  for (int i = 0; i <= function_.arity(); ++i) {
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Zeros({kBlock}, dtype_));
    data.push_back(array.data_as<uint8_t>());
    values.push_back(std::move(array));
  }
  std::vector<uint64_t> results(size);
  for (int64_t begin = 0; begin < size; begin += kBlock) {
    const int64_t length = std::min(kBlock, size - begin);
    for (int arg = 0; arg < function_.arity(); ++arg) {
      for (int64_t i = 0; i < length; ++i) {
        std::memcpy(data[arg] + i * width, &bits[arg][begin + i], width);
      }
    }
    KILN_RETURN_IF_ERROR(kernel_.Call(host.abi(), values));
    for (int64_t i = 0; i < length; ++i) {
      std::memcpy(&results[begin + i], data.back() + i * width, width);
    }
  }
  return results;
}

absl::StatusOr<MathError> MathKernel::Measure(
    absl::Span<const absl::Span<const uint64_t>> bits) const {
  KILN_ASSIGN_OR_RETURN(const std::vector<uint64_t> results, Results(bits));
  const auto real = [&](const uint64_t& number) {
    return LoadReal(dtype_, reinterpret_cast<const uint8_t*>(&number));
  };
  MathError error;
  error.count = static_cast<int64_t>(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    error.Merge(ErrorOf(real(bits[0][i]), real(bits[function_.arity() - 1][i]),
                        real(results[i])));
  }
  return error;
}

std::vector<uint64_t> SpecialBits(DType dtype) {
  const Format format = FormatOf(dtype);
  const uint64_t sign = uint64_t{1} << (dtype.bits() - 1);
  const uint64_t one = uint64_t{1} << (format.digits - 1);
  const uint64_t infinity = (sign - 1) & ~(one - 1);
  std::vector<uint64_t> bits = {0,
                                1,
                                2,
                                one - 1,
                                one,
                                one + 1,
                                infinity,
                                infinity + one / 2,
                                infinity + one / 2 + 1,
                                sign - 1,
                                infinity - 1};
  for (int i = 1; i <= 200; ++i) {
    uint8_t bytes[8] = {};
    uint64_t number = 0;
    StoreReal(dtype, RoundReal(dtype, i <= 100 ? i : (i - 100) / 64.0), bytes);
    std::memcpy(&number, bytes, sizeof(number));
    for (int step : {-1, 0, 1}) bits.push_back(number + step);
  }
  for (size_t i = 0, count = bits.size(); i < count; ++i) {
    bits.push_back(bits[i] | sign);
  }
  return bits;
}

}  // namespace kiln
