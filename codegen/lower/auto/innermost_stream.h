// What is known of the iterations of an innermost loop. Internal to
// codegen/lower.
#ifndef KILN_CODEGEN_LOWER_AUTO_INNERMOST_STREAM_H_
#define KILN_CODEGEN_LOWER_AUTO_INNERMOST_STREAM_H_

#include <cstdint>
#include <set>

#include "kiln/base/machine.h"
#include "kiln/ir/tensor/stmt.h"

namespace kiln::lower {

// Vector operations, of which each stores its result.
inline constexpr int64_t kVectorsPerCycle = 2;

struct Stream {
  const ForNode* loop = nullptr;  // null outside of such loops
  bool is_short = false;          // too short for more than whole rows
  bool is_sum = false;            // adds to what it stores
  // Most operations take a vector of their own; the others copy sums that two
  // tiles keep in turn.
  bool uses_once = false;
  int64_t bytes = 0;   // stored in one iteration
  int64_t cycles = 0;  // of one iteration
  int64_t ahead = 0;   // iterations to look ahead
  // What exists in an iteration only.
  std::set<const Node*> inside;
};

// Where `loop` is innermost, stores something, and has a few iterations; else
// without a loop.
Stream StreamOf(const ForNode& loop, const Machine& machine);

// Whether `body` holds no loops and variables, and adds to what it stores.
bool IsInnermostSum(const Stmt& body);

}  // namespace kiln::lower

#endif  // KILN_CODEGEN_LOWER_AUTO_INNERMOST_STREAM_H_
