// Steps that put other blocks in the place of one: parts of reductions, other
// iterators, padding.
#include <algorithm>

#include "kiln/schedule/testing/random_step.h"

namespace kiln {
namespace {

using Args = std::optional<std::vector<Arg>>;

// A block with an init, where one is met.
std::optional<Rv> Reduction(StepContext& c) {
  auto block = c.Block();
  for (int i = 0; i < 3 && block; ++i) {
    const BlockNode* node = c.Find(*block);
    if (node && node->init) break;
    block = c.Block();
  }
  return block;
}

Args MakeRfactor(StepContext& c) {
  const auto block = Reduction(c);
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty()) return std::nullopt;
  // Reductions are often at the end.
  const Rv loop = c.Chance(40) ? loops.back() : c.OneOf(loops);
  return std::vector<Arg>{loop, c.Between(-3, 2)};
}

Args MakeReindex(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const bool write = c.Chance(50);
  const auto n = std::ssize(write ? node->writes : node->reads);
  const int64_t index =
      c.Between(0, c.Chance(3) ? n : std::max<int64_t>(n, 1) - 1);
  return std::vector<Arg>{*block, ArgList{write ? "write" : "read", index}};
}

Args MakeTransformBlockLayout(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  std::vector<Expr> shape;
  for (const IterVar& iter : node->iters) shape.push_back(iter.domain.extent);
  return std::vector<Arg>{*block, RandomMap(c, shape)};
}

}  // namespace

std::vector<StepRow> RewriteSteps() {
  return {
      {"rfactor", 8, MakeRfactor},
      {"reindex", 5, MakeReindex},
      {"transform_block_layout", 6, MakeTransformBlockLayout},
  };
}

}  // namespace kiln
