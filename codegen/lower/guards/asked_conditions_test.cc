#include "kiln/codegen/lower/guards/asked_conditions.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

double Asked(const std::string& body, int threads = 1) {
  const auto module = ParseModule("m.py", R"(
@T.prim_func
def main(n: T.int64, A: T.Buffer((64,), "float32")):
)" + body);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? AskedConditions(module->functions[0], threads) : -1;
}

TEST(AskedConditionsTest, OfALoopInEachIteration) {
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        A[i] = T.float32(1)
)"),
            0);
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        if i % 3 == 0 and i < n:
            A[i] = T.float32(1)
)"),
            16);
}

TEST(AskedConditionsTest, BranchesAreTakenAsOftenAsTheyHold) {
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        if 2 <= i:
            for j in range(4):
                if j < n:
                    A[i] = T.float32(1)
        else:
            if i < n:
                A[i] = T.float32(1)
)"),
            8 + 6 * 4 + 2);
}

TEST(AskedConditionsTest, InABranchLoopsHaveFewerIterations) {
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        if 4 <= i:
            if 6 <= i:
                if i < n:
                    A[i] = T.float32(1)
)"),
            8 + 4 + 2);
}

TEST(AskedConditionsTest, OnPrefetchesAreLeftOut) {
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        if i < n:
            T.prefetch(T.address_of(A[i]), 0, 3, 1)
        A[i] = T.float32(1)
)"),
            0);
}

TEST(AskedConditionsTest, ChoicesCountAsOften) {
  EXPECT_EQ(Asked(R"(
    for i in range(8):
        A[i] = T.if_then_else(i < n, T.float32(1), T.Select(n < i, A[i], A[0]))
)"),
            16);
}

TEST(AskedConditionsTest, ParallelLoopsAreSharedOut) {
  const std::string loops = R"(
    for i in T.parallel(7):
        for j in range(i):
            if j < n:
                A[i] = T.float32(1)
)";
  EXPECT_EQ(Asked(loops), 7 * 3) << "6 iterations at most, 3 on average";
  EXPECT_EQ(Asked(loops, 2), 4 * 3);
}

TEST(AskedConditionsTest, OfALoopOfUnknownExtentOneIterationCounts) {
  EXPECT_EQ(Asked(R"(
    for i in range(n):
        if i < 3:
            A[i] = T.float32(1)
)"),
            1);
}

}  // namespace
}  // namespace kiln
