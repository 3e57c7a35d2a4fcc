// Which tensors of a function that is not scheduled yet may lie together.
#ifndef KILN_IR_TRANSFORM_GRAPH_IN_PLACE_H_
#define KILN_IR_TRANSFORM_GRAPH_IN_PLACE_H_

#include <vector>

#include "kiln/ir/tensor/in_place.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// The pairs of parameters of which one is read element by element, for that
// element of the other alone, as what is added to a sum is:
//
//   S[i, j] += A[i, k] * W[k, j]
//   T[i, j] = S[i, j] + R[i, j]
//   C[i, j] = max(T[i, j], 0)         R and C, but not A and C
//
// However the function is scheduled, the element of C is computed after that of
// R is read, and nothing reads it afterwards: a schedule runs each instance of
// the block that writes C once.
std::vector<InPlacePair> FindInPlacePairs(const Function& f);

// The module whose tensor functions say so.
Module MarkInPlace(Module module);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_IN_PLACE_H_
