// Tensors as plain host arrays, for the interpreter and for tests. The runtime
// has its own.
#ifndef KILN_IR_INTERP_TENSOR_H_
#define KILN_IR_INTERP_TENSOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/ir/type/dtype.h"

namespace kiln {

// A dense row-major array. An empty shape is a scalar; a vector type counts
// its lanes as an innermost dimension of the bytes.
struct Tensor {
  Tensor() = default;
  // All zero. Extents are not negative and their product fits.
  Tensor(DType dtype, std::vector<int64_t> shape);

  DType dtype;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  // Scalars in the array: the product of the shape times the lanes.
  int64_t size() const;
  // The i-th scalar in memory order, as a number. 64-bit integers lose their
  // low bits beyond 2^53 in GetReal and keep them in GetInt.
  double GetReal(int64_t i) const;
  int64_t GetInt(int64_t i) const;
  // Rounds to the element type; integers wrap.
  void Set(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
};

}  // namespace kiln

#endif  // KILN_IR_INTERP_TENSOR_H_
