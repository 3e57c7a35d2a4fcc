#include "kiln/codegen/lower/blocks/lower_init.h"

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

Stmt LowerStmt(const Stmt& s) {
  const Stmt below =
      MapChildren(s, [](const Stmt& child) { return LowerStmt(child); });
  const auto* realize = below.As<BlockRealizeNode>();
  if (!realize || !realize->block->init) return below;
  BlockFields fields = realize->block->fields();
  const Expr first = FirstInstance(*realize->block);
  const Stmt init = first ? MakeIf(first, fields.init) : fields.init;
  fields.body = MakeSeq({init, fields.body});
  fields.init = nullptr;
  return MakeRealize(realize->values, realize->predicate,
                     MakeBlock(std::move(fields)));
}

}  // namespace

absl::StatusOr<Function> LowerInit(Function f) {
  f.body = LowerStmt(f.body);
  return f;
}

}  // namespace kiln
