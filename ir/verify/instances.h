// What leads to a place in a program, and trying it out. Internal to
// ir/verify.
#ifndef KILN_IR_VERIFY_INSTANCES_H_
#define KILN_IR_VERIFY_INSTANCES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::verify_internal {

// A loop, a definition (of a block iterator, too) or a condition around a
// place.
struct Step {
  enum class Kind : uint8_t { kLoop, kValue, kCondition };

  static Step Loop(Var var, Range range);
  static Step Value(Var var, Expr value);
  static Step Condition(Expr condition);

  Kind kind;
  Var var;      // null for a condition
  Range range;  // of a loop
  Expr value;   // of a definition, or the condition (null: not known)
};

// Outermost first.
using Steps = std::vector<Step>;

enum class Outcome : uint8_t { kAlways, kNotAlways, kUnknown };

// How a trial of `slack >= 0` came out. Where it does not always hold, an
// instance that shows it: the loops that decide it, and the slack.
struct Trial {
  Outcome outcome = Outcome::kUnknown;
  std::vector<std::pair<Var, int64_t>> instance;
  int64_t slack = 0;
};

// Whether `slack` is 0 or more wherever `steps` lead, by trying: all values of
// the loops where these are few (then the answer is exact), else their ends
// and steps from there towards less slack. What depends on data or on
// unknown extents is unknown; an instance only counts where all conditions
// are known to hold.
Trial Try(const Steps& steps, const Expr& slack);

// "i = 3, j = 5".
std::string Describe(const std::vector<std::pair<Var, int64_t>>& instance);

}  // namespace kiln::verify_internal

#endif  // KILN_IR_VERIFY_INSTANCES_H_
