// How many operations a call of a kernel needs, for those who have the kernel
// alone.
#ifndef KILN_CODEGEN_HOST_FLOP_H_
#define KILN_CODEGEN_HOST_FLOP_H_

#include <optional>

#include "kiln/ir/tensor/module.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// As ir/work counts them (Work::needed_flop), over the scalars of
// MakeSignature(f). Of symbolic extents it is a polynomial, of at most degree 2
// in each of at most three of them, which was found by counting at some extents
// and holds at others that were tried; below the size of a window that sticks
// out at both borders it is an estimate. Nothing where there is none, as for
// n // 2, and where a function cannot be counted.
std::optional<vm::KernelFlop> FlopOf(const Function& f);

}  // namespace kiln

#endif  // KILN_CODEGEN_HOST_FLOP_H_
