// Steps on blocks and tensors: movement, caches, layouts, notes, look-ups.
#include <algorithm>
#include <memory>

#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/rewrite/index_map.h"
#include "kiln/schedule/testing/random_step.h"

namespace kiln {
namespace {

using Args = std::optional<std::vector<Arg>>;

std::string Scope(StepContext& c) {
  static const auto* scopes = new std::vector<std::string>{
      "global", "global", "global", "local", "shared"};
  return c.Chance(3) ? "attic" : c.OneOf(*scopes);
}

// The number of a buffer among `n`, or now and then one too many.
int64_t Index(StepContext& c, size_t n) {
  if (n == 0 || c.Chance(3)) return static_cast<int64_t>(n);
  return c.Between(0, static_cast<int64_t>(n) - 1);
}

Args MakeDecompose(StepContext& c) {
  auto block = c.Block();
  // Most blocks reduce nothing.
  for (int i = 0; i < 3 && block; ++i) {
    const BlockNode* node = c.Find(*block);
    if (node && node->init) break;
    block = c.Block();
  }
  if (!block) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*block);
  const auto loop = loops.empty() || c.Chance(5)
                        ? c.Loop()
                        : std::optional<Rv>(c.OneOf(loops));
  if (!loop) return std::nullopt;
  return std::vector<Arg>{*block, *loop};
}

Args MakeCache(StepContext& c, bool read) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  ArgList consumers;
  if (c.Chance(20)) {
    const auto consumer = read ? block : c.Neighbour(*block, false);
    if (consumer) consumers.push_back(*consumer);
  }
  const size_t n = (read ? node->reads : node->writes).size();
  return std::vector<Arg>{*block, Index(c, n), Scope(c), consumers};
}
Args MakeCacheRead(StepContext& c) { return MakeCache(c, true); }
Args MakeCacheWrite(StepContext& c) { return MakeCache(c, false); }

// Of a block that changes a tensor in place, where one is met.
Args MakeCacheInplace(StepContext& c) {
  for (int i = 0; i < 4; ++i) {
    const auto block = c.Block();
    const BlockNode* node = block ? c.Find(*block) : nullptr;
    if (!node) continue;
    for (size_t r = 0; r < node->reads.size(); ++r) {
      const bool in_place =
          std::any_of(node->writes.begin(), node->writes.end(),
                      [&](const BufferRegion& write) {
                        return write.buffer == node->reads[r].buffer;
                      });
      if (in_place || c.Chance(5)) {
        return std::vector<Arg>{*block, static_cast<int64_t>(r), Scope(c)};
      }
    }
  }
  return std::nullopt;
}

// Under a loop of a block at the other end of a tensor.
Args MakeMove(StepContext& c, bool reverse) {
  const auto block = c.Block();
  if (!block) return std::nullopt;
  if (!reverse && c.Chance(15)) {
    const auto place = c.Apply("sample_compute_location", {*block});
    if (!place) return std::nullopt;
    return std::vector<Arg>{*block, (*place)[0]};
  }
  const auto other = c.Neighbour(*block, /*producer=*/reverse);
  if (!other) return std::nullopt;
  const std::vector<Rv> loops = c.Loops(*other);
  if (loops.empty()) return std::nullopt;
  const Rv loop = c.Chance(5) ? c.Loop().value_or(loops[0]) : c.OneOf(loops);
  const int64_t index = c.Chance(80) ? -1 : c.Between(-3, 2);
  return std::vector<Arg>{*block, loop, c.Chance(20), index};
}
Args MakeComputeAt(StepContext& c) { return MakeMove(c, false); }
Args MakeReverseComputeAt(StepContext& c) { return MakeMove(c, true); }

Args MakeBlockArg(StepContext& c) {
  auto block = c.Block();
  if (c.Chance(10)) block = c.Stale(RvKind::kBlock);
  if (!block) return std::nullopt;
  return std::vector<Arg>{*block};
}

Args MakeTransformLayout(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const bool write = c.Chance(60);
  const auto& regions = write ? node->writes : node->reads;
  const int64_t index = Index(c, regions.size());
  if (regions.empty()) return std::nullopt;
  const Buffer& buffer =
      regions[std::min<int64_t>(index, std::ssize(regions) - 1)].buffer;
  Arg pad;
  if (c.Chance(50)) {
    pad = buffer->dtype.is_float() && c.Chance(50) ? Arg(0.5) : Arg(3);
  }
  return std::vector<Arg>{*block, ArgList{write ? "write" : "read", index},
                          RandomMap(c, buffer->shape), pad, c.Chance(10)};
}

Args MakeSetScope(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  return std::vector<Arg>{*block, Index(c, node->writes.size()), Scope(c)};
}

// A type that holds every value of `dtype`: results stay as they are.
DType Wider(DType dtype) {
  if (dtype.is_float()) return DType::Float(64);
  if (dtype.is_uint() && dtype.bits() == 64) return dtype;
  return dtype.is_integral() ? DType::Int(64) : dtype;
}

Args MakeSetDtype(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const int64_t index = Index(c, node->writes.size());
  const bool exists = 0 <= index && index < std::ssize(node->writes);
  const std::string dtype =
      exists && c.Chance(95)
          ? Wider(node->writes[index].buffer->dtype).ToString()
          : "float31";
  return std::vector<Arg>{*block, index, dtype};
}

// Of a tensor that is wider than its readers want it, mostly.
Args MakeHoistCast(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  const int64_t index = Index(c, node->writes.size());
  if (0 <= index && index < std::ssize(node->writes) && c.Chance(80)) {
    const DType dtype = Wider(node->writes[index].buffer->dtype);
    c.Apply("unsafe_set_dtype", {*block, index, dtype.ToString()});
  }
  return std::vector<Arg>{*block, index};
}

Args MakeReorderBlockIterVar(StepContext& c) {
  const auto block = c.Block();
  const BlockNode* node = block ? c.Find(*block) : nullptr;
  if (!node) return std::nullopt;
  ArgList order;
  for (int64_t i = 0; i < std::ssize(node->iters); ++i) {
    order.insert(order.begin() + c.Between(0, std::ssize(order)), i);
  }
  if (c.Chance(5)) order.push_back(c.Between(-1, 3));
  return std::vector<Arg>{*block, order};
}

Args MakeAnnotate(StepContext& c) {
  const auto block = c.Chance(60) ? c.Named("root") : c.Block();
  const auto place = c.Chance(60) ? block : c.Loop();
  if (!place) return std::nullopt;
  switch (c.Between(0, 4)) {
    case 0:
      return std::vector<Arg>{*place, "pragma_unroll_explicit", 1};
    case 1:
      return std::vector<Arg>{*place, "test.note", ArgList{1, "two", 3.5}};
    default:
      return std::vector<Arg>{*place, "pragma_auto_unroll_max_step",
                              c.Between(0, 3) * 16};
  }
}

// Something that has annotations, where one is met.
Args MakeUnannotate(StepContext& c) {
  for (int i = 0; i < 4; ++i) {
    const auto block = i == 0 ? c.Named("root") : c.Block();
    const BlockNode* node = block ? c.Find(*block) : nullptr;
    if (node && !node->annotations.empty()) {
      return std::vector<Arg>{*block, node->annotations.begin()->first};
    }
    const auto loop = c.Loop();
    const ForNode* at = loop ? c.FindLoopNode(*loop) : nullptr;
    if (at && !at->annotations.empty()) {
      return std::vector<Arg>{*loop, at->annotations.begin()->first};
    }
  }
  const auto place = c.Loop();
  if (!place) return std::nullopt;
  return std::vector<Arg>{*place, "test.note"};
}

Args MakePostproc(StepContext&) { return std::vector<Arg>{}; }

Args MakeGetBlock(StepContext& c) {
  if (c.Chance(30)) return std::vector<Arg>{"no_such_block"};
  std::vector<std::string> names;
  Visit(c.function().body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (realize) names.push_back(realize->block->name);
    return true;
  });
  return std::vector<Arg>{c.OneOf(names), c.Chance(95) ? "main" : "other"};
}

Args MakeChildBlocks(StepContext& c) {
  const auto place = c.Chance(30)   ? c.Named("root")
                     : c.Chance(40) ? c.Block()
                     : c.Chance(70) ? c.Loop()
                                    : c.Stale(RvKind::kLoop);
  if (!place) return std::nullopt;
  return std::vector<Arg>{*place};
}

Args MakeOutputBlocks(StepContext& c) {
  const auto place = c.Chance(60)   ? c.Named("root")
                     : c.Chance(50) ? c.Block()
                                    : c.Stale(RvKind::kBlock);
  if (!place) return std::nullopt;
  return std::vector<Arg>{*place};
}

}  // namespace

std::shared_ptr<const IndexMapArg> RandomMap(StepContext& c,
                                             const std::vector<Expr>& shape) {
  IndexMap map;
  std::vector<Expr> parts;
  for (size_t d = 0; d < shape.size(); ++d) {
    const Var i("i" + std::to_string(d));
    map.inputs.push_back(i);
    Expr e = i;
    if (c.Chance(10)) e = Add(e, Int(c.Between(c.Chance(10) ? -1 : 0, 3)));
    if (c.Chance(40)) {
      const Expr factor = Int(c.Between(1, 5));
      parts.push_back(FloorDiv(e, factor));
      e = FloorMod(e, factor);
      if (c.Chance(3)) continue;  // two indices share a place: refused
    }
    parts.push_back(e);
  }
  for (size_t i = parts.size(); i > 1; --i) {
    if (c.Chance(60)) {
      std::swap(parts[i - 1], parts[c.Between(0, static_cast<int64_t>(i) - 1)]);
    }
  }
  if (map.inputs.size() == 2 && parts.size() == 2 && c.Chance(15)) {
    parts = {Add(Mul(map.inputs[0], shape[1]), map.inputs[1])};
  }
  map.outputs = std::move(parts);
  return std::make_shared<const IndexMapArg>(IndexMapArg{std::move(map), {}});
}

std::vector<StepRow> BlockSteps() {
  return {
      {"decompose_reduction", 8, MakeDecompose},
      {"cache_read", 8, MakeCacheRead},
      {"cache_write", 8, MakeCacheWrite},
      {"cache_inplace", 4, MakeCacheInplace},
      {"compute_at", 14, MakeComputeAt},
      {"reverse_compute_at", 14, MakeReverseComputeAt},
      {"compute_inline", 6, MakeBlockArg},
      {"reverse_compute_inline", 6, MakeBlockArg},
      {"transform_layout", 8, MakeTransformLayout},
      {"set_scope", 3, MakeSetScope},
      {"unsafe_set_dtype", 2, MakeSetDtype},
      {"hoist_cast", 3, MakeHoistCast},
      {"reorder_block_iter_var", 1, MakeReorderBlockIterVar},
      {"annotate", 5, MakeAnnotate},
      {"unannotate", 3, MakeUnannotate},
      {"enter_postproc", 1, MakePostproc},
      {"get_block", 2, MakeGetBlock},
      {"get_loops", 2, MakeBlockArg},
      {"get_child_blocks", 2, MakeChildBlocks},
      {"get_producers", 4, MakeBlockArg},
      {"get_consumers", 4, MakeBlockArg},
      {"get_output_blocks", 3, MakeOutputBlocks},
      {"sample_compute_location", 2, MakeBlockArg},
  };
}

}  // namespace kiln
