#include "kiln/codegen/lower/blocks/lower_init.h"

#include <utility>

#include "kiln/ir/tensor/empty_reductions.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

// Whether the instance is the first over the reduce iterators; null: always.
Expr FirstInstance(const BlockNode& block) {
  Expr first;
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kReduce || IsOne(iter.domain.extent)) continue;
    Expr at_min = EQ(iter.var, iter.domain.min);
    first = first ? And(first, at_min) : at_min;
  }
  return first;
}

Stmt WithoutInits(const Stmt& s) {
  const Stmt below =
      MapChildren(s, [](const Stmt& child) { return WithoutInits(child); });
  const auto* realize = below.As<BlockRealizeNode>();
  if (!realize || !realize->block->init) return below;
  BlockFields fields = realize->block->fields();
  const Stmt init = std::exchange(fields.init, nullptr);
  const Expr first = FirstInstance(*realize->block);
  fields.body = MakeSeq({first ? MakeIf(first, init) : init, fields.body});
  return MakeRealize(realize->values, realize->predicate,
                     MakeBlock(std::move(fields)));
}

}  // namespace

absl::StatusOr<Function> LowerInit(Function f) {
  f = BeginEmptyReductions(std::move(f));
  f.body = WithoutInits(f.body);
  return f;
}

}  // namespace kiln
