// The order is the argument of this file. Blocks go first, while their regions
// still say who needs what; then each tensor shrinks to what is touched, and
// gets one dimension. Loops are cut, moved and tiled while each body is one
// statement; vectors come next, and copies of loops last, as every pass after
// them has more to read. `opt --stage lowered` shows the end of
//
//   with T.block("C"): C[vi] = A[vi]   →   for i in range(8):
//                                            C[i * 16:i * 16 + 16] = A[...]
//
// and `LowerOptions::observe` every step between (base/pass.h runs them).
#include "kiln/codegen/lower/pipeline.h"

#include "kiln/codegen/lower/auto/auto_register_tile.h"
#include "kiln/codegen/lower/auto/auto_vectorize.h"
#include "kiln/codegen/lower/auto/distribute_loops.h"
#include "kiln/codegen/lower/auto/insert_prefetches.h"
#include "kiln/codegen/lower/blocks/check_loops.h"
#include "kiln/codegen/lower/blocks/check_notes.h"
#include "kiln/codegen/lower/blocks/lower_init.h"
#include "kiln/codegen/lower/blocks/place_buffers.h"
#include "kiln/codegen/lower/blocks/remove_blocks.h"
#include "kiln/codegen/lower/guards/fold_modulo_guards.h"
#include "kiln/codegen/lower/guards/guard_zero_updates.h"
#include "kiln/codegen/lower/guards/hoist_invariant_ifs.h"
#include "kiln/codegen/lower/guards/partition_loops.h"
#include "kiln/codegen/lower/guards/split_at_borders.h"
#include "kiln/codegen/lower/guards/tighten_loop_bounds.h"
#include "kiln/codegen/lower/storage/compact_buffers.h"
#include "kiln/codegen/lower/storage/flatten_buffers.h"
#include "kiln/codegen/lower/storage/pad_strides.h"
#include "kiln/codegen/lower/storage/plan_storage.h"
#include "kiln/codegen/lower/storage/simplify_indices.h"
#include "kiln/codegen/lower/vector/carry_values.h"
#include "kiln/codegen/lower/vector/complete_ragged_sums.h"
#include "kiln/codegen/lower/vector/form_dot_products.h"
#include "kiln/codegen/lower/vector/part_sums.h"
#include "kiln/codegen/lower/vector/reorder_unrolled_updates.h"
#include "kiln/codegen/lower/vector/split_at_wraps.h"
#include "kiln/codegen/lower/vector/unroll_loops.h"
#include "kiln/codegen/lower/vector/vectorize_loops.h"
#include "kiln/codegen/lower/verify_lowered.h"
#include "kiln/ir/tensor/automatic.h"

namespace kiln {
namespace {

template <absl::StatusOr<Function> (*pass)(Function)>
absl::StatusOr<Function> Plain(Function f, const LowerOptions&) {
  return pass(std::move(f));
}

template <absl::StatusOr<Function> (*pass)(Function, const Machine&)>
absl::StatusOr<Function> WithMachine(Function f, const LowerOptions& options) {
  return pass(std::move(f), options.machine);
}

// The pipeline, from top to bottom.
constexpr PassKind kOptional = PassKind::kOptional;
constexpr PassKind kAuto = PassKind::kAuto;

// From blocks to loops over flat buffers.
constexpr char kBlocks[] = "blocks";
// Statements apart, to fill registers.
constexpr char kDistribution[] = "distribution";
// Conditions: what need not be computed, and what need not be asked.
constexpr char kGuards[] = "guards";
// Vectors and registers that the schedule left unused.
constexpr char kChoices[] = "auto";
// What the schedule asks of single loops, and storage.
constexpr char kVectors[] = "vectors";
// What is read later.
constexpr char kPrefetches[] = "prefetches";
constexpr char kVerify[] = "verify";

constexpr LowerPass kPasses[] = {
    // Refuse what a CPU cannot run.
    {kBlocks, "check_loops", Plain<CheckLoops>},
    {kBlocks, "check_notes", Plain<CheckNotes>},
    {kBlocks, "lower_init", Plain<LowerInit>},  // block init → if
    // Allocate close to the uses.
    {kBlocks, "place_buffers", Plain<PlaceBuffers>},
    {kBlocks, "remove_blocks", Plain<RemoveBlocks>},  // blocks → their bodies
    // Only what is touched.
    {kBlocks, "compact_buffers", Plain<CompactBuffers>, kOptional},
    {kBlocks, "pad_strides", Plain<PadStrides>},  // as storage_align asks
    // One dimension, one index.
    {kBlocks, "flatten_buffers", Plain<FlattenBuffers>},
    // While bodies are single.
    {kBlocks, "simplify_indices", Plain<SimplifyIndices>, kOptional},

    {kDistribution, "distribute_loops", WithMachine<DistributeLoops>, kAuto},

    // Additions of padding.
    {kGuards, "guard_zero_updates", Plain<GuardZeroUpdates>, kOptional},
    {kGuards, "hoist_invariant_ifs", Plain<HoistInvariantIfs>, kOptional},
    // Sums over padding.
    {kGuards, "tighten_loop_bounds", Plain<TightenLoopBounds>, kOptional},
    // Interior and border apart.
    {kGuards, "partition_loops", Plain<PartitionLoops>, kOptional},
    {kGuards, "split_at_borders", Plain<SplitAtBorders>, kOptional},
    // Sums over inserted zeros.
    {kGuards, "fold_modulo_guards", Plain<FoldModuloGuards>, kOptional},

    {kChoices, "auto_register_tile", WithMachine<AutoRegisterTile>, kAuto},
    {kChoices, "auto_vectorize", WithMachine<AutoVectorize>, kAuto},

    // Steps of integers that one instruction takes.
    {kVectors, "form_dot_products", WithMachine<FormDotProducts>, kOptional},
    // Vectorized loops → vectors.
    {kVectors, "vectorize_loops", WithMachine<VectorizeLoops>},
    // Where a quotient of lanes changes.
    {kVectors, "split_at_wraps", Plain<SplitAtWraps>, kOptional},
    {kVectors, "plan_storage", Plain<PlanStorage>},  // stack, workspaces
    // Unrolled loops → copies, folded.
    {kVectors, "unroll_loops", Plain<UnrollLoops>},
    // Sums that fill no vectors.
    {kVectors, "complete_ragged_sums", WithMachine<CompleteRaggedSums>,
     kOptional},
    // What one iteration stores and the next loads.
    {kVectors, "carry_values", WithMachine<CarryValues>, kOptional},
    // As an operand is read.
    {kVectors, "reorder_unrolled_updates", WithMachine<ReorderUnrolledUpdates>,
     kOptional},
    // Few sums that would wait for themselves.
    {kVectors, "part_sums", WithMachine<PartSums>, kOptional},

    {kPrefetches, "insert_prefetches", WithMachine<InsertPrefetches>, kAuto},
    {kVerify, "verify_lowered", Plain<VerifyLowered>},
};

}  // namespace

absl::Span<const LowerPass> LowerPasses() { return kPasses; }

std::vector<std::string> LowerStages() { return StagesOf(LowerPasses()); }

absl::StatusOr<Function> Lower(const Function& f, const LowerOptions& options) {
  PassControl<Function> control;
  if (options.only_required) control.num_optional = 0;
  control.is_auto = IsAuto(f);
  control.stop_after = options.stop_after;
  control.observe = options.observe;
  control.verify = options.verify;
  return RunPasses(LowerPasses(), f, options, control);
}

}  // namespace kiln
