#include "kiln/search/task/dag.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/te/workloads.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// The example of every tutorial, word for word as they print it.
TEST(DagTest, ShowsAProductAndASumAsTutorialsDo) {
  const DType f32 = DType::Float(32);
  const auto square = [&](const char* name) {
    return te::Placeholder({Int(1024), Int(1024)}, f32, name);
  };
  te::Tensor a = square("A"), b = square("B"), c = square("C");
  te::IterVar k = te::ReduceAxis(0, 1024, "k");
  te::Tensor matmul = te::Compute(
      {Int(1024), Int(1024)},
      [&](const auto& i) { return te::Sum(a(i[0], k) * b(k, i[1]), {k}); },
      "matmul", {.axes = {"i", "j"}});
  te::Tensor out = te::Compute(
      {Int(1024), Int(1024)},
      [&](const auto& i) { return matmul(i[0], i[1]) + c(i[0], i[1]); }, "out",
      {.axes = {"i", "j"}});
  KILN_ASSERT_OK_AND_ASSIGN(Function f, te::CreatePrimFunc({a, b, c, out}));
  EXPECT_EQ(DagText(f),
            "A = PLACEHOLDER [1024, 1024]\n"
            "B = PLACEHOLDER [1024, 1024]\n"
            "matmul(i, j) += (A[i, k]*B[k, j])\n"
            "C = PLACEHOLDER [1024, 1024]\n"
            "out(i, j) = (matmul[i, j] + C[i, j])\n");
}

TEST(DagTest, ShowsEveryWorkload) {
  for (const WorkloadInfo& workload : Workloads()) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(workload.name));
    const std::string text = DagText(module.functions[0]);
    EXPECT_THAT(text, HasSubstr("PLACEHOLDER")) << workload.name;
  }
  KILN_ASSERT_OK_AND_ASSIGN(Module softmax, MakeWorkload("sfm:4,8"));
  EXPECT_THAT(DagText(softmax.functions[0]), HasSubstr("max= "));
}

}  // namespace
}  // namespace kiln
