// Results that may lie where an argument does.
//
//   @T.prim_func
//   def add(A: T.Buffer(...), R: T.Buffer(...), C: T.Buffer(...)):
//       T.func_attr({"in_place_buffers": [[1, 2]]})
//
// says that C may be the tensor R: whoever calls it with one tensor for both
// finds the same result as with two, whatever the schedule is, as each element
// of R is read for the last time when that of C is computed. Like "tir.noalias"
// that is the author's word; graphs find it out
// (ir/transform/graph/in_place.h).
#ifndef KILN_IR_TENSOR_IN_PLACE_H_
#define KILN_IR_TENSOR_IN_PLACE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function: a list of lists of two positions among its parameters.
inline constexpr char kInPlaceBuffers[] = "in_place_buffers";

struct InPlacePair {
  int read = 0;
  int written = 0;
  friend bool operator==(const InPlacePair&, const InPlacePair&) = default;
};

// What the attribute of `f` lists; nothing where it has none. InvalidArgument
// where it lists no pairs of tensor parameters of one type and shape, or one
// that is read twice: two results would lie together.
absl::StatusOr<std::vector<InPlacePair>> InPlacePairs(const Function& f);
// The same pairs where parameter i is the one that was number args[i] before:
// those of which both are still there.
std::vector<InPlacePair> MovedPairs(const std::vector<InPlacePair>& pairs,
                                    const std::vector<int>& args);
// Takes the attribute off where there are no pairs.
void SetInPlacePairs(Function* f, const std::vector<InPlacePair>& pairs);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_IN_PLACE_H_
