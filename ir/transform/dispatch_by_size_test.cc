#include "kiln/ir/transform/dispatch_by_size.h"

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// y = 1 + x + the transposed w, through a tensor `h`, for n rows of m numbers.
// The block that transposes is a preparation.
constexpr char kProgram[] = R"(
@T.prim_func
def main(x: T.handle, w: T.Buffer((3, 1), "float32"), y: T.handle):
    T.func_attr({"layout_free_buffers": [1]})
    n = T.int64()
    m = T.int64()
    X = T.match_buffer(x, (n, m, 3), "float32")
    Y = T.match_buffer(y, (n, m, 3), "float32")
    panel = T.alloc_buffer((1, 3))
    h = T.alloc_buffer((n, m, 3))
    for i, j in T.grid(1, 3):
        with T.block("pack"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            panel[vi, vj] = w[vj, vi]
    for i, j, k in T.grid(n, m, 3):
        with T.block("h"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            h[vi, vj, vk] = X[vi, vj, vk] + T.float32(1)
    for i, j, k in T.grid(n, m, 3):
        with T.block("y"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            Y[vi, vj, vk] = h[vi, vj, vk] + panel[0, vk]
)";

// A variant that adds another number than 1, which tells who ran.
Function Adding(const Function& f, double number) {
  Function other = f;
  other.body = RewriteExprs(f.body, [&](const Expr& e) -> Expr {
    const auto* value = e.As<FloatImmNode>();
    return value && value->value == 1 ? Float(number, e.dtype()) : nullptr;
  });
  return other;
}

// What the dispatched function adds in a call of n rows of m numbers.
float Added(const Function& f, int64_t n, int64_t m) {
  std::vector<Tensor> args;
  args.emplace_back(DType::Float(32), std::vector<int64_t>{n, m, 3});
  args.emplace_back(DType::Float(32), std::vector<int64_t>{3, 1});
  args.emplace_back(DType::Float(32), std::vector<int64_t>{n, m, 3});
  KILN_EXPECT_OK(Interpret(f, args));
  return reinterpret_cast<const float*>(args[2].bytes.data())[n * m * 3 - 1];
}

TEST(DispatchBySizeTest, TheProductOfDimensionsChooses) {
  const Function f = *ParseFunction("main", kProgram);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function all,
      DispatchBySize({{f, 4}, {Adding(f, 2), 9}, {Adding(f, 3)}}));
  KILN_ASSERT_OK(VerifyFunction(all));
  EXPECT_EQ(Added(all, 1, 1), 1);
  EXPECT_EQ(Added(all, 2, 2), 1);
  EXPECT_EQ(Added(all, 5, 1), 2);
  EXPECT_EQ(Added(all, 1, 9), 2);
  EXPECT_EQ(Added(all, 2, 5), 3);
  EXPECT_EQ(Added(all, 40, 1), 3);
}

TEST(DispatchBySizeTest, WhatIsPreparedIsPreparedOnce) {
  const Function f = *ParseFunction("main", kProgram);
  KILN_ASSERT_OK_AND_ASSIGN(const Function all,
                            DispatchBySize({{f, 4}, {Adding(f, 2)}}));
  KILN_ASSERT_OK_AND_ASSIGN(const SplitFunction split, SplitPreparation(all));
  EXPECT_EQ(split.prepared.size(), 1u);
  KILN_ASSERT_OK(VerifyFunction(split.main));
}

// One branch may need a row at a time of a tensor, the other all of it.
TEST(DispatchBySizeTest, BranchesHaveTensorsOfTheirOwn) {
  const Function f = *ParseFunction("main", kProgram);
  KILN_ASSERT_OK_AND_ASSIGN(const Function all,
                            DispatchBySize({{f, 4}, {Adding(f, 2)}}));
  std::set<const BufferNode*> written;
  Visit(all.body, [&](const Stmt& s) {
    const auto* store = s.As<StoreNode>();
    if (store && store->buffer->name == "h")
      written.insert(store->buffer.get());
    return true;
  });
  EXPECT_EQ(written.size(), 2u);
}

TEST(DispatchBySizeTest, ThePrintedFunctionReads) {
  const Function f = *ParseFunction("main", kProgram);
  KILN_ASSERT_OK_AND_ASSIGN(const Function all,
                            DispatchBySize({{f, 4}, {Adding(f, 2)}}));
  Module module;
  module.functions.push_back(all);
  const std::string text = PrintModule(module);
  EXPECT_THAT(text, HasSubstr("if n * m <= 4:"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module read, ParseModule("m", text));
  EXPECT_EQ(Added(read.functions[0], 5, 1), 2);
}

TEST(DispatchBySizeTest, OneVariantNeedsNoBranch) {
  const Function f = *ParseFunction("main", kProgram);
  KILN_ASSERT_OK_AND_ASSIGN(const Function all, DispatchBySize({{f}}));
  EXPECT_EQ(PreparationText(all), PreparationText(f));
  EXPECT_EQ(Added(all, 3, 2), 1);
}

TEST(DispatchBySizeTest, DifferentPreparationsAreRefused) {
  const Function f = *ParseFunction("main", kProgram);
  const absl::StatusOr<Function> all =
      DispatchBySize({{f, 4}, {WithoutPreparation(f)}});
  EXPECT_EQ(all.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(all.status().message()),
              HasSubstr("different layouts"));
  EXPECT_EQ(DispatchBySize({}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace kiln
