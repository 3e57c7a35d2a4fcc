// Work counted by running: the judge of CountWork.
#ifndef KILN_IR_WORK_COUNTING_INTERPRETER_H_
#define KILN_IR_WORK_COUNTING_INTERPRETER_H_

#include "kiln/ir/tensor/module.h"
#include "kiln/ir/work/work.h"

namespace kiln {

// Runs `f`, of constant shapes, on zeros, one scalar operation after the other,
// marks inserted zeros as they arise, and counts by work.h's conventions.
Work CountByRunning(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_WORK_COUNTING_INTERPRETER_H_
