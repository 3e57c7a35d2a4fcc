#include "kiln/codegen/llvm/look_ahead.h"

#include <cstdint>

#include "kiln/codegen/lower/linear.h"
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

// The loop that goes on where the last of `loops`, the rows, ends; nullopt
// where there is none, or where rows are not that of an affine index.
std::optional<size_t> FindBlockLoop(const lower::LinearForm& form,
                                    absl::Span<const ForNode* const> loops) {
  const ForNode& rows = *loops.back();
  const int64_t* count = AsInt(rows.extent);
  const int64_t step = form.Coefficient(rows.var.get());
  if (!count || step <= 0) return std::nullopt;
  for (size_t b = loops.size() - 1; b-- > 0;) {
    const Var& var = loops[b]->var;
    if (form.HidesVar([&](const VarNode* v) { return v == var.get(); })) break;
    if (form.Coefficient(var.get()) == step * *count) return b;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Expr> NextBlockIndex(const Expr& index,
                                   absl::Span<const ForNode* const> loops) {
  if (loops.size() < 3 || ReadsMemory(index)) return std::nullopt;
  const lower::LinearForm form = lower::ToLinear(index);
  const std::optional<size_t> block = FindBlockLoop(form, loops);
  if (!block) return std::nullopt;
  const auto inside = loops.subspan(*block + 1);
  const std::optional<Position> step = PositionIn(inside);
  if (!step) return std::nullopt;
  const ForNode& rows = *loops.back();
  int64_t panels = 1;
  for (const ForNode* loop : inside.subspan(0, inside.size() - 1)) {
    if (UsesVar(index, loop->var)) panels *= *AsInt(loop->extent);
  }
  if (panels < 2) return std::nullopt;
  // Steps that ask for the same: passes over the block.
  const int64_t passes = step->count / (panels * *AsInt(rows.extent));
  const Expr wanted = FloorDiv(step->index, Int(passes));
  VarMap later;
  later[loops[*block]->var.get()] = Add(loops[*block]->var, Int(1));
  later[rows.var.get()] = Add(rows.min, FloorDiv(wanted, Int(panels)));
  Expr panel = FloorMod(wanted, Int(panels));
  for (size_t i = inside.size() - 1; i-- > 0;) {
    const ForNode& loop = *inside[i];
    if (!UsesVar(index, loop.var)) continue;
    later[loop.var.get()] = Add(loop.min, FloorMod(panel, loop.extent));
    panel = FloorDiv(panel, loop.extent);
  }
  return Substitute(index, later);
}

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
