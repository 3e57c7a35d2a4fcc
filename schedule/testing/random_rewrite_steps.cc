// Steps that put other blocks in the place of one: parts of reductions, other
// iterators, padding.
#include <algorithm>
#include <memory>

#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/arith/stride.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/testing/random_step.h"

namespace kiln {
namespace {

using Args = std::optional<std::vector<Arg>>;

// Whether `e` can stand in a lambda: numbers, the variables given, and the
// operators of index maps.
bool IsIndexArithmetic(const Expr& e, const std::vector<Var>& inputs) {
  bool plain = true;
  Visit(e, [&](const Expr& x) {
    const auto* binary = x.As<BinaryNode>();
    const auto* var = x.As<VarNode>();
    const bool known =
        var ? std::any_of(inputs.begin(), inputs.end(),
                          [&](const Var& input) { return input.get() == var; })
            : x.As<IntImmNode>() ||
                  (binary && (binary->kind == ExprKind::kAdd ||
                              binary->kind == ExprKind::kSub ||
                              binary->kind == ExprKind::kMul ||
                              binary->kind == ExprKind::kFloorDiv ||
                              binary->kind == ExprKind::kFloorMod));
    plain = plain && known;
    return plain;
  });
  return plain;
}

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

// The region of a tensor that a block reads, made wider or narrower a little.
Args MakeAnnotateAccess(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node || node->reads.empty() || node->iters.empty()) return std::nullopt;
  const bool write = !node->writes.empty() && c.Chance(10);
  const auto& regions = write ? node->writes : node->reads;
  const int64_t index = c.Between(0, std::ssize(regions) - 1);
  IndexMapArg map;
  map.pairs = true;
  VarMap inputs;
  for (const IterVar& iter : node->iters) {
    map.map.inputs.emplace_back(iter.var.name());
    inputs[iter.var.get()] = map.map.inputs.back();
  }
  for (const Range& range : regions[index].region) {
    const Expr begin = Substitute(range.min, inputs);
    const Expr end = Add(begin, Substitute(range.extent, inputs));
    map.map.outputs.push_back(c.Chance(70) ? begin
                                           : Sub(begin, Int(c.Between(-1, 2))));
    map.map.outputs.push_back(c.Chance(70) ? end
                                           : Add(end, Int(c.Between(-1, 2))));
  }
  if (map.map.outputs.empty()) return std::nullopt;
  for (const Expr& e : map.map.outputs) {
    if (!IsIndexArithmetic(e, map.map.inputs)) return std::nullopt;
  }
  return std::vector<Arg>{*block, index, write ? "write" : "read",
                          std::make_shared<const IndexMapArg>(std::move(map))};
}

// A tensor that a block reads through a window, as a convolution does, and the
// spatial iterators that move the window.
struct Window {
  Rv reader;
  int64_t index = 0;  // of the region
  std::vector<Var> movers;
};

// How far `e` moves with each step of the iterator; 0 where that varies.
int64_t ConstantStep(const Expr& e, const Var& iter) {
  Analyzer analyzer;
  return StrideOf(e, iter, &analyzer).value_or(0);
}

// The spatial iterators of `block` that move `range` by less than a reduce
// iterator does.
std::vector<Var> MoversOf(const BlockNode& block, const Range& range) {
  int64_t width = 0;
  for (const IterVar& iter : block.iters) {
    const int64_t* extent = AsInt(iter.domain.extent);
    if (iter.type != IterType::kReduce || !extent) continue;
    width = std::max(width, (*extent - 1) * ConstantStep(range.min, iter.var));
  }
  std::vector<Var> movers;
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kSpatial || IsOne(iter.domain.extent)) continue;
    const int64_t step = ConstantStep(range.min, iter.var);
    if (step > 0 && step <= width) movers.push_back(iter.var);
  }
  return movers;
}

std::optional<Window> DrawWindow(StepContext& c) {
  for (int i = 0; i < 12; ++i) {
    const auto reader = c.Block();
    const BlockNode* node = reader ? c.Find(*reader) : nullptr;
    if (!node) continue;
    for (int64_t r = 0; r < std::ssize(node->reads); ++r) {
      for (const Range& range : node->reads[r].region) {
        std::vector<Var> movers = MoversOf(*node, range);
        if (!movers.empty()) return Window{*reader, r, std::move(movers)};
      }
    }
  }
  return std::nullopt;
}

// The only block that writes what the window is over; a copy where none does.
std::optional<Rv> ProducerOf(StepContext& c, const Window& window) {
  const Buffer buffer = c.Find(window.reader)->reads[window.index].buffer;
  std::vector<std::string> names;
  ForEachBlockDeep(c.function().body, [&](const BlockRealizeNode& realize) {
    if (WritesBuffer(*realize.block, buffer)) {
      names.push_back(realize.block->name);
    }
  });
  if (names.size() == 1) return c.Named(names[0]);
  if (!names.empty()) return std::nullopt;
  const auto copy =
      c.Apply("cache_read", {window.reader, window.index, "global", ArgList{}});
  if (!copy) return std::nullopt;
  return (*copy)[0];
}

// A loop that moves the window.
std::optional<Rv> MovingLoop(StepContext& c, const Window& window) {
  std::vector<Rv> moving;
  for (const Rv& loop : c.Loops(window.reader)) {
    const ForNode* at = c.FindLoopNode(loop);
    const BlockRealizeNode* reader =
        at ? c.FindRealize(window.reader) : nullptr;
    if (!reader || IsOne(at->extent)) continue;
    for (size_t i = 0; i < reader->values.size(); ++i) {
      const Var& iter = reader->block->iters[i].var;
      if (UsesVar(reader->values[i], at->var) &&
          std::count(window.movers.begin(), window.movers.end(), iter) > 0) {
        moving.push_back(loop);
        break;
      }
    }
  }
  if (moving.empty()) return std::nullopt;
  return c.OneOf(moving);
}

// Windows that overlap from one iteration to the next: what they are over is
// computed where they move.
Args RollWindow(StepContext& c) {
  const auto window = DrawWindow(c);
  if (!window) return std::nullopt;
  const auto producer = ProducerOf(c, *window);
  if (!producer) return std::nullopt;
  const auto loop = MovingLoop(c, *window);
  if (!loop) return std::nullopt;
  const auto moved = c.Apply("compute_at", {*producer, *loop, false, -1});
  if (!moved && c.Chance(90)) return std::nullopt;
  return std::vector<Arg>{*producer, 0};
}

// Of a block that others in the same nest read, where one is met.
Args MakeRollingBuffer(StepContext& c) {
  if (c.Chance(80)) return RollWindow(c);
  for (int i = 0; i < 4; ++i) {
    const auto block = c.Block();
    const auto reader = block ? c.Neighbour(*block, false) : std::nullopt;
    if (!reader) continue;
    const std::vector<Rv> a = c.Loops(*block), b = c.Loops(*reader);
    const bool shares = !a.empty() && !b.empty() && a[0] == b[0];
    if (shares || c.Chance(3)) {
      return std::vector<Arg>{*block, c.Chance(95) ? 0 : 1};
    }
  }
  return std::nullopt;
}

Args MakeHideAccess(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const bool write = c.Chance(30);
  const auto n = std::ssize(write ? node->writes : node->reads);
  ArgList indices;
  for (int64_t i = 0; i <= n; ++i) {
    if (c.Chance(i < n ? 40 : 5)) indices.push_back(i);
  }
  return std::vector<Arg>{*block, write ? "write" : "read", indices};
}

Args MakePadding(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  ArgList padding;
  for (size_t i = 0; i < node->iters.size(); ++i) {
    padding.push_back(c.Chance(60) ? 1 : c.Between(c.Chance(3) ? 0 : 1, 5));
  }
  return std::vector<Arg>{*block, padding};
}

// Iterators of even extents, the last a reduction, where there are some.
Args MakeStrassen(StepContext& c) {
  const auto block = Reduction(c);
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node || node->iters.size() < 3) return std::nullopt;
  std::vector<int64_t> spatial, reduce;
  for (size_t i = 0; i < node->iters.size(); ++i) {
    const int64_t* extent = AsInt(node->iters[i].domain.extent);
    if ((!extent || *extent % 2) && c.Chance(95)) continue;
    const bool sums = node->iters[i].type == IterType::kReduce;
    (sums ? reduce : spatial).push_back(static_cast<int64_t>(i));
  }
  if (spatial.size() < 2 || reduce.empty()) return std::nullopt;
  const int64_t row = c.OneOf(spatial);
  if (c.Chance(95)) std::erase(spatial, row);
  return std::vector<Arg>{*block,
                          ArgList{row, c.OneOf(spatial), c.OneOf(reduce)}};
}

Args MakeOffsetOperand(StepContext& c) {
  const auto block = Reduction(c);
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const auto n = std::ssize(node->reads);
  return std::vector<Arg>{*block, c.Between(c.Chance(3) ? -1 : 0, n)};
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
      {"rolling_buffer", 8, MakeRollingBuffer},
      {"unsafe_hide_buffer_access", 1, MakeHideAccess},
      {"annotate_buffer_access", 3, MakeAnnotateAccess},
      {"pad_domain", 3, MakePadding},
      {"pad_einsum", 4, MakePadding},
      {"offset_operand", 40, MakeOffsetOperand},
      {"strassen", 20, MakeStrassen},
      {"storage_align", 3, MakeStorageAlign},
      {"decompose_padding", 4, MakeDecomposePadding},
      {"blockize", 3, MakeBlockize},
  };
}

}  // namespace kiln
