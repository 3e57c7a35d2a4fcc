// Programs that many threads build on.
#ifndef KILN_IR_TENSOR_KEEP_H_
#define KILN_IR_TENSOR_KEEP_H_

#include "kiln/ir/tensor/module.h"

namespace kiln {

// Lets all nodes of `f` live until the process ends. Functions made from it
// share most of its nodes, and those nobody counts any more: threads that make
// such functions at the same time do not wait for each other's counting. For
// the few functions of a process of which thousands are made.
void KeepForever(const Function& f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_KEEP_H_
