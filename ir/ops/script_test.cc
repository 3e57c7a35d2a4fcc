#include "kiln/ir/ops/script.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"

namespace kiln {
namespace {

constexpr char kScale[] = R"(
for i in range($n):
    with T.block("scale"):
        v_i = T.axis.spatial($n, i)
        y[v_i] = x[v_i] * T.float32($factor))";

Script ScaleOf(const Expr& extent) {
  Script script;
  script.Param("x", {extent}, DType::Float(32));
  script.Param("y", {extent}, DType::Float(32));
  script.Set("n", extent).SetReal("factor", 3);
  return script;
}

TEST(ScriptTest, BlanksAreFilledAndVariablesAreDimensions) {
  for (const Expr& extent : {Int(2), Expr(Var("n"))}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function f, ScaleOf(extent).Read(kScale));
    EXPECT_TRUE(f.is_private);
    std::vector<Tensor> args = {Tensor(DType::Float(32), {2}),
                                Tensor(DType::Float(32), {2})};
    args[0].Set(0, 1);
    args[0].Set(1, 5);
    ASSERT_EQ(Interpret(f, args), absl::OkStatus());
    EXPECT_EQ(args[1].GetReal(0), 3);
    EXPECT_EQ(args[1].GetReal(1), 15);
  }
}

TEST(ScriptTest, OtherExtentsAreNotSpelled) {
  const Script script = ScaleOf(Add(Var("n"), Int(1)));
  EXPECT_EQ(script.Read(kScale).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ScriptTest, NumbersKeepTheirValue) {
  Script script = ScaleOf(Int(2));
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, script.Read(kScale));
  Script tenth;
  tenth.Param("y", {Int(1)}, DType::Float(64)).SetReal("value", 0.1);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            tenth.Read("y[0] = T.float64($value)"));
  std::vector<Tensor> args = {Tensor(DType::Float(64), {1})};
  ASSERT_EQ(Interpret(g, args), absl::OkStatus());
  EXPECT_EQ(args[0].GetReal(0), 0.1);
}

}  // namespace
}  // namespace kiln
