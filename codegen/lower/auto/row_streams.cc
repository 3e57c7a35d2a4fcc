#include "kiln/codegen/lower/auto/row_streams.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "kiln/codegen/lower/auto/prefetch_plan.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/expr/visit.h"

namespace kiln::lower {
namespace {

// Rows that are one stream each; of more, each is asked for too seldom.
constexpr int64_t kLeastRows = 2;
constexpr int64_t kMostRows = 32;
constexpr int64_t kLeastSteps = 16;  // along the rows

// How loops move through the rows of a block.
struct Block {
  size_t along = 0;  // the loop along the rows, among the loops
  int64_t rows = 1;
  int64_t apart = 0;  // the least distance of two rows
  int64_t reach = 0;  // from the first to the last of them
  std::vector<const ForNode*> passes;
};

void AddRows(int64_t count, int64_t step, Block* block) {
  if (count == 1) return;
  block->rows *= count;
  block->apart = block->apart == 0 ? step : std::min(block->apart, step);
  block->reach += (count - 1) * step;
}

// The block inside of the loop along its rows, by which the grid moves on as
// many elements as it reads of each.
std::optional<Block> BlockOf(const VectorGrid& grid, int64_t width,
                             const Linear& first,
                             absl::Span<const ForNode* const> loops) {
  Block block;
  AddRows(grid.rows, grid.row_step, &block);
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t* extent = AsInt(loops[i]->extent);
    const int64_t step = first.Coefficient(loops[i]->var.get());
    if (!extent || step < 0) return std::nullopt;
    if (step == width && *extent >= kLeastSteps) {
      block.along = i;
      const bool are_apart = block.apart >= *extent * width;
      const bool are_few = block.rows >= kLeastRows && block.rows <= kMostRows;
      return are_apart && are_few ? std::optional<Block>(block) : std::nullopt;
    }
    if (step == 0) {
      block.passes.push_back(loops[i]);
    } else {
      AddRows(*extent, step, &block);
    }
  }
  return std::nullopt;
}

// Whether the loops around go on to other parts of the rows, or to other rows.
bool AreDistinct(const Block& block, const Linear& first,
                 absl::Span<const ForNode* const> around) {
  return std::all_of(around.begin(), around.end(), [&](const ForNode* loop) {
    const int64_t step = std::abs(first.Coefficient(loop->var.get()));
    return step < block.apart || step > block.reach;
  });
}

}  // namespace

std::optional<RowStreams> FindRowStreams(const VectorGrid& grid,
                                         absl::Span<const ForNode* const> loops,
                                         int64_t ahead) {
  const Linear first = ToLinear(grid.first);
  const int64_t width = grid.columns * grid.lanes;
  const bool is_solid = grid.columns == 1 || grid.column_step == grid.lanes;
  const bool hides = first.HidesVar([&](const VarNode* var) {
    return std::any_of(loops.begin(), loops.end(), [&](const ForNode* loop) {
      return loop->var.get() == var;
    });
  });
  if (!is_solid || hides || MayTrap(grid.first)) return std::nullopt;
  const std::optional<Block> block = BlockOf(grid, width, first, loops);
  if (!block || !AreDistinct(*block, first, loops.first(block->along))) {
    return std::nullopt;
  }
  const ForNode& along = *loops[block->along];
  const int64_t extent = *AsInt(along.extent);
  const int64_t steps = std::clamp<int64_t>(ahead / width, 1, extent);
  const Expr later = Add(Sub(along.var, along.min), Int(steps));
  RowStreams streams{nullptr, block->passes};
  VarMap then;
  then[along.var.get()] = Add(along.min, FloorMod(later, along.extent));
  const ForNode* next = block->along > 0 ? loops[block->along - 1] : nullptr;
  if (next && first.Coefficient(next->var.get()) > block->reach) {
    then[next->var.get()] = Add(next->var, FloorDiv(later, along.extent));
  }
  streams.first = Substitute(grid.first, then);
  return streams;
}

}  // namespace kiln::lower
