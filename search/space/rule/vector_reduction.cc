#include "kiln/search/space/rule/vector_reduction.h"

#include <algorithm>

#include "kiln/base/lowering_policy.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"

namespace kiln {
namespace {

constexpr int64_t kMostVectors = 4;  // of partial results
constexpr int64_t kFold = 4;         // elements that are summed one by one

absl::Status Refuse(const char* why) {
  return absl::FailedPreconditionError(why);
}

}  // namespace

absl::StatusOr<std::vector<IterLoop>> LoopsOfIters(Schedule* sch, int function,
                                                   Rv block, size_t skip) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> rvs, sch->GetLoops(block));
  const Function& f = *sch->state().functions[function];
  const std::optional<Path> path = FindBlock(f, sch->Value(block));
  if (!path) return Refuse("the block is gone");
  const std::vector<const ForNode*> loops = LoopsAbove(*path);
  const BlockRealizeNode& realize = *path->realize();
  std::vector<IterLoop> found;
  for (size_t i = 0; i < realize.values.size(); ++i) {
    IterLoop at{realize.block->iters[i].type == IterType::kReduce, {}};
    for (size_t l = skip; l < loops.size() && l < rvs.size(); ++l) {
      if (UsesVar(realize.values[i], loops[l]->var)) at.loop = rvs[l];
    }
    found.push_back(at);
  }
  return found;
}

absl::Status VectorizeLastIter(Schedule* sch, int function, Rv block,
                               size_t skip, const Arg& lanes) {
  KILN_ASSIGN_OR_RETURN(const std::vector<IterLoop> iters,
                        LoopsOfIters(sch, function, block, skip));
  if (iters.empty() || !iters.back().loop) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch->Split(*iters.back().loop, {Arg(), lanes}));
  return sch->Vectorize(parts[1]);
}

int64_t WidestVector(int64_t extent, const RuleContext& context) {
  const bool is_open = context.open_size > 0 && extent == context.open_size;
  return is_open ? std::min(extent, kMaxTailCounts + 1) : extent;
}

absl::StatusOr<VectorReduction> VectorReduction::Make(
    Schedule* sch, Rv block, int dims, size_t skip, int64_t extent,
    const RuleContext& context) {
  int64_t lanes = context.registers.Floats();
  while (lanes > extent) lanes /= 2;
  if (lanes < 2) return Refuse("too short for vectors");
  VectorReduction chain;
  chain.context_ = &context;
  chain.dims_ = dims;
  chain.skip_ = skip;
  chain.last_ = block;
  std::vector<int64_t> widths;
  const int64_t widest = WidestVector(extent, context);
  for (int64_t v = 1; v <= kMostVectors && v * lanes <= widest; v *= 2) {
    widths.push_back(v * lanes);
  }
  KILN_ASSIGN_OR_RETURN(
      const Rv width,
      sch->SampleCategorical(
          widths, std::vector<double>(widths.size(), 1.0 / widths.size())));
  KILN_RETURN_IF_ERROR(chain.Factor(sch, width));
  if (widths.size() > 1) {
    KILN_RETURN_IF_ERROR(chain.Factor(sch, lanes));
  }
  if (lanes > kFold) {
    KILN_RETURN_IF_ERROR(chain.Factor(sch, kFold));
  }
  return chain;
}

absl::Status VectorReduction::Factor(Schedule* sch, const Arg& width) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> loops, sch->GetLoops(last_));
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> parts,
                        sch->Split(loops.back(), {Arg(), width}));
  KILN_ASSIGN_OR_RETURN(const Rv made, sch->Rfactor(parts[1], dims_));
  partial_.push_back(made);
  return absl::OkStatus();
}

absl::Status VectorReduction::Vectorize(Schedule* sch) const {
  std::vector<Rv> blocks = partial_;
  blocks.push_back(last_);
  for (const Rv block : blocks) {
    KILN_ASSIGN_OR_RETURN(const std::vector<IterLoop> iters,
                          LoopsOfIters(sch, context_->function, block, skip_));
    const bool is_last = block == last_;
    std::vector<Rv> order, reduce;
    for (size_t i = is_last ? 0 : 1; i < iters.size(); ++i) {
      if (!iters[i].loop) continue;
      (iters[i].reduce ? reduce : order).push_back(*iters[i].loop);
    }
    order.insert(order.end(), reduce.begin(), reduce.end());
    if (!is_last) {
      if (!iters[0].loop) return Refuse("a vector of one element");
      order.push_back(*iters[0].loop);
    }
    if (order.size() > 1) KILN_RETURN_IF_ERROR(sch->Reorder(order));
    if (!is_last) KILN_RETURN_IF_ERROR(sch->Vectorize(order.back()));
    if (reduce.empty()) return Refuse("nothing is left to sum up");
    // Where the last step has some of the lanes only, sums start in their
    // loops.
    context_->WentOn("a start of sums before their loops",
                     sch->DecomposeReduction(block, reduce[0]).status());
  }
  return absl::OkStatus();
}

}  // namespace kiln
