// Softmax, for other ops that begin or end with it.
#ifndef KILN_IR_OPS_NETWORK_SOFTMAX_H_
#define KILN_IR_OPS_NETWORK_SOFTMAX_H_

#include "kiln/ir/te/te.h"

namespace kiln {

// exp(x), divided by its sum along `axis`.
te::Tensor Softmax(const te::Tensor& x, int axis);

}  // namespace kiln

#endif  // KILN_IR_OPS_NETWORK_SOFTMAX_H_
