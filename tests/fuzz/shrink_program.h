// Makes a failing program small.
#ifndef KILN_TESTS_FUZZ_SHRINK_PROGRAM_H_
#define KILN_TESTS_FUZZ_SHRINK_PROGRAM_H_

#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Takes statements, loops, conditions, operands, parameters and declared
// regions away and makes numbers smaller, for as long as `fails` says of the
// smaller program that it still fails. Asks about well-formed programs only, at
// most `asks` times. The result is what its own text says (PrintFunction), so
// that a test can hold it.
Function ShrinkProgram(Function f, FunctionRef<bool(const Function&)> fails,
                       int asks = 1500);

}  // namespace kiln

#endif  // KILN_TESTS_FUZZ_SHRINK_PROGRAM_H_
