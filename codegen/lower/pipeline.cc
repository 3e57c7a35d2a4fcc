#include "kiln/codegen/lower/pipeline.h"

#include <chrono>

#include "absl/strings/str_cat.h"
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
constexpr bool kOptional = false;
constexpr LowerPass kPasses[] = {
    {"check_loops", Plain<CheckLoops>},      // refuse what a CPU cannot run
    {"check_notes", Plain<CheckNotes>},      // likewise
    {"lower_init", Plain<LowerInit>},        // block init → if
    {"place_buffers", Plain<PlaceBuffers>},  // allocate close to the uses
    {"remove_blocks", Plain<RemoveBlocks>},  // blocks → their bodies
    // Only what is touched.
    {"compact_buffers", Plain<CompactBuffers>, kOptional},
    {"pad_strides", Plain<PadStrides>},          // as storage_align asks
    {"flatten_buffers", Plain<FlattenBuffers>},  // one dimension, one index
    // While bodies are single.
    {"simplify_indices", Plain<SimplifyIndices>, kOptional},
    // To fill registers.
    {"distribute_loops", WithMachine<DistributeLoops>, kOptional},
    // Additions of padding.
    {"skip_zeros", Plain<SkipZeros>, kOptional},
    {"hoist_conditions", Plain<HoistConditions>, kOptional},
    // Sums over padding.
    {"trim_loops", Plain<TrimLoops>, kOptional},
    // Interior and border apart.
    {"partition_loops", Plain<PartitionLoops>, kOptional},
    // Sums over inserted zeros.
    {"trim_phases", Plain<TrimPhases>, kOptional},
    // Where there are none.
    {"tile_registers", WithMachine<TileRegisters>, kOptional},
    {"choose_vectors", WithMachine<ChooseVectors>, kOptional},  // likewise
    {"vectorize_loops", Plain<VectorizeLoops>},  // vectorized loops → vectors
    {"plan_storage", Plain<PlanStorage>},        // stack, workspaces, sharing
    {"unroll_loops", Plain<UnrollLoops>},  // unrolled loops → copies, folded
    // As an operand is read.
    {"order_terms", Plain<OrderTerms>, kOptional},
    // What is read later.
    {"insert_prefetches", WithMachine<InsertPrefetches>, kOptional},
    {"verify_lowered", Plain<VerifyLowered>},
};

double Now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool IsPass(std::string_view name) {
  for (const LowerPass& pass : kPasses) {
    if (pass.name == name) return true;
  }
  return false;
}

absl::Status Annotate(const LowerPass& pass, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(std::string(pass.name), ": ",
                                   std::string(status.message())));
}

}  // namespace

absl::Span<const LowerPass> LowerPasses() { return kPasses; }

absl::StatusOr<Function> Lower(const Function& f, const LowerOptions& options) {
  if (!options.stop_after.empty() && !IsPass(options.stop_after)) {
    return absl::InvalidArgumentError(
        absl::StrCat("no lowering pass is called ", options.stop_after));
  }
  Function current = f;
  for (const LowerPass& pass : kPasses) {
    if (options.only_required && !pass.required) continue;
    const double start = options.observe ? Now() : 0;
    absl::StatusOr<Function> next = pass.run(std::move(current), options);
    if (!next.ok()) return Annotate(pass, next.status());
    current = *std::move(next);
    if (options.observe) options.observe(pass.name, current, Now() - start);
    if (options.stop_after == pass.name) break;
  }
  return current;
}

}  // namespace kiln
