#include "kiln/codegen/lower/vector/form_dot_products.h"

#include <cstdint>

#include "kiln/codegen/lower/vector/lane_independence.h"
#include "kiln/codegen/lower/vector/vector_expr.h"
#include "kiln/codegen/lower/vector/vectorize_loops.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/expr/dot_product.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

using lower::LaneMapper;

bool Uses(const Expr& e, const Var& var) {
  bool uses = false;
  Visit(e, [&](const Expr& x) { return !(uses = uses || x == var); });
  return uses;
}

// What a store adds to the element where it stores; null where it does not.
Expr TermOf(const StoreNode& store) {
  const auto* sum = store.value.As<BinaryNode>();
  if (store.value.kind() != ExprKind::kAdd || store.indices.size() != 1) {
    return nullptr;
  }
  const auto* load = sum->a.As<LoadNode>();
  const bool is_update = load && load->buffer == store.buffer &&
                         SameExpr(load->indices[0], store.indices[0]);
  return is_update ? sum->b : nullptr;
}

// With v // 4 * 4 + v % 4 as v.
Expr WithSimpleIndices(const Expr& e) {
  const auto* load = e.As<LoadNode>();
  if (!load) {
    return MapOperands(e, [](const Expr& x) { return WithSimpleIndices(x); });
  }
  return Load(load->buffer, {Analyzer().Simplify(load->indices[0])});
}

// Of a loop over lanes around one over steps.
class DotProduct {
 public:
  DotProduct(const ForNode& lanes, const ForNode& steps)
      : lanes_(lanes), steps_(steps) {}

  // Null where there is none.
  Stmt Run(int dots) const {
    const auto* store = steps_.body.As<StoreNode>();
    const Expr term = store ? TermOf(*store) : nullptr;
    const auto product = term ? NarrowProductOf(term) : std::nullopt;
    const int64_t *lanes = AsInt(lanes_.extent), *steps = AsInt(steps_.extent);
    if (!product || !lanes || !steps || *lanes < 2 ||
        !IsDotProduct(*product, *steps, dots) || *lanes * *steps > kMaxLanes ||
        Uses(store->indices[0], steps_.var) ||
        !lower::IterationsAreIndependent(lanes_)) {
      return nullptr;
    }
    return Vectors(*store, term, static_cast<int>(*lanes),
                   static_cast<int>(*steps));
  }

 private:
  Stmt Vectors(const StoreNode& store, const Expr& term, int lanes,
               int steps) const {
    LaneMapper sums(lanes_.var, lanes_.min, lanes);
    const Expr index = sums.Map(store.indices[0]);
    const Var both(lanes_.var.name());
    LaneMapper products(both, Int(0), lanes * steps);
    const Expr all = products.Map(WithSimpleIndices(Substitute(
        term,
        {{lanes_.var.get(), Add(lanes_.min, FloorDiv(both, Int(steps)))},
         {steps_.var.get(), Add(steps_.min, FloorMod(both, Int(steps)))}})));
    if (!index || !all || index.dtype().lanes() != lanes ||
        all.dtype().lanes() != lanes * steps) {
      return nullptr;
    }
    return MakeStore(store.buffer,
                     Add(Load(store.buffer, {index}), LaneSums(all, steps)),
                     {index});
  }

  const ForNode& lanes_;
  const ForNode& steps_;
};

Stmt Form(const Stmt& s, int dots) {
  const auto* loop = s.As<ForNode>();
  const auto* inner = loop ? loop->body.As<ForNode>() : nullptr;
  if (inner && loop->for_kind == ForKind::kVectorized &&
      inner->for_kind == ForKind::kUnrolled) {
    if (Stmt dot = DotProduct(*loop, *inner).Run(dots)) return dot;
  }
  return MapChildren(s, [&](const Stmt& child) { return Form(child, dots); });
}

}  // namespace

absl::StatusOr<Function> FormDotProducts(Function f, const Machine& machine) {
  if (machine.vectors.dots < 2) return f;
  Stmt body = Form(f.body, machine.vectors.dots);
  f.body = std::move(body);
  return f;
}

}  // namespace kiln
