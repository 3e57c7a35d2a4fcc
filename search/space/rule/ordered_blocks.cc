// Blocks whose iterators keep their order, as those of the rounds of a sorting
// network, in loops over what is sorted, which run in parallel:
//
//   for group, s, u, q: compare and exchange two places of keys[group, ..]
//     ->
//   parallel group:
//     for s, u, q: ...
//
// A block with one such iterator that writes point by point is a scan
// (scans.cc).
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/search/space/rule/block_info.h"
#include "kiln/search/space/rule/rules.h"

namespace kiln {
namespace {

constexpr int64_t kLeastWork = 512;  // iterations, for anything to be done

bool IsOrdered(const BlockNode& block) {
  return absl::c_any_of(block.iters, [](const IterVar& iter) {
    return iter.type == IterType::kOpaque;
  });
}

// Whether the loop is all that some spatial iterator of the block goes along.
bool IsSpatial(const ForNode& loop, const BlockRealizeNode& realize) {
  for (size_t i = 0; i < realize.values.size(); ++i) {
    if (realize.values[i].As<VarNode>() == loop.var.get())
      return realize.block->iters[i].type == IterType::kSpatial;
  }
  return false;
}

// The outermost loops of the block that are spatial; none where all have one
// iteration, or where the block has little work.
size_t ParallelLoops(const Path& path) {
  size_t count = 0;
  double outer = 1, work = 1;
  bool is_outermost = true;
  for (const ForNode* loop : LoopsAbove(path)) {
    const int64_t* extent = AsInt(loop->extent);
    work *= extent ? static_cast<double>(*extent) : kLeastWork;
    is_outermost = is_outermost && IsSpatial(*loop, *path.realize());
    if (!is_outermost) continue;
    outer = work;
    ++count;
  }
  return outer > 1 && work >= kLeastWork ? count : 0;
}

absl::StatusOr<Schedule> InParallel(Schedule sch, const std::string& name,
                                    const RuleContext& context) {
  KILN_ASSIGN_OR_RETURN(const Rv block,
                        sch.GetBlock(name, FunctionOf(sch, context).name));
  const std::optional<Path> path =
      FindBlock(FunctionOf(sch, context), sch.Value(block));
  const size_t count = ParallelLoops(*path);
  if (count == 0) return absl::FailedPreconditionError("no spatial loop");
  KILN_ASSIGN_OR_RETURN(std::vector<Rv> loops, sch.GetLoops(block));
  loops.resize(count);
  KILN_ASSIGN_OR_RETURN(const Rv fused, sch.Fuse(loops));
  KILN_RETURN_IF_ERROR(Parallel(&sch, fused, context));
  return sch;
}

}  // namespace

std::vector<Schedule> OrderedBlocks(const Schedule& sch,
                                    const std::string& block,
                                    const RuleContext& context) {
  const Function& f = FunctionOf(sch, context);
  if (!IsOrdered(NodeOf(f, block)) || DescribeScan(f, block)) return {};
  return OnlyWay(InParallel(sch, block, context), context);
}

}  // namespace kiln
