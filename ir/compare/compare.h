// Equality of programs as people mean it, and the place where it ends.
//
// Two programs are the same here when they are equal up to the names of
// functions, blocks, loops, iterators and buffers, the simplification of index
// expressions, shapes and predicates, the spelling of constants and of
// comparisons, the order of T.reads and T.writes and of allocations, and
// attributes that only name things (global_symbol). Graph functions are
// compared as they are, up to names and the simplification of dimensions.
#ifndef KILN_IR_COMPARE_COMPARE_H_
#define KILN_IR_COMPARE_COMPARE_H_

#include <optional>
#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// The representative of all functions that are the same as `f`: expressions
// simplified; conjuncts of predicates and regions in a fixed order and each
// once; allocations in the order of first use; variables and buffers named by
// their position (i0, v1, B2). StructurallyEqual on two of these is sameness.
Function Normalize(const Function& f);

// nullopt when the modules are the same; else a message with the first lines
// of the normalized programs that differ, in their context. Functions are
// paired by name where both modules have the same names, else by position.
std::optional<std::string> FirstDifference(const Module& a, const Module& b);
std::optional<std::string> FirstDifference(const Function& a,
                                           const Function& b);

}  // namespace kiln

#endif  // KILN_IR_COMPARE_COMPARE_H_
