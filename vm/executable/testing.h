// A small executable without kernels, for tests.
#ifndef KILN_VM_EXECUTABLE_TESTING_H_
#define KILN_VM_EXECUTABLE_TESTING_H_

#include "kiln/vm/executable/bytecode.h"

namespace kiln::vm {

// main(x: float32[n, 2], flag) gives (x, twice(flag), (n * 2, 3)) if flag is
// true, and otherwise what the closure `pair` of a constant and x gives.
Executable SmallExecutable();

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_TESTING_H_
