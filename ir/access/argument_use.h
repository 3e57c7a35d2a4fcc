// How a function uses what its tensor parameters hold when it is called.
#ifndef KILN_IR_ACCESS_ARGUMENT_USE_H_
#define KILN_IR_ACCESS_ARGUMENT_USE_H_

#include <cstdint>
#include <vector>

#include "kiln/ir/tensor/module.h"

namespace kiln {

enum class ArgumentUse : uint8_t {
  kRead,     // never written; scalars too
  kWritten,  // every element is written before any is read
  kUpdated,  // the result may depend on what it holds before the call
};

// One for each parameter. kWritten is proved: of the first block that touches
// the parameter, whose iterators run over the whole of it. All else that is
// written is kUpdated, such as C in `C[i] = C[i] + A[i]` and a tensor of which
// a loop writes the interior only.
std::vector<ArgumentUse> ArgumentUses(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_ACCESS_ARGUMENT_USE_H_
