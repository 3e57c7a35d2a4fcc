#include "kiln/schedule/primitive/reindex.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/primitive/point_access.h"

namespace kiln {
namespace {

constexpr char kName[] = "reindex";

// The outermost statement of the scope that holds the block.
const Stmt& Outermost(const PointAccess& access) {
  const size_t first = access.scope.size();
  const Stmt& below = access.block[first];
  return below.As<SeqNode>() ? access.block[first + 1] : below;
}

// Below the outermost statement the tensor is the block's alone, but for what
// others read of a tensor that the block reads.
absl::Status CheckOthers(const PointAccess& access, bool is_write) {
  absl::Status status;
  ForEachBlock(Outermost(access), [&](const BlockRealizeNode& realize) {
    const BlockNode& other = *realize.block;
    if (other.id == access.node().id || !status.ok()) return;
    const bool meets = WritesBuffer(other, access.buffer) ||
                       (is_write && ReadsBuffer(other, access.buffer));
    if (!meets) return;
    status =
        Refusal(kName,
                absl::StrCat(Describe(other), " uses `", access.buffer->name,
                             "` in the same nest as ", Describe(access.node())),
                "reindex before the blocks are moved together");
  });
  return status;
}

absl::Status Check(const PointAccess& access, bool is_write) {
  const Scope scope(access.scope_node());
  const int index = scope.IndexOf(access.node().id);
  if (Reason reason = WhyNotWholeDomain(scope.blocks[index])) {
    return Refusal(kName, *reason);
  }
  if (!IsWithin(access)) {
    return Refusal(kName, absl::StrCat("the indices of `", access.buffer->name,
                                       "` are not known to stay within it"));
  }
  if (is_write && !IsInjective(access)) {
    return Refusal(kName, absl::StrCat("several values of the iterators may "
                                       "write the same element of `",
                                       access.buffer->name, "`"));
  }
  for (const IterVar& iter : access.iters) {
    if (!is_write || iter.type == IterType::kSpatial) continue;
    return Refusal(kName, absl::StrCat("reduce iterator `", iter.var.name(),
                                       "` indexes what is written"));
  }
  return CheckOthers(access, is_write);
}

// The enclosing block with `copy` before or after the outermost statement.
Stmt Insert(const PointAccess& access, const Stmt& nest, Stmt copy,
            bool is_write, const Buffer& staging) {
  const Stmt& outermost = Outermost(access);
  BlockFields fields = access.scope_node().fields();
  const auto* seq = fields.body.As<SeqNode>();
  std::vector<Stmt> stmts = seq ? seq->stmts : std::vector<Stmt>{fields.body};
  const auto at = std::find(stmts.begin(), stmts.end(), outermost);
  *at = nest;
  stmts.insert(is_write ? at + 1 : at, std::move(copy));
  fields.body = MakeSeq(std::move(stmts));
  fields.alloc_buffers.push_back(staging);
  return WithBlock(*access.scope.realize(), std::move(fields));
}

}  // namespace

absl::StatusOr<ReindexResult> Reindex(const Function& f, BlockId block,
                                      int index, bool is_write) {
  KILN_ASSIGN_OR_RETURN(const PointAccess access,
                        FindPointAccess(f, block, index, is_write, kName));
  KILN_RETURN_IF_ERROR(Check(access, is_write));
  std::vector<Expr> shape, order;
  for (const IterVar& iter : access.iters) {
    shape.push_back(iter.domain.extent);
    order.push_back(iter.var);
  }
  const Buffer& tensor = access.buffer;
  const Buffer staging = StagingBuffer(tensor, tensor->name + "_reindex",
                                       std::move(shape), tensor->scope);
  ReindexResult result{f, 0};
  result.copy = result.function.NewId();
  Block copy = is_write ? CopyBlock(result.copy, staging->name, access.iters,
                                    staging, order, tensor, access.indices)
                        : CopyBlock(result.copy, staging->name + "_reindex",
                                    access.iters, tensor, access.indices,
                                    staging, order);
  Stmt copy_nest = LoopsOverDomains(std::move(copy), &result.function);
  const size_t top =
      access.scope.size() + (access.scope_node().body.As<SeqNode>() ? 1 : 0);
  const Path below = access.block.Part(top, access.block.size() - top);
  const Stmt nest = ReplaceAt(
      below,
      WithBlock(*access.block.realize(), Redirect(access, staging, order)));
  result.function =
      ReplaceAt(std::move(result.function), access.scope,
                Insert(access, nest, std::move(copy_nest), is_write, staging));
  return result;
}

}  // namespace kiln
