// A function as the formulas that it consists of.
#ifndef KILN_SEARCH_TASK_DAG_H_
#define KILN_SEARCH_TASK_DAG_H_

#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// A line for each block and for each parameter that is read before it is
// written, in the order in which they are needed:
//
//   A = PLACEHOLDER [1024, 1024]
//   B = PLACEHOLDER [1024, 1024]
//   matmul(i, j) += (A[i, k]*B[k, j])
//   C = PLACEHOLDER [1024, 1024]
//   out(i, j) = (matmul[i, j] + C[i, j])
//
// A reduction shows how it combines (+=, *=, max=, min=); a block whose body is
// no single store shows what it reads. Iterators lose a leading "v" or "v_".
std::string DagText(const Function& f);

}  // namespace kiln

#endif  // KILN_SEARCH_TASK_DAG_H_
