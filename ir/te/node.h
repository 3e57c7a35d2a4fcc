// What stands behind a te::Tensor. Internal to ir/te.
#ifndef KILN_IR_TE_NODE_H_
#define KILN_IR_TE_NODE_H_

#include <optional>
#include <vector>

#include "kiln/ir/te/te.h"

namespace kiln::te {

// A buffer that knows its formula, so that a load of it leads to what it
// needs.
struct TensorNode : BufferNode {
  std::vector<Var> axes;
  std::optional<Value> value;  // nullopt for a placeholder
  Annotations annotations;
};

}  // namespace kiln::te

#endif  // KILN_IR_TE_NODE_H_
