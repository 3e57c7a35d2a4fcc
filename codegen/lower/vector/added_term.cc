#include "kiln/codegen/lower/vector/added_term.h"

#include "kiln/ir/expr/same.h"

namespace kiln::lower {

Expr AddedTerm(const StoreNode& store) {
  const auto* add = store.value.As<BinaryNode>();
  if (!add || store.value.kind() != ExprKind::kAdd ||
      store.indices.size() != 1) {
    return nullptr;
  }
  const auto is_sum = [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    return load && load->buffer == store.buffer &&
           SameExpr(load->indices[0], store.indices[0]);
  };
  return is_sum(add->a) ? add->b : is_sum(add->b) ? add->a : nullptr;
}

}  // namespace kiln::lower
