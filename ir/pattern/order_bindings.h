// The order of bindings.
#ifndef KILN_IR_PATTERN_ORDER_BINDINGS_H_
#define KILN_IR_PATTERN_ORDER_BINDINGS_H_

#include <functional>
#include <optional>
#include <vector>

#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"

namespace kiln {

// The bindings, each behind those of the variables it uses and behind the casts
// that bring in its dimensions; else in the order they have. nullopt where two
// need each other. `is_known` tells dimensions that come in elsewhere.
std::optional<std::vector<graph::Binding>> OrderBindings(
    const std::vector<graph::Binding>& bindings,
    const std::function<bool(const VarNode*)>& is_known);

}  // namespace kiln

#endif  // KILN_IR_PATTERN_ORDER_BINDINGS_H_
