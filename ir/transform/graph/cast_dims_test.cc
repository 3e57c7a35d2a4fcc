#include "kiln/ir/transform/graph/cast_dims.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

// Where `main` of `text`, its casts resolved, is another one than `wanted`.
std::string Difference(const std::string& text, const std::string& wanted) {
  absl::StatusOr<Module> module = InferModule(ReadModule(text));
  if (!module.ok()) return std::string(module.status().message());
  for (graph::GraphFunction& f : module->graph_functions) {
    const auto resolved = ResolveCastDims(f, *module);
    if (!resolved.ok()) return std::string(resolved.status().message());
    f = *resolved;
  }
  const absl::StatusOr<Module> after = InferModule(ReadModule(wanted));
  if (!after.ok()) return std::string(after.status().message());
  return FirstDifference(*after, *module).value_or("");
}

TEST(CastDimsTest, OneCastLeadsToTheNext) {
  EXPECT_EQ(Difference(R"(
@R.function
def main(x: R.Tensor(("n", 3), "float32")):
    k = T.int64()
    m = T.int64()
    l = T.int64()
    a = R.match_cast(x, R.Tensor((k, l), "float32"))
    b = R.exp(a)
    c = R.match_cast(b, R.Tensor((m, l), "float32"))
    d = R.zeros(R.shape([m * l]), "float32")
    return (c, d)
)",
                       R"(
@R.function
def main(x: R.Tensor(("n", 3), "float32")):
    n = T.int64()
    a = R.match_cast(x, R.Tensor((n, 3), "float32"))
    b = R.exp(a)
    c = R.match_cast(b, R.Tensor((n, 3), "float32"))
    d = R.zeros(R.shape([n * 3]), "float32")
    return (c, d)
)"),
            "");
}

TEST(CastDimsTest, WhatIsNotKnownStays) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor(dtype="float32", ndim=1), s: R.Shape(ndim=2)):
    k = T.int64()
    p = T.int64()
    q = T.int64()
    a = R.match_cast(x, R.Tensor((k,), "float32"))
    b = R.match_cast(s, R.Shape([p, q]))
    c = R.zeros(R.shape([k, p, q]), "float32")
    return (a, c)
)";
  EXPECT_EQ(Difference(text, text), "");
}

// Legalization states what a kernel relies on.
TEST(CastDimsTest, ACastOfDimensionsThatAreKnownChecks) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor(("c", 9), "float32"), y: R.Tensor(("d", 9), "float32")):
    c = T.int64()
    d = T.int64()
    a = R.match_cast(R.shape([c]), R.Shape([d]))
    b = R.match_cast(x, R.Tensor((d, 9), "float32"))
    return (R.add(x, x), b, y)
)";
  EXPECT_EQ(Difference(text, text), "");
}

// The number n is looked up where the program runs.
TEST(CastDimsTest, CastsOfDimensionsThatAreNumbersStay) {
  EXPECT_EQ(Difference(R"(
@R.function
def main(x: R.Tensor((16,), "float32")):
    n = T.int64()
    a = R.match_cast(x, R.Tensor((n,), "float32"))
    return (a, R.prim_value(n))
)",
                       R"(
@R.function
def main(x: R.Tensor((16,), "float32")):
    n = T.int64()
    a = R.match_cast(x, R.Tensor((n,), "float32"))
    return (a, R.prim_value(n))
)"),
            "");
}

// k is 4, and no product of 3 and 4 numbers is taken where p is false.
TEST(CastDimsTest, ACastThatMakesACallIllTypedStays) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((4, 3), "float32"), y: R.Tensor((3,), "float32"), p: R.Tensor((), "bool")):
    k = T.int64()
    a = R.match_cast(x, R.Tensor((k, 3), "float32"))
    if p:
        b = R.add(y, a)
        c = R.matmul(y, b)
        d = R.sum(c)
    else:
        d = R.sum(y)
    return d
)";
  EXPECT_EQ(Difference(text, text), "");
}

}  // namespace
}  // namespace kiln
