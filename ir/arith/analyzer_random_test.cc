// Simplified expressions have the values of the originals, bounds and moduli
// hold for every value, and a second simplification changes nothing.
#include <random>

#include "gtest/gtest.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

class RandomAnalysis : public testing::Test {
 protected:
  RandomAnalysis() : random_(TestSeed()), make_({a_, b_, c_, d_}, &random_) {}

  // Binds the variables to random ranges; d stays unbound.
  void BindAll() {
    const Var* vars[] = {&a_, &b_, &c_};
    for (int i = 0; i < 3; ++i) {
      static constexpr int64_t kExtents[] = {1, 2, 4, 8, 16, 7, 32};
      min_[i] = make_.Below(3) ? 0 : make_.Below(9) - 4;
      extent_[i] = kExtents[make_.Below(7)];
      analyzer_.Bind(*vars[i], Range{Int(min_[i]), Int(extent_[i])});
    }
  }

  Values Draw() {
    Values values;
    const Var* vars[] = {&a_, &b_, &c_};
    for (int i = 0; i < 3; ++i) {
      values[vars[i]->get()] = min_[i] + make_.Below(extent_[i]);
    }
    values[d_.get()] = make_.Below(81) - 40;
    return values;
  }

  // Compares over random points where `assumed` holds (null: everywhere).
  void CheckSame(const Expr& e, const Expr& simple, const Expr& assumed) {
    const ConstBound bound = analyzer_.Bound(e);
    const Modular modular = analyzer_.Modulus(e);
    for (int k = 0; k < 60; ++k) {
      const Values values = Draw();
      if (assumed && Evaluate(assumed, values) != 1) continue;
      const auto value = Evaluate(e, values);
      if (!value) continue;
      const auto got = Evaluate(simple, values);
      ASSERT_TRUE(got && *got == *value)
          << ToText(e) << "\n  became " << ToText(simple) << "\n  " << *value
          << " became " << got.value_or(-999999)
          << (assumed ? "\n  under " + ToText(assumed) : "") << Where(values);
      ASSERT_TRUE(bound.min <= *value && *value <= bound.max)
          << ToText(e) << " is " << *value << Where(values);
      ASSERT_TRUE(modular.coefficient == 0
                      ? modular.base == *value
                      : (*value - modular.base) % modular.coefficient == 0)
          << ToText(e) << " is " << *value << Where(values);
    }
  }

  std::string Where(const Values& values) {
    std::string text;
    for (const Var& v : {a_, b_, c_, d_}) {
      text += " " + v.name() + "=" + std::to_string(values.at(v.get()));
    }
    for (int i = 0; i < 3; ++i) {
      text += " [" + std::to_string(min_[i]) + "+" +
              std::to_string(extent_[i]) + ")";
    }
    return text;
  }

  Var a_{"a"}, b_{"b"}, c_{"c"}, d_{"d"};
  std::mt19937_64 random_;
  RandomExpr make_;
  Analyzer analyzer_;
  int64_t min_[3] = {}, extent_[3] = {};
};

TEST_F(RandomAnalysis, SimplifiedExpressionsKeepTheirValues) {
  for (int trial = 0; trial < 6000 && !HasFatalFailure(); ++trial) {
    BindAll();
    const Expr e = trial % 3 ? make_.Int(2 + trial % 4) : make_.Condition(3);
    CheckSame(e, analyzer_.Simplify(e), nullptr);
  }
}

TEST_F(RandomAnalysis, SimplifyingTwiceGivesTheSameNode) {
  for (int trial = 0; trial < 6000; ++trial) {
    BindAll();
    const Expr e = trial % 3 ? make_.Int(2 + trial % 3) : make_.Condition(3);
    const Expr once = analyzer_.Simplify(e);
    const Expr twice = analyzer_.Simplify(once);
    ASSERT_EQ(once, twice) << ToText(e) << "\n  became " << ToText(once)
                           << "\n  became " << ToText(twice) << Where(Draw());
  }
}

TEST_F(RandomAnalysis, ValuesAreKeptWhereAssumptionsHold) {
  for (int trial = 0; trial < 6000 && !HasFatalFailure(); ++trial) {
    BindAll();
    const Expr condition = make_.Condition(2);
    const Expr e = trial % 3 ? make_.Int(2 + trial % 4) : make_.Condition(3);
    const Expr before = analyzer_.Simplify(e);
    {
      auto assumption = analyzer_.Assume(condition);
      CheckSame(e, analyzer_.Simplify(e), condition);
    }
    const Expr after = analyzer_.Simplify(e);
    ASSERT_EQ(ToText(before), ToText(after)) << "assumption left a trace";
  }
}

}  // namespace
}  // namespace kiln
