// Random expressions over loops with symbolic extents keep their values.
#include <random>

#include "gtest/gtest.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/random_expr.h"

namespace kiln {
namespace {

class SymbolicTest : public testing::Test {
 protected:
  SymbolicTest() : random_(TestSeed()), pick_({x_}, &random_) {
    analyzer_.Bind(x_, Range{Int(0), m_});
    analyzer_.Bind(y_, Range{Int(0), n_});
    analyzer_.Bind(t_, Range{Int(0), Tiles()});
    analyzer_.Bind(g_, Range{Int(0), Mul(Mul(m_, n_), Int(4))});
    analyzer_.Bind(c_, Range{Int(0), Int(4)});
  }
  Expr Tiles() const { return FloorDiv(Add(n_, Int(3)), Int(4)); }

  Expr Divisor() {
    switch (pick_.Below(5)) {
      case 0:
        return n_;
      case 1:
        return m_;
      case 2:
        return Mul(n_, Int(4));
      case 3:
        return Mul(m_, n_);
      default:
        return Int(4);
    }
  }

  Expr Make(int depth) {
    const Expr leaves[] = {x_, y_, t_, g_, c_, n_, m_, Tiles(), Int(1)};
    if (depth == 0) return leaves[pick_.Below(9)];
    switch (pick_.Below(7)) {
      case 0:
      case 1:
        return Add(Mul(Make(depth - 1), Divisor()), Make(depth - 1));
      case 2:
        return FloorDiv(Make(depth - 1), Divisor());
      case 3:
        return FloorMod(Make(depth - 1), Divisor());
      case 4:
        return Sub(Make(depth - 1), Make(depth - 1));
      case 5:
        return Min(Make(depth - 1), Make(depth - 1));
      default:
        return Make(depth - 1);
    }
  }

  Values Draw() {
    Values values;
    const int64_t n = 1 + pick_.Below(9), m = 1 + pick_.Below(9);
    values[n_.get()] = n;
    values[m_.get()] = m;
    values[x_.get()] = pick_.Below(m);
    values[y_.get()] = pick_.Below(n);
    values[t_.get()] = pick_.Below((n + 3) / 4);
    values[g_.get()] = pick_.Below(4 * n * m);
    values[c_.get()] = pick_.Below(4);
    return values;
  }

  Var n_{"n"}, m_{"m"}, x_{"x"}, y_{"y"}, t_{"t"}, g_{"g"}, c_{"c"};
  std::mt19937_64 random_;
  RandomExpr pick_;
  Analyzer analyzer_;
};

TEST_F(SymbolicTest, ValuesAndConditionsAreKept) {
  for (int trial = 0; trial < 3000; ++trial) {
    Expr e = Make(2 + trial % 3);
    if (trial % 2)
      e = Binary(trial % 4 == 1 ? ExprKind::kLT : ExprKind::kLE, e, Make(2));
    const Expr simple = analyzer_.Simplify(e);
    const ConstBound bound = analyzer_.Bound(e);
    ASSERT_EQ(analyzer_.Simplify(simple), simple)
        << ToText(e) << "\n  became " << ToText(simple) << "\n  became "
        << ToText(analyzer_.Simplify(simple));
    for (int k = 0; k < 60; ++k) {
      const Values values = Draw();
      const auto value = Evaluate(e, values), got = Evaluate(simple, values);
      ASSERT_TRUE(value && got && *value == *got)
          << ToText(e) << "\n  became " << ToText(simple);
      ASSERT_TRUE(bound.min <= *value && *value <= bound.max) << ToText(e);
    }
  }
}

}  // namespace
}  // namespace kiln
