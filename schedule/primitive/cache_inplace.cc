// The cache holds what the tensor holds before the block runs, element by
// element, so that the copy back changes nothing but what the block changed.
#include "kiln/schedule/primitive/cache_inplace.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/cache_copy.h"
#include "kiln/schedule/rewrite/cache_written.h"
#include "kiln/schedule/rewrite/inlining.h"
#include "kiln/schedule/rewrite/storage_scope.h"

namespace kiln {
namespace {

constexpr char kName[] = "cache_inplace";

absl::StatusOr<BufferRegion> ReadRegion(const BlockNode& block, int index) {
  if (index < 0 || index >= static_cast<int>(block.reads.size())) {
    return BadArgument(
        kName, absl::StrCat(Describe(block), " reads ", block.reads.size(),
                            " tensors, so that there is no number ", index));
  }
  return block.reads[index];
}

// What the copy back moves. Its elements have to come from the copy before.
absl::StatusOr<BufferRegion> WrittenRegion(const BlockNode& block,
                                           const BufferRegion& read) {
  const auto of_buffer = [&](const BufferRegion& write) {
    return write.buffer == read.buffer;
  };
  const auto& writes = block.writes;
  const auto write = std::find_if(writes.begin(), writes.end(), of_buffer);
  if (write == writes.end()) {
    return Refusal(kName,
                   absl::StrCat(Describe(block), " does not write `",
                                read.buffer->name, "`, which it reads"),
                   "use cache_read");
  }
  if (std::count_if(writes.begin(), writes.end(), of_buffer) > 1) {
    return Refusal(kName,
                   absl::StrCat(Describe(block),
                                " states more than one "
                                "region of `",
                                read.buffer->name, "` that it writes"),
                   "state one that holds them");
  }
  Analyzer analyzer;
  for (const IterVar& iter : block.iters) analyzer.Bind(iter.var, iter.domain);
  for (size_t i = 0; i < read.region.size(); ++i) {
    const Range &inner = write->region[i], &outer = read.region[i];
    if (analyzer.CanProveLessEqual(outer.min, inner.min) &&
        analyzer.CanProveLessEqual(Add(inner.min, inner.extent),
                                   Add(outer.min, outer.extent))) {
      continue;
    }
    return Refusal(kName, absl::StrCat(Describe(block), " may write more of `",
                                       read.buffer->name, "` than it reads"));
  }
  return *write;
}

absl::Status CheckLoops(const std::vector<const ForNode*>& loops) {
  for (const ForNode* loop : loops) {
    if (loop->for_kind == ForKind::kSerial ||
        loop->for_kind == ForKind::kUnrolled) {
      continue;
    }
    return Refusal(kName,
                   absl::StrCat("iterations of ", Describe(*loop),
                                " run at once and would share the cache"),
                   "choose the kind of the loop afterwards");
  }
  return absl::OkStatus();
}

// Whether the block runs, and where, is not for the tensor itself to say.
absl::Status CheckPlace(const BlockRealizeNode& realize, const Buffer& buffer) {
  bool loads = LoadsFrom(realize.predicate, buffer);
  for (const Expr& value : realize.values) {
    loads = loads || LoadsFrom(value, buffer);
  }
  if (!loads) return absl::OkStatus();
  return Refusal(kName, absl::StrCat("bindings of ", Describe(*realize.block),
                                     " load from `", buffer->name, "`"));
}

// The region in terms of the loops around the block.
absl::StatusOr<std::vector<Range>> BoxOf(const Path& path,
                                         const BufferRegion& region,
                                         Analyzer* analyzer) {
  const BlockRealizeNode& realize = *path.realize();
  VarMap map;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    map[realize.block->iters[i].var.get()] = realize.values[i];
  }
  for (const IterVar& iter : path.scope()->block->iters) {
    analyzer->Bind(iter.var, iter.domain);
  }
  for (const ForNode* loop : LoopsAbove(path)) {
    analyzer->Bind(loop->var, {loop->min, loop->extent});
  }
  const auto held = analyzer->Assume(realize.predicate);
  std::vector<Range> box;
  for (size_t i = 0; i < region.region.size(); ++i) {
    const Range range = MapRange(region.region[i], [&](const Expr& e) {
      return analyzer->Simplify(Substitute(e, map));
    });
    if (!analyzer->CanProveLessEqual(Int(0), range.min) ||
        !analyzer->CanProveLessEqual(Add(range.min, range.extent),
                                     region.buffer->shape[i])) {
      return Refusal(kName, absl::StrCat("the box of `", region.buffer->name,
                                         "` may reach beyond the tensor"));
    }
    box.push_back(range);
  }
  const auto is_written = [&](const Buffer& buffer) {
    return WritesBuffer(*realize.block, buffer);
  };
  if (Reason reason = WhyBoxMoves(box, is_written)) {
    return Refusal(kName, *reason);
  }
  return box;
}

}  // namespace

absl::StatusOr<CacheInplaceResult> CacheInplace(const Function& f, BlockId id,
                                                int index,
                                                const std::string& memory) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlockThatRuns(f, id, kName));
  KILN_RETURN_IF_ERROR(CheckStorageScope(memory, kName));
  if (!path.scope()) {
    return Refusal(kName, "the root block has no enclosing block",
                   "name a block inside of it");
  }
  const BlockRealizeNode& realize = *path.realize();
  KILN_ASSIGN_OR_RETURN(const BufferRegion region,
                        ReadRegion(*realize.block, index));
  KILN_ASSIGN_OR_RETURN(const BufferRegion written,
                        WrittenRegion(*realize.block, region));
  KILN_RETURN_IF_ERROR(CheckPlace(realize, region.buffer));
  KILN_RETURN_IF_ERROR(CheckLoops(LoopsAbove(path)));
  KILN_RETURN_IF_ERROR(CheckHeld(f, path, region.buffer, kName));
  Analyzer analyzer;
  CacheCopy copy;
  KILN_ASSIGN_OR_RETURN(copy.box, BoxOf(path, region, &analyzer));
  copy.cache = MakeCacheBuffer(region.buffer, memory, region.buffer->shape);
  if (!IsOne(realize.predicate)) copy.loops_run.push_back(realize.predicate);

  CacheInplaceResult result{f, 0, 0};
  Function& g = result.function;
  const auto around = [&] {
    Analyzer known;
    for (const ForNode* loop : LoopsAbove(path)) {
      known.Bind(loop->var, {loop->min, loop->extent});
    }
    return known;
  };
  const Stmt in =
      MakeCopy(region.buffer, copy, true, around, &g, &result.copy_in);
  CacheCopy back = copy;
  KILN_ASSIGN_OR_RETURN(back.box, BoxOf(path, written, &analyzer));
  const Stmt out =
      MakeCopy(region.buffer, back, false, around, &g, &result.copy_out);
  const Stmt block =
      RedirectBlocks(path.back(), {id}, region.buffer, copy, true);
  const size_t at = path.ScopeIndex();
  const Stmt staged =
      ReplaceAt(path.Part(at, path.size() - at), MakeSeq({in, block, out}));
  const auto& scope = *staged.As<BlockRealizeNode>();
  BlockFields fields = scope.block->fields();
  fields.alloc_buffers.push_back(copy.cache);
  g.body = ReplaceAt(path.Prefix(at + 1), WithBlock(scope, std::move(fields)));
  return result;
}

}  // namespace kiln
