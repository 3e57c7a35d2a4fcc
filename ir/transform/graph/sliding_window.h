// Depthwise convolutions, pooling and the like.
#ifndef KILN_IR_TRANSFORM_GRAPH_SLIDING_WINDOW_H_
#define KILN_IR_TRANSFORM_GRAPH_SLIDING_WINDOW_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Whether the function reduces a few neighbours of its first parameter for each
// element, channel by channel where channels come last:
//
//   Y[n, h, w, c] += X[n, h * 2 + y, w * 2 + x, c] * W[y, x, 0, c]
//
// X may be padded before.
bool IsSlidingWindow(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TRANSFORM_GRAPH_SLIDING_WINDOW_H_
