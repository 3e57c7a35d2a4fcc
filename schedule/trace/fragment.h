// The part of a program that a message speaks of.
#ifndef KILN_SCHEDULE_TRACE_FRAGMENT_H_
#define KILN_SCHEDULE_TRACE_FRAGMENT_H_

#include <string>

#include "kiln/schedule/trace/instruction.h"
#include "kiln/schedule/trace/state.h"

namespace kiln {

// The first loop or block that `instruction` names, as it stands in `state`:
// its first lines as TVMScript, indented, with "..." where lines are left out.
// Empty when it names none that is there. Printing takes its time: for what a
// user reads, not for what a search throws away.
std::string Fragment(const Instruction& instruction, const State& state);

}  // namespace kiln

#endif  // KILN_SCHEDULE_TRACE_FRAGMENT_H_
