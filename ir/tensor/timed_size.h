// Functions of symbolic dimensions at one size, and the size at which such a
// function is timed.
//
//   @T.prim_func
//   def dense(x: T.handle, w: T.Buffer((64, 48)), y: T.handle):
//       T.func_attr({"kiln.timed_size": [16]})
//       n = T.int64()
//
// is the function of every n, of which trials measure calls with n = 16.
#ifndef KILN_IR_TENSOR_TIMED_SIZE_H_
#define KILN_IR_TENSOR_TIMED_SIZE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Of a function: a list with a number for each of its SymbolicDims.
inline constexpr char kTimedSize[] = "kiln.timed_size";

// A number for each of SymbolicDims(f), in their order.
using DimSize = std::vector<int64_t>;

// `f` with numbers in the place of its symbolic dimensions. `size` has one for
// each.
Function AtSize(const Function& f, const DimSize& size);

// None where `f` says none, or not one number from 0 on for each dimension.
std::optional<DimSize> TimedSize(const Function& f);
// Empty: takes what it says away.
void SetTimedSize(Function* f, const DimSize& size);

// At its timed size; the same function where it has none.
Function AtTimedSize(const Function& f);

// Of a module with such a function: all sizes at which it is to be timed, a
// list of lists.
inline constexpr char kTimedSizes[] = "kiln.timed_sizes";

// Empty where the module says none, or no list of lists of numbers.
std::vector<DimSize> TimedSizes(const Module& module);
void SetTimedSizes(Module* module, const std::vector<DimSize>& sizes);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_TIMED_SIZE_H_
