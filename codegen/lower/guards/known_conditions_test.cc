#include "kiln/codegen/lower/guards/known_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::lower {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A loop over 8 around a body that asks for its variable.
class KnownConditionsTest : public testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<Module> module = ParseModule("m.py", R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32")):
    for i in range(8):
        if i < 8:
            if 4 <= i:
                A[i] = T.float32(1)
)");
    ASSERT_TRUE(module.ok()) << module.status();
    f_ = module->functions[0];
    Visit(f_.body, [&](const Stmt& s) {
      if (!loop_) loop_ = s.As<ForNode>();
      return !loop_;
    });
    ASSERT_NE(loop_, nullptr);
  }
  LoopStack Loops() const { return {loop_}; }
  Linear Form(int64_t coefficient, int64_t constant) const {
    return ToLinear(Add(Mul(loop_->var, Int(coefficient)), Int(constant)));
  }
  std::string Print(const Stmt& body) const {
    Module module;
    module.functions.push_back(f_);
    module.functions[0].body = body;
    return PrintModule(module);
  }

  Function f_;
  const ForNode* loop_ = nullptr;
};

TEST_F(KnownConditionsTest, CoverageIsTheShareOfIterations) {
  EXPECT_EQ(Coverage(Form(1, 0), Loops(), {}), 1);
  EXPECT_EQ(Coverage(Form(1, -4), Loops(), {}), 0.5);
  EXPECT_EQ(Coverage(Form(1, -8), Loops(), {}), 0);
  EXPECT_EQ(Coverage(Form(-16, 16), Loops(), {}), 0.25) << "two of 8 values";
  EXPECT_EQ(Coverage(Form(1, -4), Loops(), {{loop_->var.get(), {4, 7}}}), 1)
      << "of fewer values";
}

TEST_F(KnownConditionsTest, WhatHoldsInAllIterationsIsCertain) {
  const Known known = CertainIn(loop_->body, Loops(), {});
  ASSERT_EQ(known.size(), 1u) << "i < 8";
  EXPECT_TRUE(known.begin()->second);
  const std::string text = Print(ResolveKnown(loop_->body, known));
  EXPECT_THAT(text, Not(HasSubstr("< 8")));
  EXPECT_THAT(text, HasSubstr("4 <= i"));
}

TEST_F(KnownConditionsTest, FewerValuesMakeMoreCertain) {
  const FewerValues low = {{loop_->var.get(), {0, 3}}};
  EXPECT_EQ(CertainIn(loop_->body, Loops(), low).size(), 2u);
}

TEST_F(KnownConditionsTest, EqualityIsCertainWhereTheOtherValueIsNotMet) {
  const auto equals = [&](int64_t value) {
    const LoopStack loops = Loops();
    const Site site{EQ(loop_->var, Int(value)), loops};
    return CertainAt(site, {{loop_->var.get(), {3, 3}}});
  };
  EXPECT_EQ(equals(3), true);
  EXPECT_EQ(equals(2), false);
  EXPECT_EQ(equals(4), false);
  EXPECT_EQ(CertainAt({EQ(loop_->var, Int(3)), Loops()}, {}), std::nullopt);
}

TEST_F(KnownConditionsTest, PinsAreNumbers) {
  const std::string text =
      Print(ResolvePins(loop_->body, {{loop_->var, {5, 5}}}));
  EXPECT_THAT(text, HasSubstr("A[5]"));
  EXPECT_THAT(text, Not(HasSubstr("if")));
}

}  // namespace
}  // namespace kiln::lower
