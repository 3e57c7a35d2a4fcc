// The copy goes where its source is complete and nobody has read it yet: in the
// innermost sequence that holds the writer and one of the readers, before that
// reader. Loops around that sequence bound what one copy has to move.
#include "kiln/schedule/primitive/cache.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/cover.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"
#include "kiln/schedule/rewrite/cache_copy.h"
#include "kiln/schedule/rewrite/cache_written.h"
#include "kiln/schedule/rewrite/read_box.h"
#include "kiln/schedule/rewrite/storage_scope.h"

namespace kiln {
namespace {

// One call.
struct Staging {
  std::string_view primitive;
  Path block;
  Path scope;     // ends in the enclosing block
  Buffer buffer;  // the tensor to stage
  const BlockNode& scope_block() const { return *scope.realize()->block; }
};

// Where the copy goes: into the sequence that is the body of `parent` (a loop
// or the enclosing block), before its child `position`.
struct Place {
  Stmt parent;
  size_t depth = 0;  // loops between the enclosing block and the sequence
  int position = 0;
};

// A copy at its place.
struct Plan {
  Place place;
  CacheCopy copy;
};

std::vector<Stmt> StmtsOf(const Stmt& body) {
  const auto* seq = body.As<SeqNode>();
  return seq ? seq->stmts : std::vector<Stmt>{body};
}

bool HoldsBlock(const Stmt& s, const std::vector<BlockId>& ids) {
  bool found = false;
  ForEachBlock(s, [&](const BlockRealizeNode& realize) {
    found = found || std::count(ids.begin(), ids.end(), realize.block->id) > 0;
  });
  return found;
}

// Descends from `parent` into the loop that holds both, as long as there is
// one.
Place FindPlace(Stmt parent, const Stmt& body, size_t depth, BlockId source,
                const std::vector<BlockId>& readers) {
  const std::vector<Stmt> stmts = StmtsOf(body);
  for (const Stmt& s : stmts) {
    const auto* loop = s.As<ForNode>();
    if (loop && HoldsBlock(s, {source}) && HoldsBlock(s, readers)) {
      return FindPlace(s, loop->body, depth + 1, source, readers);
    }
  }
  Place place{std::move(parent), depth, static_cast<int>(stmts.size())};
  bool seen_source = false;
  for (size_t i = 0; i < stmts.size(); ++i) {
    if (seen_source && HoldsBlock(stmts[i], readers)) {
      place.position = static_cast<int>(i);
      break;
    }
    seen_source = seen_source || HoldsBlock(stmts[i], {source});
  }
  return place;
}

// Whether the enclosing block states a region such as X[I[v]] by the tensor: a
// block inside that reads a copy would name another place.
bool IsInRegions(const Staging& staging) {
  const BlockNode& scope = staging.scope_block();
  const auto names = [&](const BufferRegion& region) {
    return std::any_of(region.region.begin(), region.region.end(),
                       [&](const Range& range) {
                         return LoadsFrom(range.min, staging.buffer) ||
                                LoadsFrom(range.extent, staging.buffer);
                       });
  };
  return std::any_of(scope.reads.begin(), scope.reads.end(), names) ||
         std::any_of(scope.writes.begin(), scope.writes.end(), names);
}

absl::StatusOr<Staging> Prepare(const Function& f, BlockId id, int index,
                                const std::string& scope, bool is_read,
                                std::string_view primitive) {
  Staging staging{primitive, {}, {}, nullptr};
  KILN_ASSIGN_OR_RETURN(staging.block, RequireBlockThatRuns(f, id, primitive));
  KILN_RETURN_IF_ERROR(CheckStorageScope(scope, primitive));
  if (!staging.block.scope()) {
    return Refusal(primitive, "the root block has no enclosing block",
                   "name a block inside of it");
  }
  const BlockNode& block = *staging.block.realize()->block;
  const auto& regions = is_read ? block.reads : block.writes;
  if (index < 0 || index >= static_cast<int>(regions.size())) {
    return BadArgument(
        primitive,
        absl::StrCat(Describe(block), is_read ? " reads " : " writes ",
                     regions.size(), " tensors, so that there is no number ",
                     index));
  }
  staging.buffer = regions[index].buffer;
  staging.scope = staging.block.Prefix(staging.block.ScopeIndex() + 1);
  if (staging.scope.scope() && IsInRegions(staging)) {
    return Refusal(primitive, absl::StrCat("the regions of ",
                                           Describe(staging.scope_block()),
                                           ", around it, depend on what `",
                                           staging.buffer->name, "` holds"));
  }
  return staging;
}

bool IsWhole(const Buffer& buffer, const std::vector<Range>& box) {
  Analyzer analyzer;
  for (size_t i = 0; i < box.size(); ++i) {
    if (!IsZero(box[i].min) ||
        !analyzer.CanProveEqual(box[i].extent, buffer->shape[i])) {
      return false;
    }
  }
  return true;
}

// A box at the level of the enclosing block gets a buffer of its own size when
// nobody outside of it looks; inside of loops, and where the box may reach
// beyond the tensor (halos do), indices stay as they are.
CacheCopy MakePlan(const Staging& staging, const Place& place,
                   std::vector<Range> box, const std::string& scope) {
  CacheCopy copy;
  copy.is_whole = place.depth > 0 || IsWhole(staging.buffer, box) ||
                  !IsWithinTensor(staging.scope_block(), staging.buffer, box);
  std::vector<Expr> shape = staging.buffer->shape;
  if (!copy.is_whole) {
    for (size_t i = 0; i < box.size(); ++i) shape[i] = box[i].extent;
  }
  copy.box = std::move(box);
  copy.cache = MakeCacheBuffer(staging.buffer, scope, std::move(shape));
  return copy;
}

// The enclosing block with `copy` at its place and the new buffer.
BlockFields InsertCopy(const BlockNode& scope, const Place& place,
                       const Stmt& copy, const Buffer& cache) {
  auto insert = [&](const Stmt& body) {
    std::vector<Stmt> stmts = StmtsOf(body);
    stmts.insert(stmts.begin() + place.position, copy);
    return MakeSeq(std::move(stmts));
  };
  BlockFields fields = scope.fields();
  if (place.depth == 0) {
    fields.body = insert(scope.body);
  } else {
    fields.body = Rewrite(scope.body, [&](const Stmt& s) -> Stmt {
      if (s.As<BlockRealizeNode>()) return s;
      if (s != place.parent) return nullptr;
      ForFields loop = s.As<ForNode>()->fields();
      loop.body = insert(loop.body);
      return MakeFor(std::move(loop));
    });
  }
  fields.alloc_buffers.push_back(cache);
  return fields;
}

absl::Status CheckOneWriter(const Staging& staging, const Scope& scope,
                            const std::vector<int>& writers) {
  if (writers.size() < 2) return absl::OkStatus();
  return Refusal(
      staging.primitive,
      absl::StrCat(staging.buffer->name, " is written by ",
                   Describe(scope.blocks[writers[0]].block()), " and by ",
                   Describe(scope.blocks[writers[1]].block()),
                   "; one writer is wanted"));
}

// The blocks around a consumer further inside would go on to say that they read
// the tensor.
absl::Status CheckConsumers(const Staging& staging, const Scope& scope,
                            const std::vector<BlockId>& consumers) {
  for (BlockId consumer : consumers) {
    if (scope.IndexOf(consumer) >= 0) continue;
    return Refusal(staging.primitive,
                   absl::StrCat("a consumer stands not directly in ",
                                Describe(staging.scope_block())),
                   "name the block around it");
  }
  return absl::OkStatus();
}

// The copy is none of what a consumer goes on to write itself.
absl::Status CheckOnlyRead(const Staging& staging, const Scope& scope,
                           const std::vector<int>& writers,
                           const std::vector<BlockId>& consumers) {
  for (BlockId consumer : consumers) {
    const int index = scope.IndexOf(consumer);
    if (std::count(writers.begin(), writers.end(), index) == 0) continue;
    return Refusal(staging.primitive,
                   absl::StrCat(Describe(scope.blocks[index].block()),
                                " writes `", staging.buffer->name, "` itself"));
  }
  return absl::OkStatus();
}

// A block that adds to what others left there would add to an empty cache; so
// would a sum that began before the enclosing block.
absl::Status CheckWritesAnew(const Staging& staging) {
  const BlockRealizeNode& realize = *staging.block.realize();
  const BlockNode& block = *realize.block;
  if (block.init) {
    Reason reason = WhyInitNotFirst(realize, LoopsAbove(staging.block));
    return reason ? Refusal(staging.primitive, *reason) : absl::OkStatus();
  }
  if (!ReadsBuffer(block, staging.buffer)) return absl::OkStatus();
  return Refusal(staging.primitive,
                 absl::StrCat(Describe(block), " reads what was in `",
                              staging.buffer->name, "` before it"),
                 "stage the tensor before its reduction is taken apart");
}

// Whether all of `readers` (some) run before the writer for the last time, so
// that they see what the tensor holds at the start.
bool AllPrecede(const Scope& scope, const std::vector<BlockId>& readers,
                int writer) {
  for (BlockId id : readers) {
    const int reader = scope.IndexOf(id);
    if (reader < 0 || reader >= writer) return false;
    const auto& a = scope.blocks[reader].loops;
    const auto& b = scope.blocks[writer].loops;
    for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
      if (!IsOne(a[i]->extent)) return false;
    }
  }
  return !readers.empty();
}

// `redirected` will read the cache, others the tensor as before: those keep
// what they see where they all run before the writer, if `others_stay`.
absl::Status CheckReadersFollow(const Staging& staging, const Scope& scope,
                                int writer,
                                const std::vector<BlockId>& redirected,
                                bool others_stay) {
  for (int reader : scope.Readers(staging.buffer)) {
    const BlockId id = scope.blocks[reader].block().id;
    const bool stays =
        others_stay && AllPrecede(scope, {id}, writer) &&
        std::count(redirected.begin(), redirected.end(), id) == 0;
    if (reader >= writer || stays) continue;
    return Refusal(
        staging.primitive,
        absl::StrCat(Describe(scope.blocks[reader].block()), " reads ",
                     staging.buffer->name, " before ",
                     Describe(scope.blocks[writer].block()), " writes it"));
  }
  return absl::OkStatus();
}

std::vector<BlockId> Ids(const Scope& scope, const std::vector<int>& blocks,
                         int without) {
  std::vector<BlockId> ids;
  for (int block : blocks) {
    if (block != without) ids.push_back(scope.blocks[block].block().id);
  }
  return ids;
}

std::vector<BlockId> Without(std::vector<BlockId> ids,
                             const std::vector<BlockId>& others) {
  for (BlockId other : others) {
    ids.erase(std::remove(ids.begin(), ids.end(), other), ids.end());
  }
  return ids;
}

CacheResult Finish(const Staging& staging, Function f, Block scope,
                   BlockId copy_id) {
  Stmt realize = WithBlock(*staging.scope.realize(), std::move(scope));
  return {ReplaceAt(std::move(f), staging.scope, std::move(realize)), copy_id};
}

CacheWriter WriterOf(const Staging& staging, const Scope& scope, int writer,
                     const Place& place) {
  return {scope, writer, staging.buffer, place.depth, staging.primitive};
}

// The place of the copy and what it moves, for a tensor that `writer` (-1: no
// block of the scope) writes.
absl::StatusOr<Plan> PlanRead(const Staging& staging, const Scope& scope,
                              int writer, const std::vector<BlockId>& readers,
                              const std::string& memory) {
  Place place{staging.scope.back()};
  if (writer < 0) {
    std::vector<Range> box = ReadBox(scope, readers, staging.buffer);
    for (const BufferRegion& region : staging.scope_block().reads) {
      if (region.buffer == staging.buffer) box = region.region;
    }
    CacheCopy copy = MakePlan(staging, place, std::move(box), memory);
    return Plan{std::move(place), std::move(copy)};
  }
  place = FindPlace(place.parent, staging.scope_block().body, 0,
                    scope.blocks[writer].block().id, readers);
  const CacheWriter written = WriterOf(staging, scope, writer, place);
  CacheCopy copy = MakePlan(staging, place, WrittenBox(written), memory);
  KILN_RETURN_IF_ERROR(LimitToWritten(written, &copy));
  return Plan{std::move(place), std::move(copy)};
}

// The same for a tensor that `writer` leaves in the cache; `readers` go on to
// read the tensor itself.
absl::StatusOr<Plan> PlanWrite(const Staging& staging, const Scope& scope,
                               int writer, const std::vector<BlockId>& readers,
                               const std::string& memory) {
  const Stmt& body = staging.scope_block().body;
  Place place{staging.scope.back(), 0, static_cast<int>(StmtsOf(body).size())};
  if (!readers.empty()) {
    place = FindPlace(place.parent, body, 0, scope.blocks[writer].block().id,
                      readers);
  }
  const CacheWriter written = WriterOf(staging, scope, writer, place);
  std::vector<Range> box = WrittenBox(written);
  KILN_RETURN_IF_ERROR(CheckNoGaps(written, box));
  CacheCopy copy = MakePlan(staging, place, std::move(box), memory);
  KILN_RETURN_IF_ERROR(LimitToWritten(written, &copy));
  return Plan{std::move(place), std::move(copy)};
}

absl::Status CheckBoxStays(const Staging& staging, const Scope& scope,
                           const CacheCopy& copy) {
  const auto is_written = [&](const Buffer& buffer) {
    return !scope.Writers(buffer).empty();
  };
  Reason reason = WhyBoxMoves(copy.box, is_written);
  return reason ? Refusal(staging.primitive, *reason) : absl::OkStatus();
}

// The blocks that will read the cache find there what they found in the tensor.
absl::Status CheckCovered(const Staging& staging, const Scope& scope,
                          const std::vector<BlockId>& readers) {
  for (BlockId id : readers) {
    const int reader = scope.IndexOf(id);
    if (Reason reason = WhyNotCovered(scope, reader, staging.buffer)) {
      return Refusal(staging.primitive,
                     absl::StrCat(Describe(scope.blocks[reader].block()),
                                  " reads what is not written yet: ", *reason));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CacheResult> CacheRead(const Function& f, BlockId block,
                                      int index, const std::string& memory,
                                      const std::vector<BlockId>& consumers) {
  KILN_ASSIGN_OR_RETURN(Staging staging,
                        Prepare(f, block, index, memory, true, "cache_read"));
  const Scope scope(staging.scope_block());
  const std::vector<int> writers = scope.Writers(staging.buffer);
  KILN_RETURN_IF_ERROR(CheckOneWriter(staging, scope, writers));
  KILN_RETURN_IF_ERROR(CheckConsumers(staging, scope, consumers));
  KILN_RETURN_IF_ERROR(CheckOnlyRead(staging, scope, writers, consumers));
  const bool from_outside =
      writers.empty() || AllPrecede(scope, consumers, writers[0]);
  const int writer = from_outside ? -1 : writers[0];
  const std::vector<BlockId> readers =
      consumers.empty() ? Ids(scope, scope.Readers(staging.buffer), writer)
                        : consumers;
  if (writer >= 0) {
    KILN_RETURN_IF_ERROR(
        CheckReadersFollow(staging, scope, writer, consumers, false));
    KILN_RETURN_IF_ERROR(CheckCovered(staging, scope, readers));
  } else {
    KILN_RETURN_IF_ERROR(
        CheckHeld(f, staging.scope, staging.buffer, staging.primitive));
  }
  if (readers.empty()) {
    return Refusal(staging.primitive,
                   absl::StrCat("no block but the one that writes `",
                                staging.buffer->name, "` reads it"),
                   "use cache_inplace for what a block updates");
  }
  KILN_ASSIGN_OR_RETURN(const Plan plan,
                        PlanRead(staging, scope, writer, readers, memory));
  KILN_RETURN_IF_ERROR(CheckBoxStays(staging, scope, plan.copy));
  Function result = f;
  BlockId copy_id;
  const auto around = [&] { return BindLoops(scope, writer); };
  const Stmt copy =
      MakeCopy(staging.buffer, plan.copy, true, around, &result, &copy_id);
  BlockFields fields =
      InsertCopy(staging.scope_block(), plan.place, copy, plan.copy.cache);
  fields.body =
      RedirectBlocks(fields.body, readers, staging.buffer, plan.copy, false);
  return Finish(staging, std::move(result), MakeBlock(std::move(fields)),
                copy_id);
}

absl::StatusOr<CacheResult> CacheWrite(const Function& f, BlockId block,
                                       int index, const std::string& memory,
                                       const std::vector<BlockId>& consumers) {
  KILN_ASSIGN_OR_RETURN(Staging staging,
                        Prepare(f, block, index, memory, false, "cache_write"));
  const Scope scope(staging.scope_block());
  KILN_RETURN_IF_ERROR(
      CheckOneWriter(staging, scope, scope.Writers(staging.buffer)));
  KILN_RETURN_IF_ERROR(CheckConsumers(staging, scope, consumers));
  KILN_RETURN_IF_ERROR(CheckWritesAnew(staging));
  const int writer = scope.IndexOf(block);
  KILN_RETURN_IF_ERROR(
      CheckReadersFollow(staging, scope, writer, consumers, true));
  KILN_RETURN_IF_ERROR(CheckCovered(staging, scope, consumers));
  const std::vector<BlockId> readers =
      Without(Ids(scope, scope.Readers(staging.buffer), writer), consumers);
  KILN_ASSIGN_OR_RETURN(const Plan plan,
                        PlanWrite(staging, scope, writer, readers, memory));
  KILN_RETURN_IF_ERROR(CheckBoxStays(staging, scope, plan.copy));
  Function result = f;
  BlockId copy_id;
  const auto around = [&] { return BindLoops(scope, writer); };
  const Stmt copy =
      MakeCopy(staging.buffer, plan.copy, false, around, &result, &copy_id);
  BlockFields fields =
      InsertCopy(staging.scope_block(), plan.place, copy, plan.copy.cache);
  fields.body =
      RedirectBlocks(fields.body, consumers, staging.buffer, plan.copy, false);
  fields.body =
      RedirectBlocks(fields.body, {block}, staging.buffer, plan.copy, true);
  return Finish(staging, std::move(result), MakeBlock(std::move(fields)),
                copy_id);
}

}  // namespace kiln
