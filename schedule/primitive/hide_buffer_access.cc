#include "kiln/schedule/primitive/hide_buffer_access.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr char kName[] = "unsafe_hide_buffer_access";

bool Touches(const Stmt& s, const Buffer& buffer) {
  bool found = false;
  Visit(s, [&](const Stmt& x) {
    const auto* store = x.As<StoreNode>();
    found = found || (store && store->buffer == buffer);
    const auto* realize = x.As<BlockRealizeNode>();
    if (!realize) return !found;
    for (const MatchBufferRegion& match : realize->block->match_buffers) {
      found = found || match.source.buffer == buffer;
    }
    return !found;
  });
  VisitExprs(s, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    found = found || (load && load->buffer == buffer) ||
            (buffer->data && e == buffer->data);
    return !found;
  });
  return found;
}

absl::Status CheckIndex(const BlockNode& block, int64_t index, size_t count,
                        const std::set<int64_t>& before) {
  if (index < 0 || index >= static_cast<int64_t>(count)) {
    return BadArgument(kName, absl::StrCat(Describe(block), " has ", count,
                                           " of them, so that there is no "
                                           "number ",
                                           index));
  }
  if (before.count(index) == 0) return absl::OkStatus();
  return BadArgument(kName, absl::StrCat("number ", index, " is given twice"));
}

}  // namespace

absl::StatusOr<Function> HideBufferAccess(const Function& f, BlockId id,
                                          bool is_write,
                                          const std::vector<int64_t>& indices) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, id, kName));
  const BlockNode& block = *path.realize()->block;
  BlockFields fields = block.fields();
  auto& regions = is_write ? fields.writes : fields.reads;
  if (is_write && block.annotations.count("buffer_dim_align") > 0) {
    return Refusal(kName,
                   absl::StrCat("notes of storage_align on ", Describe(block),
                                " go by the order of its tensors"),
                   "align afterwards");
  }
  std::set<int64_t> hidden;
  for (int64_t index : indices) {
    KILN_RETURN_IF_ERROR(CheckIndex(block, index, regions.size(), hidden));
    hidden.insert(index);
    const Buffer& buffer = regions[index].buffer;
    if (!Touches(path.back(), buffer)) continue;
    return Refusal(kName,
                   absl::StrCat(Describe(block), " touches `", buffer->name,
                                "`: later steps would not know of it"));
  }
  for (auto index = hidden.rbegin(); index != hidden.rend(); ++index) {
    regions.erase(regions.begin() + *index);
  }
  return ReplaceAt(f, path, WithBlock(*path.realize(), std::move(fields)));
}

}  // namespace kiln
