#include "kiln/schedule/analysis/index_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/expr/visit.h"

namespace kiln {
namespace {

bool MovesReduction(const BlockRealizeNode& realize, const ForNode& loop) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.block->iters[i].type == IterType::kReduce &&
        UsesVar(realize.values[i], loop.var)) {
      return true;
    }
  }
  return false;
}

// `e` before conversions to another integer type.
Expr Unconverted(Expr e) {
  while (const auto* cast = e.As<CastNode>()) {
    if (!cast->value.dtype().is_integral()) break;
    e = Expr(cast->value);
  }
  return e;
}

// Whether all values of `e` are ones of `dtype`, the initial one or larger.
bool IsWithin(const Expr& e, DType dtype, int64_t initial, Analyzer* analyzer) {
  const ConstBound bound = analyzer->Bound(e);
  const int bits = std::min(dtype.bits(), e.dtype().bits());
  return dtype.is_int() && e.dtype().is_int() && bits > 1 &&
         bound.min >= initial && bound.min >= -(int64_t{1} << (bits - 2)) &&
         bound.max <= (int64_t{1} << (bits - 2));
}

// Whether a step of each loop is at least what all loops inside it add up to.
bool StepsGrow(const Expr& index, const BlockRealizeNode& realize,
               const std::vector<const ForNode*>& loops, Analyzer* analyzer) {
  int64_t inside = 0;
  for (size_t i = loops.size(); i-- > 0;) {
    if (!MovesReduction(realize, *loops[i])) continue;
    const std::optional<int64_t> step =
        StrideOf(index, loops[i]->var, analyzer);
    const int64_t* extent = AsInt(loops[i]->extent);
    if (!step || !extent || *step < inside) return false;
    inside += *step * (*extent - 1);
  }
  return true;
}

}  // namespace

bool IndicesGrow(const Reducer& reducer, const BlockRealizeNode& realize,
                 const std::vector<const ForNode*>& loops) {
  if (!reducer.index) return false;
  const int64_t* initial = AsInt(reducer.initial[*reducer.index]);
  if (!initial) return false;
  VarMap values;
  Analyzer analyzer;
  for (const ForNode* loop : loops) {
    analyzer.Bind(loop->var, {loop->min, loop->extent});
  }
  for (size_t i = 0; i < realize.values.size(); ++i) {
    values[realize.block->iters[i].var.get()] = realize.values[i];
  }
  const Expr operand = reducer.operands[*reducer.index];
  const Expr index =
      analyzer.Simplify(Substitute(Unconverted(operand), values));
  return IsWithin(index, operand.dtype(), *initial, &analyzer) &&
         StepsGrow(index, realize, loops, &analyzer);
}

}  // namespace kiln
