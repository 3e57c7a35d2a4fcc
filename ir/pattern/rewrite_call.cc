#include "kiln/ir/pattern/rewrite_call.h"

#include <optional>

namespace kiln {

graph::Expr RewriteCall(const graph::Expr& e, const Pattern& pattern,
                        CallRule rule) {
  BoundValues bound;
  return graph::RewriteBindings(
      e, [&](const graph::Binding& binding, graph::Emitter& emit) {
        const std::optional<Match> match = pattern.Match(binding.value, bound);
        const graph::Expr value =
            match ? rule(binding.value, *match, emit) : graph::Expr();
        bound[binding.var.get()] = value ? value : binding.value;
        if (value) emit.Emit(binding.var, value);
        return static_cast<bool>(value);
      });
}

}  // namespace kiln
