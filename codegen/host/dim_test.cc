// Expressions as the runtime works them out, beside what they are.
#include "kiln/codegen/host/dim.h"

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "kiln/ir/expr/expr.h"

namespace kiln {
namespace {

const Var kN("n"), kM("m");

Expr Chosen(const Expr& condition, const Expr& yes, const Expr& no) {
  return Call(yes.dtype(), Intrinsic::kIfThenElse, {condition, yes, no});
}

std::optional<int64_t> ValueOf(const Expr& e, int64_t n, int64_t m) {
  const auto dim = ToKernelDim(e, {{kN.get(), 0}, {kM.get(), 1}});
  const int64_t scalars[] = {n, m};
  return dim ? Evaluate(*dim, absl::Span<const int64_t>(scalars))
             : std::nullopt;
}

TEST(DimTest, ChoicesByComparisons) {
  const struct {
    Expr condition;
    bool (*holds)(int64_t, int64_t);
  } kCases[] = {
      {LT(kN, kM), [](int64_t n, int64_t m) { return n < m; }},
      {LE(kN, kM), [](int64_t n, int64_t m) { return n <= m; }},
      {Binary(ExprKind::kGT, kN, kM),
       [](int64_t n, int64_t m) { return n > m; }},
      {Binary(ExprKind::kGE, kN, kM),
       [](int64_t n, int64_t m) { return n >= m; }},
      {EQ(kN, kM), [](int64_t n, int64_t m) { return n == m; }},
      {Binary(ExprKind::kNE, kN, kM),
       [](int64_t n, int64_t m) { return n != m; }},
      {Not(LT(kN, kM)), [](int64_t n, int64_t m) { return n >= m; }},
      {And(LT(kN, kM), LT(Int(0), kN)),
       [](int64_t n, int64_t m) { return n < m && 0 < n; }},
      {Or(LT(kN, kM), LT(Int(0), kN)),
       [](int64_t n, int64_t m) { return n < m || 0 < n; }},
  };
  for (const auto& c : kCases) {
    const Expr choice = Chosen(c.condition, Add(kN, Int(10)), Sub(kM, Int(10)));
    const Expr select = Select(c.condition, Int(3), kM);
    for (int64_t n = -3; n <= 3; ++n) {
      for (int64_t m = -3; m <= 3; ++m) {
        const bool holds = c.holds(n, m);
        EXPECT_EQ(ValueOf(choice, n, m), holds ? n + 10 : m - 10);
        EXPECT_EQ(ValueOf(select, n, m), holds ? 3 : m);
      }
    }
  }
}

TEST(DimTest, WhatHasNoValue) {
  const Expr quotient = FloorDiv(kN, kM);
  EXPECT_EQ(ValueOf(Chosen(LT(kM, Int(1)), Int(0), quotient), 7, 2), 3);
  EXPECT_EQ(ValueOf(Chosen(LT(kM, Int(1)), Int(0), quotient), 7, 0),
            std::nullopt);
  EXPECT_EQ(ValueOf(Var("other"), 1, 1), std::nullopt);
}

}  // namespace
}  // namespace kiln
