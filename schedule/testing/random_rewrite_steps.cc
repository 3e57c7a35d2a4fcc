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

Args MakeReindexCache(StepContext& c, bool write) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const auto n = std::ssize(write ? node->writes : node->reads);
  const int64_t index = c.Between(0, std::max<int64_t>(n, 1) - 1);
  std::vector<Expr> shape;
  for (const IterVar& iter : node->iters) shape.push_back(iter.domain.extent);
  return std::vector<Arg>{*block, index, "global", RandomMap(c, shape)};
}

Args MakeReindexCacheRead(StepContext& c) { return MakeReindexCache(c, false); }
Args MakeReindexCacheWrite(StepContext& c) { return MakeReindexCache(c, true); }

Args MakeTransformBlockLayout(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  std::vector<Expr> shape;
  for (const IterVar& iter : node->iters) shape.push_back(iter.domain.extent);
  return std::vector<Arg>{*block, RandomMap(c, shape)};
}

Args MakePadEinsum(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  ArgList padding;
  for (size_t i = 0; i < node->iters.size(); ++i) {
    padding.push_back(c.Chance(60) ? 1 : c.Between(c.Chance(3) ? 0 : 1, 5));
  }
  return std::vector<Arg>{*block, padding};
}

Args MakeStorageAlign(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node || node->writes.empty()) return std::nullopt;
  const auto rank = static_cast<int64_t>(node->writes[0].buffer->shape.size());
  if (rank == 0) return std::nullopt;
  return std::vector<Arg>{*block, 0, c.Between(-rank, rank - 1),
                          int64_t{16} << c.Between(0, 2), c.Between(0, 16)};
}

// Whether the block stores a choice, as padded tensors do.
bool Chooses(const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  const auto* call = store ? store->value.As<CallNode>() : nullptr;
  return call && call->op == Intrinsic::kIfThenElse;
}

Args MakeDecomposePadding(StepContext& c) {
  auto block = c.Block();
  for (int i = 0; i < 8 && block; ++i) {
    const BlockNode* node = c.Find(*block);
    if (node && Chooses(*node)) break;
    block = c.Block();
  }
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty()) return std::nullopt;
  return std::vector<Arg>{*block, c.OneOf(loops)};
}

// A nest of few loops, mostly.
Args MakeBlockize(StepContext& c) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  if (loops.empty()) return std::nullopt;
  const auto n = static_cast<int64_t>(loops.size());
  const int64_t inner = std::min(n, c.Between(1, 3));
  const Rv loop = c.Chance(70) ? loops[n - inner] : c.OneOf(loops);
  return std::vector<Arg>{loop, c.Chance(50)};
}

}  // namespace

std::vector<StepRow> RewriteSteps() {
  return {
      {"rfactor", 8, MakeRfactor},
      {"reindex", 5, MakeReindex},
      {"reindex_cache_read", 2, MakeReindexCacheRead},
      {"reindex_cache_write", 2, MakeReindexCacheWrite},
      {"transform_block_layout", 6, MakeTransformBlockLayout},
      {"pad_einsum", 4, MakePadEinsum},
      {"storage_align", 3, MakeStorageAlign},
      {"decompose_padding", 4, MakeDecomposePadding},
      {"blockize", 3, MakeBlockize},
  };
}

}  // namespace kiln
