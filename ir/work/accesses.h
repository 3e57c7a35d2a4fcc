// Which elements of the arguments a function touches.
#ifndef KILN_IR_WORK_ACCESSES_H_
#define KILN_IR_WORK_ACCESSES_H_

#include <vector>

#include "kiln/ir/tensor/module.h"
#include "kiln/ir/work/points.h"
#include "kiln/ir/work/work.h"

namespace kiln::work_internal {

// A load or a store in the loops above it.
struct Access {
  Buffer buffer;
  Domain domain;
  std::vector<Expr> indices;
  bool writes = false;
  int statement = 0;  // in program order
};

// The elements of `buffer` that are read before they are written; those that
// are written. `accesses` are those of the buffer, in program order.
Count ElementsRead(const Buffer& buffer, const std::vector<Access>& accesses);
Count ElementsWritten(const Buffer& buffer,
                      const std::vector<Access>& accesses);

}  // namespace kiln::work_internal

#endif  // KILN_IR_WORK_ACCESSES_H_
