// Random calls of ops on the values of a scene.
#ifndef KILN_TESTS_GRAPH_FUZZ_CALLS_H_
#define KILN_TESTS_GRAPH_FUZZ_CALLS_H_

#include <optional>
#include <string>
#include <vector>

#include "kiln/tests/graph_fuzz/scene.h"

namespace kiln {

struct FuzzCall {
  std::string text;                 // R.add(v1, v2)
  std::vector<FuzzValue> operands;  // what it mentions
  double bound = 1;                 // of the elements of the result
  bool exact = true;
};

// A call that inference may still refuse; nullopt where the op that was drawn
// finds no operands.
std::optional<FuzzCall> DrawCall(Scene& scene);
// One whose result is like its operand.
FuzzCall DrawUnary(Scene& scene, const FuzzValue& operand);

}  // namespace kiln

#endif  // KILN_TESTS_GRAPH_FUZZ_CALLS_H_
