// A second copy of a statement in the same function.
#ifndef KILN_IR_TENSOR_CLONE_WITH_FRESH_IDS_H_
#define KILN_IR_TENSOR_CLONE_WITH_FRESH_IDS_H_

#include <string>

#include "kiln/ir/tensor/module.h"

namespace kiln {

// `s`, a statement of `f`, with new ids and new variables, iterators and
// tensors for all that it defines. Blocks are called as before, with `suffix`
// behind their name.
Stmt CloneWithFreshIds(const Stmt& s, const std::string& suffix, Function* f);

}  // namespace kiln

#endif  // KILN_IR_TENSOR_CLONE_WITH_FRESH_IDS_H_
