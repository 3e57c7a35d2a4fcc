// Whether an executable can be run: everything that it names exists.
#ifndef KILN_VM_EXECUTABLE_VERIFY_H_
#define KILN_VM_EXECUTABLE_VERIFY_H_

#include "absl/status/status.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln::vm {

// InvalidArgument for an index out of range, a jump that does not lead forward,
// a function whose end can be reached, a wrong number of arguments, a register
// that is read where no path has written it, a constant whose bytes are not
// those of its shape, a malformed signature, two functions of one name. The
// message names the function and the instruction.
absl::Status Verify(const Executable& executable);

}  // namespace kiln::vm

#endif  // KILN_VM_EXECUTABLE_VERIFY_H_
