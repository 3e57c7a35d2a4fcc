// Single elements of any type in memory, as doubles and back.
#ifndef KILN_VM_NDARRAY_ELEMENT_H_
#define KILN_VM_NDARRAY_ELEMENT_H_

#include <cstdint>
#include <string>

#include "kiln/ir/type/dtype.h"

namespace kiln {

// The element at `index` (in elements) of a tensor at `data`. 64-bit integers
// beyond 2^53 lose their low bits. Types are those that tensors may have.
double LoadElement(const void* data, DType dtype, int64_t index);

// Stores a value that the type can represent, else the nearest such value for
// floats; integers take the value truncated towards zero and limited to their
// range (NaN gives 0), bool takes value != 0.
void StoreElement(void* data, DType dtype, int64_t index, double value);

// The element in decimal, exact for integers, round-trip for floats.
std::string ElementToString(const void* data, DType dtype, int64_t index);

}  // namespace kiln

#endif  // KILN_VM_NDARRAY_ELEMENT_H_
