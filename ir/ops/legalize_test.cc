// Each op is lowered and run by the interpreter, beside what the standard
// library or a loop here computes of the same numbers:
//
//   R.exp(x) -> cls.exp, run on -1, -0.75, ...; std::exp of each
#include "kiln/ir/ops/legalize.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<Module> Legal(const std::string& params,
                             const std::string& body) {
  absl::StatusOr<Module> module =
      ParseModule("g.py", "@R.function\ndef main(" + params + "):\n" + body);
  if (!module.ok()) return module.status();
  absl::StatusOr<Module> inferred = InferModule(*module);
  if (!inferred.ok()) return inferred.status();
  return LegalizeOps(*inferred);
}

Tensor Filled(std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor tensor(DType::Float(32), std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.Set(i, values[i]);
  return tensor;
}

TEST(LegalizeTest, OpsOfOneTensorComputeWhatTheLibraryComputes) {
  const struct {
    const char* op;
    double (*reference)(double);
  } kCases[] = {
      {"abs", [](double x) { return std::fabs(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"negative", [](double x) { return -x; }},
      {"nn.relu", [](double x) { return x > 0 ? x : 0; }},
      {"nn.silu", [](double x) { return x / (1 + std::exp(-x)); }},
      {"round", [](double x) { return std::nearbyint(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"square", [](double x) { return x * x; }},
      {"tan", [](double x) { return std::tan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
  };
  const std::vector<double> values = {-1, -0.75, -0.5, 0, 0.25, 1};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.op);
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module m,
        Legal("x: R.Tensor((\"n\", 3), \"float32\")",
              "    y = R." + std::string(c.op) + "(x)\n    return y\n"));
    ASSERT_EQ(m.functions.size(), 1u);
    std::vector<Tensor> args = {Filled({2, 3}, values),
                                Tensor(DType::Float(32), {2, 3})};
    ASSERT_EQ(Interpret(m.functions[0], args), absl::OkStatus());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(args[1].GetReal(i), c.reference(values[i]), 1e-6)
          << values[i];
    }
  }
}

TEST(LegalizeTest, OpsOfTwoTensorsStretchExtentsOfOne) {
  const struct {
    const char* op;
    double (*reference)(double, double);
  } kCases[] = {
      {"add", [](double x, double y) { return x + y; }},
      {"atan2", [](double x, double y) { return std::atan2(x, y); }},
      {"divide", [](double x, double y) { return x / y; }},
      {"floor_divide", [](double x, double y) { return std::floor(x / y); }},
      {"floor_mod",
       [](double x, double y) { return x - y * std::floor(x / y); }},
      {"mod", [](double x, double y) { return std::fmod(x, y); }},
      {"maximum", [](double x, double y) { return std::fmax(x, y); }},
      {"minimum", [](double x, double y) { return std::fmin(x, y); }},
      {"multiply", [](double x, double y) { return x * y; }},
      {"power", [](double x, double y) { return std::pow(x, y); }},
      {"subtract", [](double x, double y) { return x - y; }},
  };
  const std::vector<double> rows = {0.5, 2}, columns = {1, -2, 3};
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.op);
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module m,
        Legal("x: R.Tensor((2, 1), \"float32\"), "
              "y: R.Tensor((\"n\",), \"float32\")",
              "    z = R." + std::string(c.op) + "(x, y)\n    return z\n"));
    ASSERT_EQ(m.functions.size(), 1u);
    std::vector<Tensor> args = {Filled({2, 1}, rows), Filled({3}, columns),
                                Tensor(DType::Float(32), {2, 3})};
    ASSERT_EQ(Interpret(m.functions[0], args), absl::OkStatus());
    for (int i = 0; i < 6; ++i) {
      EXPECT_NEAR(args[2].GetReal(i), c.reference(rows[i / 3], columns[i % 3]),
                  1e-5);
    }
  }
}

// What the one function that `call` becomes leaves in its last argument.
Tensor Result(const std::string& params, const std::string& call,
              std::vector<Tensor> args, std::vector<int64_t> shape) {
  const absl::StatusOr<Module> m =
      Legal(params, "    z = R." + call + "\n    return z\n");
  EXPECT_TRUE(m.ok()) << m.status().message();
  args.emplace_back(DType::Float(32), std::move(shape));
  if (m.ok() && m->functions.size() == 1) {
    EXPECT_EQ(Interpret(m->functions[0], args), absl::OkStatus());
  } else {
    ADD_FAILURE() << call << " was not lowered";
  }
  return args.back();
}

std::vector<double> Values(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    values.push_back(tensor.GetReal(i));
  }
  return values;
}

TEST(LegalizeTest, ReductionsKeepOrDropTheirAxes) {
  const Tensor x = Filled({2, 3}, {1, 2, 3, 4, 5, 9});
  const std::string param = "x: R.Tensor((\"n\", 3), \"float32\")";
  const auto is = [](std::vector<double> values) {
    return ::testing::ElementsAreArray(values);
  };
  EXPECT_THAT(Values(Result(param, "sum(x, axis=[1])", {x}, {2})), is({6, 18}));
  EXPECT_THAT(
      Values(Result(param, "max(x, axis=[-2], keepdims=True)", {x}, {1, 3})),
      is({4, 5, 9}));
  EXPECT_THAT(Values(Result(param, "min(x)", {x}, {})), is({1}));
  EXPECT_THAT(Values(Result(param, "prod(x, axis=[0])", {x}, {3})),
              is({4, 10, 27}));
  EXPECT_THAT(Values(Result(param, "mean(x, axis=[0, 1])", {x}, {})), is({4}));
  EXPECT_THAT(Values(Result(param, "mean(x, axis=[1])", {x}, {2})), is({2, 6}));
}

TEST(LegalizeTest, ProductsOfMatricesVectorsAndBatches) {
  const Tensor x = Filled({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor y = Filled({3, 2}, {1, 0, 0, 1, 2, 2});
  const Tensor v = Filled({3}, {1, 10, 100});
  const auto is = [](std::vector<double> values) {
    return ::testing::ElementsAreArray(values);
  };
  const std::string xs = "x: R.Tensor((\"n\", 3), \"float32\"), ";
  EXPECT_THAT(Values(Result(xs + "y: R.Tensor((3, \"m\"), \"float32\")",
                            "matmul(x, y)", {x, y}, {2, 2})),
              is({7, 8, 16, 17}));
  EXPECT_THAT(Values(Result(xs + "v: R.Tensor((3,), \"float32\")",
                            "matmul(x, v)", {x, v}, {2})),
              is({321, 654}));
  EXPECT_THAT(Values(Result("v: R.Tensor((3,), \"float32\"), "
                            "y: R.Tensor((3, 2), \"float32\")",
                            "matmul(v, y)", {v, y}, {2})),
              is({201, 210}));
  EXPECT_THAT(Values(Result("v: R.Tensor((3,), \"float32\")", "matmul(v, v)",
                            {v, v}, {})),
              is({10101}));
  Tensor two = Filled({2, 1, 3}, {1, 1, 1, 2, 0, 0});
  Tensor batch = Filled({1, 3, 2}, {1, 0, 0, 1, 2, 2});
  EXPECT_THAT(Values(Result("x: R.Tensor((2, 1, 3), \"float32\"), "
                            "y: R.Tensor((1, 3, 2), \"float32\")",
                            "matmul(x, y)", {two, batch}, {2, 1, 2})),
              is({3, 3, 2, 0}));
}

TEST(LegalizeTest, AxesArePermuted) {
  const Tensor x = Filled({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const std::string param = "x: R.Tensor((1, 2, 3), \"float32\")";
  EXPECT_THAT(Values(Result(param, "permute_dims(x)", {x}, {3, 2, 1})),
              ::testing::ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(
      Values(Result(param, "permute_dims(x, axes=[1, 0, -1])", {x}, {2, 1, 3})),
      ::testing::ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(LegalizeTest, EqualFunctionsAreSharedAndTheTextReadsBack) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module m,
      Legal("x: R.Tensor((\"n\", 3), \"float32\")",
            "    a = R.exp(x)\n    b = R.exp(a)\n    c = R.less(a, b)\n"
            "    d = R.unheard.of(c)\n    return d\n"));
  EXPECT_EQ(m.functions.size(), 2u);
  const std::string text = PrintModule(m);
  EXPECT_THAT(text, HasSubstr("b: R.Tensor((n, 3), dtype=\"float32\") = "
                              "R.call_tir(cls.exp, (a,), "));
  EXPECT_THAT(text, HasSubstr("R.unheard.of(c)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module again, ParseModule("m.py", text));
  EXPECT_EQ(CanonicalForm(again), CanonicalForm(m)) << text;
}

TEST(LegalizeTest, ANumberIsAnOperandAndOperandsOfTwoTypesStay) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module m,
      Legal("x: R.Tensor((3,), \"float32\"), y: R.Tensor((3,), \"int32\")",
            "    z = R.add(x, R.prim_value(T.float32(2)))\n"
            "    w = R.less(x, y)\n    return (z, w)\n"));
  ASSERT_EQ(m.functions.size(), 1u);
  std::vector<Tensor> args = {Filled({3}, {1, 2, 3}),
                              Tensor(DType::Float(32), {3})};
  ASSERT_EQ(Interpret(m.functions[0], args), absl::OkStatus());
  EXPECT_EQ(args[1].GetReal(2), 5);
  EXPECT_THAT(PrintModule(m), HasSubstr("R.less(x, y)"));
}

TEST(LegalizeTest, WhatLacksExtentsStays) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module m,
                            Legal("x: R.Tensor(ndim=2, dtype=\"float32\")",
                                  "    y = R.exp(x)\n    return y\n"));
  EXPECT_TRUE(m.functions.empty());
  EXPECT_THAT(PrintModule(m), HasSubstr("R.exp(x)"));
}

// What a call of these parameters has compared ahead of its kernel.
TEST(LegalizeTest, ExtentsThatAnOpNeedsEqualAreComparedAheadOfIt) {
  const struct {
    const char* params;
    const char* call;
    const char* cast;
  } kCases[] = {
      {"x: T32((\"n\", \"k\")), w: T32((\"m\", 7))", "matmul(x, w)",
       "R.shape([k]), R.Shape([m])"},
      {"x: T32((\"n\", \"c\", 9, 9)), w: T32((4, \"d\", 3, 3))",
       "nn.conv2d(x, w)", "R.shape([c]), R.Shape([d])"},
      {"x: T32((\"n\", \"c\", 9)), w: T32((\"f\", 2, 3))",
       "nn.conv1d_transpose(x, w)", "R.shape([c]), R.Shape([f])"},
      {"x: T32((1, 8, 9)), w: T32((\"f\", 4, 3))", "nn.conv1d(x, w, groups=2)",
       "R.shape([f % 2]), R.Shape([0])"},
      {"x: T32((\"n\", \"m\"))", "reshape(x, R.shape([n, 4]))",
       "R.shape([n * m]), R.Shape([n * 4])"},
      {"x: T32((\"n\", \"c\", 4)), s: T32((\"d\",))", "nn.prelu(x, s)",
       "R.shape([c]), R.Shape([d])"},
      {"q: T32((1, \"n\", 2, 8)), k: T32((1, \"s\", 2, 8)), "
       "v: T32((1, \"t\", 2, 8))",
       "nn.attention(q, k, v)", "R.shape([t]), R.Shape([s])"},
      {"x: T32((\"n\", 4)), i: R.Tensor((\"m\", 3), \"int64\"), "
       "u: T32((\"k\", 3))",
       "scatter_elements(x, i, u)", "R.shape([k]), R.Shape([m])"},
      {"x: T32((1, \"c\", 4, 4))", "nn.pixel_shuffle(x, upscale_factor=2)",
       "R.shape([c % 4]), R.Shape([0])"},
      {"x: T32((\"n\", 4)), y: T32((\"m\", 4))", "concat((x, y), axis=1)",
       "R.shape([n]), R.Shape([m])"},
      {"x: T32((\"n\", 4)), y: T32((\"m\", \"k\")), z: T32((3, 1))",
       "concat((x, y, z), axis=1)", "R.shape([n, n]), R.Shape([m, 3])"},
      {"x: T32((\"n\", 4)), y: T32((\"m\", \"k\"))", "stack((x, y), axis=0)",
       "R.shape([n, 4]), R.Shape([m, k])"},
      {"x: T32((\"b\", 2, 3)), y: T32((\"c\", 3, 2))", "matmul(x, y)",
       "R.shape([b]), R.Shape([c])"},
      {"x: T32((\"b\", 2, \"k\")), y: T32((5, \"c\", \"l\", 2))",
       "matmul(x, y)", "R.shape([k, b]), R.Shape([l, c])"},
  };
  for (const auto& c : kCases) {
    const std::string params = absl::StrReplaceAll(
        c.params, {{"T32((", "R.Tensor(("}, {"))", "), \"float32\")"}});
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module m,
        Legal(params, absl::StrCat("    y = R.", c.call, "\n    return y\n")));
    EXPECT_THAT(PrintModule(m),
                HasSubstr(absl::StrCat("R.match_cast(", c.cast)))
        << c.call;
  }
}

TEST(LegalizeTest, ExtentsThatAreKnownToBeEqualAreNotCompared) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module m,
      Legal("x: R.Tensor((\"n\", \"k\"), \"float32\"), "
            "w: R.Tensor((\"k\", 7), \"float32\")",
            "    y = R.reshape(R.matmul(x, w), R.shape([n * 7]))\n"
            "    return y\n"));
  EXPECT_THAT(PrintModule(m), Not(HasSubstr("match_cast")));
}

}  // namespace
}  // namespace kiln
