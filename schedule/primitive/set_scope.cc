#include "kiln/schedule/primitive/set_scope.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/storage_scope.h"

namespace kiln {
namespace {

constexpr char kName[] = "set_scope";

// The index in the path of the block that allocates `buffer`; -1: none.
int FindAllocation(const Path& path, const Buffer& buffer) {
  for (int i = static_cast<int>(path.size()) - 1; i >= 0; --i) {
    const auto* realize = path[i].As<BlockRealizeNode>();
    if (!realize) continue;
    const auto& allocated = realize->block->alloc_buffers;
    if (std::find(allocated.begin(), allocated.end(), buffer) !=
        allocated.end()) {
      return i;
    }
  }
  return -1;
}

}  // namespace

absl::StatusOr<Function> SetScope(const Function& f, BlockId block,
                                  int64_t index, std::string_view scope) {
  KILN_RETURN_IF_ERROR(CheckStorageScope(scope, kName));
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kName));
  const BlockNode& node = *path.realize()->block;
  if (index < 0 || index >= static_cast<int64_t>(node.writes.size())) {
    return Refusal(kName,
                   absl::StrCat(Describe(node), " writes ", node.writes.size(),
                                " regions; there is none with index ", index));
  }
  const Buffer& buffer = node.writes[index].buffer;
  const int at = FindAllocation(path, buffer);
  if (at < 0) {
    return Refusal(kName,
                   absl::StrCat("`", buffer->name,
                                "` is a parameter, whose memory the caller "
                                "chooses"),
                   "stage it with cache_read or cache_write");
  }
  if (buffer->scope == scope) return f;
  const Buffer moved = EditBuffer(
      buffer, [&](BufferNode& copy) { copy.scope = std::string(scope); });
  const Path allocating = path.Prefix(at + 1);
  return ReplaceAt(f, allocating,
                   ReplaceBuffers(allocating.back(), {{buffer.get(), moved}}));
}

}  // namespace kiln
