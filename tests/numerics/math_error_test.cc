#include "kiln/tests/numerics/math_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/tests/numerics/math_inputs.h"

namespace kiln {
namespace {

// The errors that docs/numerics.md states.
struct Bound {
  double f32, f64;
};

const std::map<std::string, Bound>& Bounds() {
  static const auto* bounds = new std::map<std::string, Bound>{
      {"exp", {1.1, 1}},      {"exp2", {0.51, 1}},       {"exp10", {0.51, 2.5}},
      {"log", {1, 1}},        {"log2", {0.51, 1}},       {"log10", {0.51, 2}},
      {"log1p", {0.51, 1}},   {"sqrt", {0.5, 0.5}},      {"rsqrt", {1.5, 1.5}},
      {"tanh", {6, 2.5}},     {"sigmoid", {2.5, 2.5}},   {"erf", {6, 1.5}},
      {"sin", {0.6, 1}},      {"cos", {0.6, 1}},         {"tan", {1.5, 1}},
      {"sinh", {0.51, 2.5}},  {"cosh", {0.51, 2}},       {"asin", {0.51, 1}},
      {"acos", {0.51, 1}},    {"atan", {0.51, 1}},       {"asinh", {0.51, 2}},
      {"acosh", {0.51, 2.5}}, {"atanh", {0.51, 2}},      {"abs", {0.5, 0.5}},
      {"floor", {0.5, 0.5}},  {"ceil", {0.5, 0.5}},      {"trunc", {0.5, 0.5}},
      {"round", {0.5, 0.5}},  {"nearbyint", {0.5, 0.5}}, {"atan2", {0.51, 1}},
      {"pow", {0.6, 1}},      {"fmod", {0.5, 0.5}},      {"hypot", {0.51, 1}}};
  return *bounds;
}

double BoundOf(const MathFunction& function, DType dtype) {
  if (dtype.bits() == 16) return 0.51;
  const Bound bound = Bounds().at(function.name);
  return dtype.bits() == 32 ? bound.f32 : bound.f64;
}

void ExpectBounds(const MathFunction& function, DType dtype,
                  const std::string& numerics, const Target& target) {
  const bool all = dtype.bits() == 16 && function.arity() == 1;
  KILN_ASSERT_OK_AND_ASSIGN(
      const MathError error,
      MeasureMath(function, dtype, numerics, target, all ? 1 : 8191, 2));
  EXPECT_LE(error.ulps, BoundOf(function, dtype))
      << function.name << "(" << error.worst[0] << ", " << error.worst[1]
      << ") of " << dtype.ToString() << ", " << numerics;
  EXPECT_EQ(error.wrong, 0)
      << function.name << "(" << error.wrong_at[0] << ", " << error.wrong_at[1]
      << ") of " << dtype.ToString() << ", " << numerics;
}

class MathErrorTest : public testing::TestWithParam<std::string> {};

TEST_P(MathErrorTest, FunctionsKeepTheirBounds) {
  for (const MathFunction& function : MathFunctions()) {
    ExpectBounds(function, *DType::FromString(GetParam()), "strict",
                 HostTarget());
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, MathErrorTest,
                         testing::Values("float16", "bfloat16", "float32",
                                         "float64"));

// Without wide vectors, and without fused multiplication.
TEST(MathErrorTargetTest, PolynomialsKeepThemOnSmallerMachines) {
  for (const bool fma : {false, true}) {
    Target target = HostTarget();
    if (target.machine.vectors.bytes > kAvxRegisters.bytes) {
      target.machine.vectors = kAvxRegisters;
    }
    target.fma = target.fma && fma;
    for (const MathFunction& function : MathFunctions()) {
      ExpectBounds(function, DType::Float(32), "componentwise", target);
    }
  }
}

// What is subnormal in bfloat16 apart, the mode does not matter.
TEST(MathErrorTargetTest, TheModeDoesNotMatter) {
  for (const char* type : {"float16", "float32", "float64"}) {
    for (const MathFunction& function : MathFunctions()) {
      ExpectBounds(function, *DType::FromString(type), "componentwise",
                   HostTarget());
    }
  }
}

}  // namespace
}  // namespace kiln
