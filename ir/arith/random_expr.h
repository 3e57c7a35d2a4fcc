// Random integer expressions and their values, for tests.
#ifndef KILN_IR_ARITH_RANDOM_EXPR_H_
#define KILN_IR_ARITH_RANDOM_EXPR_H_

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "kiln/ir/expr/expr.h"

namespace kiln {

using Values = std::unordered_map<const VarNode*, int64_t>;

// The value of `e`; nullopt where it divides by zero or overflows.
std::optional<int64_t> Evaluate(const Expr& e, const Values& values);

// A fully parenthesized form, for messages.
std::string ToText(const Expr& e);

// The seed of this run: from KILN_TEST_SEED, else drawn anew. Prints it.
uint64_t TestSeed();

class RandomExpr {
 public:
  RandomExpr(std::vector<Var> vars, std::mt19937_64* random)
      : vars_(std::move(vars)), random_(*random) {}
  Expr Int(int depth);
  Expr Condition(int depth);
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(n));
  }

 private:
  Expr Division(int depth);
  std::vector<Var> vars_;
  std::mt19937_64& random_;
};

}  // namespace kiln

#endif  // KILN_IR_ARITH_RANDOM_EXPR_H_
