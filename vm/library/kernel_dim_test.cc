#include "kiln/vm/library/kernel_dim.h"

#include <gtest/gtest.h>

#include <random>

namespace kiln {
namespace {

using Op = KernelDim::Op;
using Known = std::vector<std::optional<int64_t>>;

KernelDim C(int64_t value) { return KernelDim::Constant(value); }
KernelDim Of(Op op, const KernelDim& a, const KernelDim& b) {
  return KernelDim::Compound(op, a, b);
}
const KernelDim n = KernelDim::Symbolic(0), m = KernelDim::Symbolic(1);

std::string Text(const KernelDim& dim) {
  return ToString(dim, [](int s) { return std::string(s == 0 ? "n" : "m"); });
}

TEST(KernelDimTest, ReadsAsTheProgramSpellsIt) {
  EXPECT_EQ(Text(KernelDim()), "0");
  EXPECT_EQ(Text(Of(Op::kAdd, n, m)), "n + m");
  EXPECT_EQ(Text(Of(Op::kFloorDiv, Of(Op::kAdd, n, C(1)), C(2))),
            "(n + 1) // 2");
  EXPECT_EQ(Text(Of(Op::kSub, n, Of(Op::kSub, m, C(1)))), "n - (m - 1)");
  EXPECT_EQ(Text(Of(Op::kMul, n, Of(Op::kFloorMod, m, C(4)))), "n * (m % 4)");
  EXPECT_EQ(Text(Of(Op::kMin, n, Of(Op::kMul, m, C(2)))), "T.min(n, m * 2)");
}

TEST(KernelDimTest, DividesDownwards) {
  const std::vector<int64_t> scalars = {-7, 2};
  EXPECT_EQ(Evaluate(Of(Op::kFloorDiv, n, m), scalars), -4);
  EXPECT_EQ(Evaluate(Of(Op::kFloorMod, n, m), scalars), 1);
  EXPECT_EQ(Evaluate(Of(Op::kMax, n, m), scalars), 2);
}

TEST(KernelDimTest, HasNoValueThatOverflowsOrDividesByZero) {
  const std::vector<int64_t> scalars = {INT64_MAX, 0};
  EXPECT_EQ(Evaluate(Of(Op::kAdd, n, C(1)), scalars), std::nullopt);
  EXPECT_EQ(Evaluate(Of(Op::kMul, n, n), scalars), std::nullopt);
  EXPECT_EQ(Evaluate(Of(Op::kFloorDiv, n, m), scalars), std::nullopt);
  EXPECT_EQ(Evaluate(Of(Op::kFloorMod, C(INT64_MIN), C(-1)), scalars),
            std::nullopt);
  EXPECT_EQ(Evaluate(Of(Op::kSub, C(0), C(INT64_MIN)), scalars), std::nullopt);
}

TEST(KernelDimTest, FindsTheOneScalarThatIsUnknown) {
  const Known known = {std::nullopt, 3};
  EXPECT_EQ(Solve(Of(Op::kAdd, n, m), known, 0, 11), 8);
  EXPECT_EQ(Solve(Of(Op::kSub, m, n), known, 0, 1), 2);
  EXPECT_EQ(Solve(Of(Op::kAdd, Of(Op::kMul, n, C(2)), m), known, 0, 11), 4);
  EXPECT_EQ(Solve(Of(Op::kMul, n, Of(Op::kFloorDiv, m, C(2))), known, 0, 5), 5);
  EXPECT_EQ(Solve(Of(Op::kMul, n, C(2)), known, 0, 11), std::nullopt);
  EXPECT_EQ(Solve(Of(Op::kFloorDiv, n, C(2)), known, 0, 5), std::nullopt);
  EXPECT_EQ(Solve(Of(Op::kMul, n, n), known, 0, 9), std::nullopt);
  EXPECT_EQ(Solve(Of(Op::kSub, n, n), known, 0, 0), std::nullopt);
  EXPECT_EQ(Solve(Of(Op::kAdd, n, m), {std::nullopt, std::nullopt}, 0, 9),
            std::nullopt);
}

TEST(KernelDimTest, StepsHaveToEndInOneNumber) {
  EXPECT_FALSE(KernelDim::FromSteps({}));
  EXPECT_FALSE(KernelDim::FromSteps({{Op::kAdd, 0}}));
  EXPECT_FALSE(KernelDim::FromSteps({{Op::kScalar, 0}, {Op::kAdd, 0}}));
  EXPECT_FALSE(KernelDim::FromSteps({{Op::kScalar, 0}, {Op::kScalar, 1}}));
  const KernelDim sum = Of(Op::kAdd, n, m);
  EXPECT_EQ(KernelDim::FromSteps({sum.steps().begin(), sum.steps().end()}),
            sum);
}

// What is solved has the value that was wanted.
TEST(KernelDimTest, SolutionsFit) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  int solved = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    KernelDim dim = n;
    for (int depth = random() % 4; depth > 0; --depth) {
      const auto op = static_cast<Op>(2 + random() % 7);
      const KernelDim other =
          random() % 3 == 0 ? m : C(static_cast<int64_t>(random() % 9) - 4);
      dim = random() % 2 ? Of(op, dim, other) : Of(op, other, dim);
    }
    const int64_t wanted = random() % 40;
    const int64_t m_value = random() % 5;
    const auto value = Solve(dim, {std::nullopt, m_value}, 0, wanted);
    if (!value) continue;
    ++solved;
    EXPECT_EQ(Evaluate(dim, std::vector<int64_t>{*value, m_value}), wanted)
        << Text(dim);
  }
  EXPECT_GT(solved, 100);
}

}  // namespace
}  // namespace kiln
