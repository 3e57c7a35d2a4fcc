// Few registers for a function that was written with one for each value.
#ifndef KILN_CODEGEN_GRAPH_REGISTERS_H_
#define KILN_CODEGEN_GRAPH_REGISTERS_H_

#include "kiln/vm/executable/bytecode.h"

namespace kiln {

// Marks the last use of each register, drops results that nothing reads, and
// gives registers whose values are not needed any more to later ones. Those of
// the parameters stay the first.
//
//   %2 = f(%0); %3 = g(%2); return %3      %1 = f(%0!); %1 = g(%1!); return %1!
void AssignRegisters(vm::Function* f);

}  // namespace kiln

#endif  // KILN_CODEGEN_GRAPH_REGISTERS_H_
