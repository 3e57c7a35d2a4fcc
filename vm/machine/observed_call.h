// What a machine tells about a call to who observes it.
#ifndef KILN_VM_MACHINE_OBSERVED_CALL_H_
#define KILN_VM_MACHINE_OBSERVED_CALL_H_

#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/machine/value.h"

namespace kiln::vm {

// Of a kernel or a packed function. Texts live as long as the machine.
struct ObservedCall {
  std::string_view callee;
  std::string_view label;  // the variable that its result is bound to
  double seconds = 0;
  // Of the tensors that it was given and gave, each once. What a kernel writes
  // counts as written, even where it reads it too. Of packed functions, which
  // do not say what they write, arguments count as read.
  double bytes_read = 0, bytes_written = 0;
  // Operations that it needs; none: not known.
  std::optional<double> flop;
  bool flop_is_bound = false;  // an upper bound
};

// Sets bytes and operations of a call with those arguments, one for each
// parameter.
void LookAtKernel(const Kernel& kernel, absl::Span<const Value> args,
                  ObservedCall* call);
// Sets bytes.
void LookAtPacked(absl::Span<const Value> args, const Value& result,
                  ObservedCall* call);

}  // namespace kiln::vm

#endif  // KILN_VM_MACHINE_OBSERVED_CALL_H_
