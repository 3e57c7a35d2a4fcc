#include "kiln/schedule/primitive/lookup.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/analysis/scope.h"

namespace kiln {
namespace {

// Names of all blocks, to help with a misspelled one.
std::string BlockNames(const Function& f) {
  std::string names;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    if (names.size() > 200) return;
    absl::StrAppend(&names, names.empty() ? "" : ", ", realize.block->name);
  });
  return names.empty() ? "it has no blocks" : "there are " + names;
}

std::vector<BlockId> ChildBlocks(const Stmt& s) {
  std::vector<BlockId> ids;
  ForEachBlock(s, [&](const BlockRealizeNode& realize) {
    ids.push_back(realize.block->id);
  });
  return ids;
}

std::vector<BlockId> Ids(const Scope& scope, const std::vector<int>& indices) {
  std::vector<BlockId> ids;
  for (int i : indices) ids.push_back(scope.blocks[i].block().id);
  return ids;
}

// Which of the reads of block `reader` is the first that `writer` writes; their
// number where there is none.
size_t FirstRead(const Scope& scope, int reader, int writer) {
  const std::vector<BufferRegion>& reads = scope.blocks[reader].block().reads;
  size_t at = 0;
  while (at < reads.size() &&
         !WritesBuffer(scope.blocks[writer].block(), reads[at].buffer)) {
    ++at;
  }
  return at;
}

}  // namespace

absl::StatusOr<BlockId> GetBlock(const Function& f, std::string_view name) {
  const std::vector<BlockId> found = BlocksNamed(f, name);
  if (found.size() == 1) return found[0];
  const std::string quoted = absl::StrCat("`", std::string(name), "`");
  if (found.empty()) {
    return Refusal(
        "get_block",
        absl::StrCat("no block of `", f.name, "` is called ", quoted),
        BlockNames(f));
  }
  return Refusal("get_block",
                 absl::StrCat(found.size(), " blocks of `", f.name,
                              "` are called ", quoted),
                 "find the one by get_child_blocks or get_consumers");
}

absl::StatusOr<std::vector<LoopId>> GetLoops(const Function& f, BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, "get_loops"));
  return LoopIdsAbove(path);
}

absl::StatusOr<std::vector<BlockId>> GetChildBlocksOfBlock(const Function& f,
                                                           BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path,
                        RequireBlock(f, block, "get_child_blocks"));
  return ChildBlocks(path.realize()->block->body);
}

absl::StatusOr<std::vector<BlockId>> GetChildBlocksOfLoop(const Function& f,
                                                          LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Path path,
                        RequireLoop(f, loop, "get_child_blocks"));
  return ChildBlocks(path.back());
}

absl::StatusOr<std::vector<BlockId>> GetProducers(const Function& f,
                                                  BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path,
                        RequireBlock(f, block, "get_producers"));
  if (path.size() == 1) return std::vector<BlockId>();
  const Scope scope(*path.scope()->block);
  const int index = scope.IndexOf(block);
  std::vector<int> producers = scope.Producers(index);
  std::sort(producers.begin(), producers.end(), [&](int a, int b) {
    const size_t at_a = FirstRead(scope, index, a);
    const size_t at_b = FirstRead(scope, index, b);
    return at_a == at_b ? a < b : at_a < at_b;
  });
  return Ids(scope, producers);
}

absl::StatusOr<std::vector<BlockId>> GetConsumers(const Function& f,
                                                  BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path,
                        RequireBlock(f, block, "get_consumers"));
  if (path.size() == 1) return std::vector<BlockId>();
  const Scope scope(*path.scope()->block);
  return Ids(scope, scope.Consumers(scope.IndexOf(block)));
}

absl::StatusOr<std::vector<BlockId>> GetOutputBlocks(const Function& f,
                                                     BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path,
                        RequireBlock(f, block, "get_output_blocks"));
  const Scope scope(*path.realize()->block);
  std::vector<BlockId> ids;
  for (size_t i = 0; i < scope.blocks.size(); ++i) {
    if (scope.IsOutput(static_cast<int>(i))) {
      ids.push_back(scope.blocks[i].block().id);
    }
  }
  return ids;
}

}  // namespace kiln
