#include "kiln/codegen/llvm/look_ahead.h"

#include <cstdint>

#include "kiln/ir/expr/visit.h"

namespace kiln::codegen_internal {
namespace {

// Where an iteration stands among all of a nest.
struct Position {
  Expr index = Int(0);
  int64_t count = 1;
};

std::optional<Position> PositionIn(absl::Span<const ForNode* const> loops) {
  Position position;
  for (const ForNode* loop : loops) {
    const int64_t* extent = AsInt(loop->extent);
    if (!extent || *extent < 1 ||
        __builtin_mul_overflow(position.count, *extent, &position.count)) {
      return std::nullopt;
    }
    position.index =
        Add(Mul(position.index, loop->extent), Sub(loop->var, loop->min));
  }
  return position;
}

bool ReadsMemory(const Expr& e) {
  bool reads = false;
  Visit(e, [&](const Expr& inner) {
    reads |= inner.As<LoadNode>() != nullptr;
    return !reads;
  });
  return reads;
}

}  // namespace

std::optional<Expr> NextPanelIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops) {
  const auto moves = [&](size_t i) { return UsesVar(index, loops[i]->var); };
  const size_t row = loops.size() - 1;
  const int64_t* rows = AsInt(loops[row]->extent);
  if (!rows || !moves(row) || ReadsMemory(index)) return std::nullopt;
  size_t first_pass = row;
  while (first_pass > 0 && !moves(first_pass - 1)) --first_pass;
  const auto pass = PositionIn(loops.subspan(first_pass, row - first_pass));
  if (first_pass == 0 || !pass || pass->count < 2) return std::nullopt;

  const Var& panel_var = loops[first_pass - 1]->var;
  const Expr& first_row = loops[row]->min;
  const int64_t share = (*rows + pass->count - 1) / pass->count;
  const Expr in_share =
      FloorDiv(Sub(loops[row]->var, first_row), Int(pass->count));
  VarMap later;
  later[panel_var.get()] = Add(panel_var, Int(1));
  later[loops[row]->var.get()] =
      Add(first_row, Add(Mul(pass->index, Int(share)), in_share));
  return Substitute(index, later);
}

}  // namespace kiln::codegen_internal
