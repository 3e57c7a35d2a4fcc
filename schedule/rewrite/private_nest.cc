#include "kiln/schedule/rewrite/private_nest.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/arith/analyzer.h"
#include "kiln/schedule/analysis/property.h"
#include "kiln/schedule/analysis/refusal.h"
#include "kiln/schedule/rewrite/loop_shape.h"

namespace kiln {
namespace {

bool Has(const std::vector<const ForNode*>& loops, const ForNode* loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

bool HasOneValue(const IterVar& iter, const Expr& value) {
  return IsZero(iter.domain.min) && IsOne(iter.domain.extent) && IsZero(value);
}

absl::Status CheckIters(const PrivateNest& target, std::string_view primitive,
                        std::vector<const ForNode*>* used) {
  Analyzer analyzer;
  for (size_t i = 0; i < target.realize().values.size(); ++i) {
    const IterVar& iter = target.block().iters[i];
    const ForNode* loop = target.LoopOf(i);
    const bool whole = loop && !Has(*used, loop) && IsZero(loop->min) &&
                       IsZero(iter.domain.min) &&
                       analyzer.CanProveEqual(loop->extent, iter.domain.extent);
    if (whole) used->push_back(loop);
    if (whole || HasOneValue(iter, target.realize().values[i])) continue;
    return Refusal(primitive,
                   absl::StrCat("iterator `", iter.var.name(), "` of ",
                                Describe(target.block()),
                                " does not run with a loop of its own that "
                                "holds no other block"),
                   "do this before loops are split or shared");
  }
  return absl::OkStatus();
}

}  // namespace

const ForNode* PrivateNest::LoopOf(size_t i) const {
  for (const ForNode* loop : loops) {
    if (realize().values[i] == loop->var) return loop;
  }
  return nullptr;
}

absl::StatusOr<PrivateNest> FindPrivateNest(const Function& f, BlockId block,
                                            std::string_view primitive) {
  PrivateNest target;
  KILN_ASSIGN_OR_RETURN(target.path, RequireBlockThatRuns(f, block, primitive));
  if (!target.path.scope()) {
    return Refusal(primitive, "the root block has no iterators");
  }
  target.top = target.path.size() - 1;
  while (target.path[target.top - 1].As<ForNode>()) --target.top;
  for (size_t i = target.top; i + 1 < target.path.size(); ++i) {
    target.loops.push_back(target.path[i].As<ForNode>());
  }
  return target;
}

absl::Status CheckLoopsAreIters(const PrivateNest& target,
                                std::string_view primitive) {
  if (Reason reason = WhyDomainsNameLoops(target.block(), target.loops)) {
    return Refusal(primitive, *reason);
  }
  std::vector<const ForNode*> used;
  KILN_RETURN_IF_ERROR(CheckIters(target, primitive, &used));
  for (const ForNode* loop : target.loops) {
    KILN_RETURN_IF_ERROR(CheckPlainLoop(*loop, primitive));
    if (Has(used, loop) || IsOne(loop->extent)) continue;
    return Refusal(primitive,
                   absl::StrCat(Describe(*loop), " moves no iterator of ",
                                Describe(target.block())));
  }
  return absl::OkStatus();
}

absl::Status CheckPrivateNest(const PrivateNest& target,
                              std::string_view primitive) {
  KILN_RETURN_IF_ERROR(CheckLoopsAreIters(target, primitive));
  if (IsOne(target.realize().predicate)) return absl::OkStatus();
  return Refusal(primitive, absl::StrCat(Describe(target.block()),
                                         " runs under a condition"));
}

std::string UnusedBlockName(const Function& f, const std::string& base) {
  std::string name = base;
  for (int i = 1; !BlocksNamed(f, name).empty(); ++i) {
    name = absl::StrCat(base, "_", i);
  }
  return name;
}

Stmt LoopsAround(const PrivateNest& target, Stmt body,
                 const std::vector<Expr>& extents) {
  for (size_t l = target.loops.size(); l-- > 0;) {
    ForFields loop = target.loops[l]->fields();
    for (size_t i = 0; i < extents.size(); ++i) {
      if (!extents[i] || target.LoopOf(i) != target.loops[l]) continue;
      loop.extent = extents[i];
    }
    loop.body = std::move(body);
    body = MakeFor(std::move(loop));
  }
  return body;
}

Function ReplaceNest(Function f, const PrivateNest& target,
                     std::vector<Stmt> nests,
                     const std::vector<Buffer>& buffers) {
  const Path& path = target.path;
  const auto scope = static_cast<size_t>(path.ScopeIndex());
  const Path inner = path.Part(scope, target.top - scope + 1);
  const Stmt changed = ReplaceAt(inner, MakeSeq(std::move(nests)));
  const auto* realize = changed.As<BlockRealizeNode>();
  BlockFields fields = realize->block->fields();
  fields.alloc_buffers.insert(fields.alloc_buffers.end(), buffers.begin(),
                              buffers.end());
  return ReplaceAt(std::move(f), path.Prefix(scope + 1),
                   WithBlock(*realize, std::move(fields)));
}

}  // namespace kiln
