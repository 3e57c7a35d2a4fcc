// Whether two tensors agree.
#ifndef KILN_IR_TESTING_COMPARE_H_
#define KILN_IR_TESTING_COMPARE_H_

#include "absl/status/status.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/type/tolerance.h"

namespace kiln {

// What reordered sums of a few thousand terms of the type need; integers are
// compared exactly.
Tolerance DefaultTolerance(DType dtype);

// Ok, or an error that tells the first index where they differ, both values,
// and how many elements do. NaN equals NaN, and an infinity its own sign.
absl::Status CompareTensors(const Tensor& actual, const Tensor& expected,
                            Tolerance tolerance);
absl::Status CompareTensors(const Tensor& actual, const Tensor& expected);

}  // namespace kiln

#endif  // KILN_IR_TESTING_COMPARE_H_
