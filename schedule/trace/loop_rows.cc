// Steps on loops, a row each. A row names the parameters as scripts and printed
// traces have them, and the function that carries the step out; readers,
// printers and protobuf follow from it. That function takes its arguments from
// the context by their positions:
//
//   l1, l2 = sch.split(loop=l0, factors=[None, 16], preserve_unit_iters=True)
//     ->  c.loop(0), c.factors(1), c.boolean(2), then Split(..), and the new
//         loops as the step's output
//
// Refusals are those of the primitives, and end the step without a change.
#include "kiln/base/status_macros.h"
#include "kiln/schedule/primitive/add_unit_loop.h"
#include "kiln/schedule/primitive/decompose_reduction.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/fuse.h"
#include "kiln/schedule/primitive/loop_partition.h"
#include "kiln/schedule/primitive/merge.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/rfactor.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/trace/table.h"

namespace kiln {
namespace {

// Carries out a primitive that gives nothing but a function.
absl::Status Take(ApplyContext& c, absl::StatusOr<Function> f) {
  KILN_RETURN_IF_ERROR(f.status());
  c.SetFunction(*std::move(f));
  return absl::OkStatus();
}

absl::Status ApplySplit(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  KILN_ASSIGN_OR_RETURN(const auto factors, c.factors(1));
  KILN_ASSIGN_OR_RETURN(SplitResult result,
                        Split(c.function(), loop, factors,
                              {.preserve_unit_iters = c.boolean(2),
                               .disable_predication = c.boolean(3)}));
  c.SetFunction(std::move(result.function));
  c.Output(result.loops);
  return absl::OkStatus();
}

absl::Status ApplyLoopPartition(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  KILN_ASSIGN_OR_RETURN(const auto factors, c.factors(1));
  KILN_ASSIGN_OR_RETURN(LoopPartitionResult result,
                        LoopPartition(c.function(), loop, factors));
  c.SetFunction(std::move(result.function));
  c.Output(result.loops);
  return absl::OkStatus();
}

absl::Status ApplyFuse(ApplyContext& c) {
  const std::vector<LoopId> loops = c.loops(0);
  if (loops.empty())
    return absl::InvalidArgumentError("fuse: no loops are given");
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(
      FuseResult result,
      Fuse(c.function(), loops, {.preserve_unit_iters = c.boolean(1)}));
  c.SetFunction(std::move(result.function));
  c.Output(result.loop);
  return absl::OkStatus();
}

absl::Status ApplyMerge(ApplyContext& c) {
  const std::vector<LoopId> loops = c.loops(0);
  if (loops.empty()) {
    return absl::InvalidArgumentError("merge: no loops are given");
  }
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(MergeResult result, Merge(c.function(), loops));
  c.SetFunction(std::move(result.function));
  c.Output(result.loop);
  return absl::OkStatus();
}

absl::Status ApplyReorder(ApplyContext& c) {
  const std::vector<LoopId> loops = c.loops(0);
  if (loops.empty()) {
    return absl::InvalidArgumentError("reorder: no loops are given");
  }
  KILN_RETURN_IF_ERROR(c.status());
  return Take(c, Reorder(c.function(), loops));
}

absl::Status ApplyAddUnitLoop(ApplyContext& c) {
  const int64_t id = c.loop(0);
  KILN_ASSIGN_OR_RETURN(AddUnitLoopResult result,
                        c.is_loop(0) ? AddUnitLoopAboveLoop(c.function(), id)
                                     : AddUnitLoopAboveBlock(c.function(), id));
  c.SetFunction(std::move(result.function));
  c.Output(result.loop);
  return absl::OkStatus();
}

absl::Status ApplyDecompose(ApplyContext& c) {
  const BlockId block = c.block(0);
  const LoopId loop = c.loop(1);
  KILN_RETURN_IF_ERROR(c.status());
  KILN_ASSIGN_OR_RETURN(DecomposeReductionResult result,
                        DecomposeReduction(c.function(), block, loop));
  c.SetFunction(std::move(result.function));
  c.Output(result.init);
  return absl::OkStatus();
}

absl::Status ApplyRfactor(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  KILN_ASSIGN_OR_RETURN(const int64_t axis, c.integer(1));
  KILN_ASSIGN_OR_RETURN(RfactorResult result,
                        Rfactor(c.function(), loop, axis));
  c.SetFunction(std::move(result.function));
  c.Output(result.rf_block);
  return absl::OkStatus();
}

absl::Status ApplyParallel(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  return Take(c, Parallel(c.function(), loop));
}

absl::Status ApplyVectorize(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  return Take(c, Vectorize(c.function(), loop));
}

absl::Status ApplyUnroll(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  return Take(c, Unroll(c.function(), loop));
}

absl::Status ApplyBind(ApplyContext& c) {
  const LoopId loop = c.loop(0);
  return Take(c, Bind(c.function(), loop, c.string(1)));
}

}  // namespace

std::vector<InstructionKind> LoopRows() {
  const ParamInfo loop = {"loop", ParamKind::kLoop};
  const ParamInfo loops = {"loops", ParamKind::kLoops, std::nullopt, true};
  const ParamInfo unit_iters = {"preserve_unit_iters", ParamKind::kBool,
                                Arg(true)};
  return {
      StepRow("split",
              {loop,
               {"factors", ParamKind::kFactors},
               unit_iters,
               {"disable_predication", ParamKind::kBool, Arg(false)}},
              ApplySplit, Outputs::kList, RvKind::kLoop),
      StepRow("loop_partition",
              {loop, {"factors", ParamKind::kFactors}, unit_iters},
              ApplyLoopPartition, Outputs::kList, RvKind::kLoop),
      StepRow("fuse", {loops, unit_iters}, ApplyFuse, Outputs::kOne,
              RvKind::kLoop),
      StepRow("merge", {loops}, ApplyMerge, Outputs::kOne, RvKind::kLoop),
      StepRow("reorder", {loops}, ApplyReorder),
      StepRow("add_unit_loop", {{"block_or_loop", ParamKind::kBlockOrLoop}},
              ApplyAddUnitLoop, Outputs::kOne, RvKind::kLoop),
      StepRow("decompose_reduction", {{"block", ParamKind::kBlock}, loop},
              ApplyDecompose, Outputs::kOne, RvKind::kBlock),
      StepRow("rfactor", {loop, {"factor_axis", ParamKind::kInt}}, ApplyRfactor,
              Outputs::kOne, RvKind::kBlock),
      StepRow("parallel", {loop}, ApplyParallel),
      StepRow("vectorize", {loop}, ApplyVectorize),
      StepRow("unroll", {loop}, ApplyUnroll),
      StepRow("bind", {loop, {"thread_axis", ParamKind::kString}}, ApplyBind),
  };
}

}  // namespace kiln
