// What index expressions must be in the border of a loop nest.
#ifndef KILN_CODEGEN_LOWER_BORDER_PINS_H_
#define KILN_CODEGEN_LOWER_BORDER_PINS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/codegen/lower/linear.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

using LoopStack = std::vector<const ForNode*>;

// From the first to the last, both included.
struct Values {
  int64_t first, last;
};

// The values of a loop variable; nullopt when they are not constant.
std::optional<Values> ValuesOf(const ForNode& loop);

// An atom that has one value.
struct Pin {
  Expr atom;
  int64_t value;
};

// The atoms of `margin` that have one value only in those iterations of `loops`
// in which margin < 0: with j in range(11), -3*j + 29 pins j to 10.
std::vector<Pin> PinsInBorder(const LinearForm& margin, const LoopStack& loops);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_BORDER_PINS_H_
