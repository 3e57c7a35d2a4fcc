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

#include "kiln/codegen/lower/check_loops.h"
#include "kiln/codegen/lower/check_notes.h"
#include "kiln/codegen/lower/choose_vectors.h"
#include "kiln/codegen/lower/compact_buffers.h"
#include "kiln/codegen/lower/distribute_loops.h"
#include "kiln/codegen/lower/flatten_buffers.h"
#include "kiln/codegen/lower/hoist_conditions.h"
#include "kiln/codegen/lower/insert_prefetches.h"
#include "kiln/codegen/lower/lower_init.h"
#include "kiln/codegen/lower/order_terms.h"
#include "kiln/codegen/lower/pad_strides.h"
#include "kiln/codegen/lower/partition_loops.h"
#include "kiln/codegen/lower/place_buffers.h"
#include "kiln/codegen/lower/plan_storage.h"
#include "kiln/codegen/lower/remove_blocks.h"
#include "kiln/codegen/lower/simplify_indices.h"
#include "kiln/codegen/lower/skip_zeros.h"
#include "kiln/codegen/lower/tile_registers.h"
#include "kiln/codegen/lower/trim_loops.h"
#include "kiln/codegen/lower/trim_phases.h"
#include "kiln/codegen/lower/unroll_loops.h"
#include "kiln/codegen/lower/vectorize_loops.h"
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
    {kGuards, "skip_zeros", Plain<SkipZeros>, kOptional},
    {kGuards, "hoist_conditions", Plain<HoistConditions>, kOptional},
    // Sums over padding.
    {kGuards, "trim_loops", Plain<TrimLoops>, kOptional},
    // Interior and border apart.
    {kGuards, "partition_loops", Plain<PartitionLoops>, kOptional},
    // Sums over inserted zeros.
    {kGuards, "trim_phases", Plain<TrimPhases>, kOptional},

    {kChoices, "tile_registers", WithMachine<TileRegisters>, kAuto},
    {kChoices, "choose_vectors", WithMachine<ChooseVectors>, kAuto},

    // Vectorized loops → vectors.
    {kVectors, "vectorize_loops", Plain<VectorizeLoops>},
    {kVectors, "plan_storage", Plain<PlanStorage>},  // stack, workspaces
    // Unrolled loops → copies, folded.
    {kVectors, "unroll_loops", Plain<UnrollLoops>},
    // As an operand is read.
    {kVectors, "order_terms", Plain<OrderTerms>, kOptional},

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
