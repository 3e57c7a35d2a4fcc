#include "kiln/ir/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("test.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : Module();
}

std::optional<std::string> Difference(const std::string& a,
                                      const std::string& b) {
  return FirstDifference(Parse(a), Parse(b));
}

constexpr char kAddOne[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 8), "float32"), C: T.Buffer((8, 8), "float32")):
    T.func_attr({"global_symbol": "main"})
    B = T.alloc_buffer((8, 8))
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads(A[vi, vj])
            T.writes(B[vi, vj])
            B[vi, vj] = A[vi, vj] + T.float32(1)
    for i, j in T.grid(8, 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * 8 + j < 60)
            T.reads(A[vi, vj], B[vi, vj])
            T.writes(C[vi, vj])
            C[vi, vj] = A[vi, vj] * B[vi, vj]
)";

std::string Replace(std::string text, const std::string& from,
                    const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(CompareTest, ProgramIsTheSameAsItself) {
  EXPECT_EQ(Difference(kAddOne, kAddOne), std::nullopt);
}

TEST(CompareTest, NamesDoNotCount) {
  EXPECT_EQ(Difference(kAddOne, R"(
@T.prim_func
def other(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8, 8), "float32")):
    T.func_attr({"global_symbol": "other"})
    tmp = T.alloc_buffer((8, 8))
    for a in range(8):
        for b in range(8):
            with T.block("first"):
                x = T.axis.spatial(8, a)
                y = T.axis.spatial(8, b)
                T.reads(X[x, y])
                T.writes(tmp[x, y])
                tmp[x, y] = X[x, y] + T.float32(1)
    for a, b in T.grid(8, 8):
        with T.block("second"):
            x, y = T.axis.remap("SS", [a, b])
            T.where(a * 8 + b < 60)
            T.reads(tmp[x, y], X[x, y])
            T.writes(Y[x, y])
            Y[x, y] = X[x, y] * tmp[x, y]
)"),
            std::nullopt);
}

TEST(CompareTest, SimplificationOfIndicesAndPredicatesDoesNotCount) {
  EXPECT_EQ(Difference(kAddOne, Replace(kAddOne, "i * 8 + j < 60",
                                        "j + 4 * i + i * 4 < 60")),
            std::nullopt);
  EXPECT_EQ(Difference(kAddOne, Replace(kAddOne, "B[vi, vj] = A[vi, vj] +",
                                        "B[(vi * 8 + vj) // 8, (vi * 8 + vj) "
                                        "% 8] = A[vi, vj] +")),
            std::nullopt);
}

TEST(CompareTest, OrderOfTermsOfIndicesDoesNotCount) {
  const auto moved = [](const std::string& from, const std::string& condition) {
    return "@T.prim_func\ndef f(a: T.handle, k: T.int64, B: T.Buffer((4,))):\n"
           "    n = T.int64()\n"
           "    A = T.match_buffer(a, (n,))\n"
           "    for i in range(4):\n"
           "        with T.block(\"B\"):\n"
           "            v = T.axis.spatial(4, i)\n"
           "            B[v] = T.Select(" +
           condition + ", A[" + from + "], T.float32(0))\n";
  };
  const std::string plain = moved("v + T.min(n, k) - 1", "v < v + k");
  EXPECT_EQ(Difference(plain, moved("T.min(k, n) - 1 + v", "v < k + v")),
            std::nullopt);
  EXPECT_NE(Difference(plain, moved("T.min(n, k) - v - 1", "v < v + k")),
            std::nullopt);
}

TEST(CompareTest, SpellingOfShapesNumbersAndConditionsDoesNotCount) {
  const auto chosen = [](const std::string& shape, const std::string& value) {
    return "@T.prim_func\ndef f(a: T.handle, b: T.handle, c: T.handle):\n"
           "    n = T.int64()\n"
           "    A = T.match_buffer(a, (n, 4))\n"
           "    B = T.match_buffer(b, (" +
           shape +
           ", 4))\n"
           "    C = T.match_buffer(c, (n, 4), \"bool\")\n"
           "    for i, j in T.grid(n, 4):\n"
           "        with T.block(\"B\"):\n"
           "            vi, vj = T.axis.remap(\"SS\", [i, j])\n"
           "            B[vi, vj] = " +
           value + "\n";
  };
  const std::string plain = chosen("n * 2 + 1",
                                   "T.Select(A[vi, vj] < "
                                   "T.float32(9), A[vi, vj], T.float32(3))");
  for (const std::string& value : std::vector<std::string>{
           "T.Select(T.Cast(\"float32\", 9) > A[vi, vj], A[vi, vj], "
           "T.float32(3))",
           "T.Select(A[vi, vj] < T.float32(9), A[vi, vj], "
           "T.Cast(\"float32\", 3))"}) {
    EXPECT_EQ(Difference(plain, chosen("1 + n + n", value)), std::nullopt);
  }
  const std::string of_bool =
      chosen("n", "T.Select(C[vi, vj], A[vi, vj], T.float32(0))");
  EXPECT_EQ(
      Difference(of_bool, chosen("n",
                                 "T.Select(T.Cast(\"int64\", C[vi, vj]) > "
                                 "T.int64(0), A[vi, vj], T.float32(0))")),
      std::nullopt);
  EXPECT_NE(Difference(plain, chosen("n * 2", "A[vi, vj]")), std::nullopt);
}

TEST(CompareTest, TruePredicatesAndOrderOfConjunctsDoNotCount) {
  const std::string two =
      Replace(kAddOne, "T.where(i * 8 + j < 60)", "T.where(i < 6 and j < 7)");
  EXPECT_EQ(Difference(two, Replace(two, "i < 6 and j < 7",
                                    "j < 7 and i < 6 and i < 8")),
            std::nullopt);
}

TEST(CompareTest, NamesTheFirstLineThatDiffers) {
  const auto difference =
      Difference(kAddOne, Replace(kAddOne, "T.float32(1)", "T.float32(2)"));
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(*difference, HasSubstr("function main"));
  EXPECT_THAT(*difference, HasSubstr("T.float32(1)"));
  EXPECT_THAT(*difference, HasSubstr("T.float32(2)"));
}

TEST(CompareTest, SeesWhatMatters) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{
           {"< 60", "< 61"},
           {"T.reads(A[vi, vj], B[vi, vj])", "T.reads(B[vi, vj])"},
           {"A[vi, vj] * B", "B[vi, vj] * B"},
           {"T.grid(8, 8)", "T.grid(8, 4)"},
           {"for i, j in T.grid(8, 8):\n        with T.block(\"C\"):\n  ",
            "for j, i in T.grid(8, 8):\n        with T.block(\"C\"):\n  "},
           {"T.writes(C[vi, vj])",
            "T.writes(C[vi, vj])\n            T.block_attr({\"a\": 1})"},
           {"T.alloc_buffer((8, 8))",
            "T.alloc_buffer((8, 8), scope=\"local\")"},
           {"B = T.alloc_buffer((8, 8))", "B = T.alloc_buffer((8, 9))"}}) {
    EXPECT_TRUE(Difference(kAddOne, Replace(kAddOne, from, to)).has_value())
        << from << " -> " << to;
  }
}

TEST(CompareTest, ModulesWithOtherFunctionsDiffer) {
  const auto difference = FirstDifference(Parse(kAddOne), Module());
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(*difference, HasSubstr("main"));
}

TEST(CompareTest, GraphFunctionsAreComparedUpToNames) {
  const auto graph = [](const std::string& name, const std::string& op) {
    return Parse("@R.function\ndef " + name +
                 "(x: R.Tensor((2,), \"float32\")):\n    y = R." + op +
                 "(x)\n    z = " + name + "(y)\n    return z\n");
  };
  EXPECT_EQ(FirstDifference(graph("f", "exp"), graph("f", "exp")),
            std::nullopt);
  EXPECT_EQ(FirstDifference(graph("f", "exp"), graph("g", "exp")),
            std::nullopt);
  EXPECT_THAT(
      FirstDifference(graph("f", "exp"), graph("f", "log")).value_or(""),
      HasSubstr("R.log(x)"));
  EXPECT_THAT(FirstDifference(graph("f", "exp"), Module()).value_or(""),
              HasSubstr("has the functions f, the other none"));
}

TEST(CompareTest, SimplificationOfDimensionsDoesNotCount) {
  const auto graph = [](const std::string& extent) {
    return Parse(
        "@R.function\ndef f(x: R.Tensor((\"n\",), \"float32\")) -> "
        "R.Tensor((\"" +
        extent +
        "\",), \"float32\"):\n"
        "    n = T.int64()\n"
        "    y = R.repeat(x, repeats=2, axis=0)\n    return y\n");
  };
  EXPECT_EQ(FirstDifference(graph("n * 2"), graph("n + n")), std::nullopt);
  EXPECT_NE(FirstDifference(graph("n * 2"), graph("n * 3")), std::nullopt);
}

TEST(CompareTest, OneVariableInTwoLoopsIsTheSameAsTwoVariables) {
  Var i("i"), j("j");
  Buffer a = MakeBuffer("A", DType::Float(32), {Int(4)});
  const auto nest = [&](const Var& var) {
    return MakeFor(1, var, Int(4), MakeStore(a, Float(0), {var}));
  };
  Function f{"f", {Param{Var("a", DType::Handle()), a}}};
  Function g = f;
  f.body = MakeSeq({nest(i), nest(i)});
  g.body = MakeSeq({nest(i), nest(j)});
  EXPECT_EQ(FirstDifference(f, g), std::nullopt);
}

TEST(CompareTest, NormalizationIsIdempotent) {
  const Function once = Normalize(Parse(kAddOne).functions[0]);
  EXPECT_TRUE(StructurallyEqual(once, Normalize(once)));
}

}  // namespace
}  // namespace kiln
