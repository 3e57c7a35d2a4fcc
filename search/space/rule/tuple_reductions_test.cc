#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

// The first largest element of each row, rows by columns.
Module Argmax(const std::string& rows, const std::string& columns,
              const std::string& dtype) {
  return ParseProgram(absl::StrReplaceAll(
      R"(
@T.prim_func
def main(X: T.Buffer((ROWS, COLUMNS), "DTYPE"), I: T.Buffer((ROWS,), "int32"), V: T.Buffer((ROWS,), "DTYPE")):
    for i, k in T.grid(ROWS, COLUMNS):
        with T.block("arg"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = -1
                V[vi] = T.min_value("DTYPE")
            v_i: T.let[T.int32] = T.Select(V[vi] >= X[vi, vk], I[vi], T.Cast("int32", vk))
            v_v: T.let[T.DTYPE] = T.Select(V[vi] >= X[vi, vk], V[vi], X[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
)",
      {{"ROWS", rows}, {"COLUMNS", columns}, {"DTYPE", dtype}}));
}

TEST(TupleReductionsTest, RowsRunInParallelAndInVectors) {
  for (const char* columns : {"64", "100", "173", "1024"}) {
    // Few different values: the first of equal ones has to be found.
    const Module module = Argmax("24", columns, "int8");
    const auto made = ApplyRule(TupleReductions, module, "arg");
    ASSERT_EQ(made.size(), 1u) << columns;
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
      EXPECT_GE(CountLoops(f, ForKind::kVectorized), 2);
    }
  }
}

TEST(TupleReductionsTest, PartsOfALongRowRunInParallel) {
  for (const char* rows : {"1", "3"}) {
    const Module module = Argmax(rows, "6000", "float32");
    const auto made = ApplyRule(TupleReductions, module, "arg");
    ASSERT_EQ(made.size(), 1u);
    for (const Function& f : ExpectSameMeaning(module, made)) {
      EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    }
  }
}

TEST(TupleReductionsTest, SumsAndSumsOfSquaresSideBySide) {
  const Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((12, 4, 40), "float32"), S: T.Buffer((12,), "float32"), Q: T.Buffer((12,), "float32")):
    for i, k, l in T.grid(12, 4, 40):
        with T.block("moments"):
            vi, vk, vl = T.axis.remap("SRR", [i, k, l])
            with T.init():
                S[vi] = T.float32(0)
                Q[vi] = T.float32(0)
            v_s: T.let[T.float32] = S[vi] + X[vi, vk, vl]
            v_q: T.let[T.float32] = Q[vi] + X[vi, vk, vl] * X[vi, vk, vl]
            S[vi] = v_s
            Q[vi] = v_q
)");
  const auto made = ApplyRule(TupleReductions, module, "moments");
  ASSERT_EQ(made.size(), 1u);
  ExpectSameMeaning(module, made);
}

TEST(TupleReductionsTest, ColumnsAreForTheRuleAfterIt) {
  Module module = ParseProgram(R"(
@T.prim_func
def main(X: T.Buffer((50, 64), "float32"), I: T.Buffer((64,), "int32"), V: T.Buffer((64,), "float32")):
    for i, k in T.grid(64, 50):
        with T.block("arg"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                I[vi] = -1
                V[vi] = T.min_value("float32")
            v_i: T.let[T.int32] = T.Select(V[vi] >= X[vk, vi], I[vi], T.Cast("int32", vk))
            v_v: T.let[T.float32] = T.Select(V[vi] >= X[vk, vi], V[vi], X[vk, vi])
            I[vi] = v_i
            V[vi] = v_v
)");
  EXPECT_TRUE(ApplyRule(TupleReductions, module, "arg").empty());
  const auto made = ApplyRule(ParallelizeVectorize, module, "arg");
  ASSERT_EQ(made.size(), 1u);
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 1);
    EXPECT_GE(CountLoops(f, ForKind::kVectorized), 1);
  }
}

}  // namespace
}  // namespace kiln
