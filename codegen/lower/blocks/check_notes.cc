#include "kiln/codegen/lower/blocks/check_notes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/marks.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

constexpr NoteInfo kNotes[] = {
    {"buffer_dim_align", true, "strides of allocations (pad_strides.h)"},
    {"pragma_auto_unroll_max_step", true, "how far loops unroll"},
    {"disjoint_writes", true, "instances of a block write apart"},
    {"meta_schedule.layout_rewrite_preproc", true,
     "the block's work is done once, before all calls"},
    {kPhases, true, "loops over phases are trimmed (fold_modulo_guards.h)"},
    {kTransposedCopy, true, "squares are transposed in registers"},
    {kLaneSums, true, "lanes of several vectors are summed up together"},
    {kTileProduct, true, "loops stay as instructions for tiles take them"},
    {kStrassenParts, false, "schedule rules look for it"},
    {"pragma_unroll_explicit", false,
     "loops unroll in the IR either way, never in LLVM"},
    {"software_pipeline_stage", false,
     "a processor that reorders its instructions overlaps iterations"},
    {"software_pipeline_order", false, "likewise"},
    {"software_pipeline_async_stages", false,
     "a CPU has no copies to wait for"},
    {"double_buffer_scope", false,
     "two buffers overlap a copy with work, and a CPU has no such copies"},
    {"double_buffer_write", false, "likewise"},
    {"meta_schedule.", false,
     "requests to the steps that end a search, which take them off"},
};

constexpr std::string_view kAsking[] = {"pragma_", "software_pipeline",
                                        "double_buffer", "buffer_", "kiln."};

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

bool IsKnown(std::string_view key) {
  return std::any_of(std::begin(kNotes), std::end(kNotes), [&](auto& note) {
    return note.key.back() == '.' ? StartsWith(key, note.key) : key == note.key;
  });
}

bool AsksForSomething(std::string_view key) {
  return std::any_of(
      std::begin(kAsking), std::end(kAsking),
      [&](std::string_view start) { return StartsWith(key, start); });
}

absl::Status CheckKeys(const Annotations& notes, const char* kind,
                       const std::string& name) {
  for (const auto& [key, value] : notes) {
    if (IsKnown(key) || !AsksForSomething(key)) continue;
    std::vector<std::string> known;
    for (const NoteInfo& note : kNotes) known.emplace_back(note.key);
    return absl::UnimplementedError(absl::StrCat(
        kind, " ", name, " is annotated with \"", key,
        "\", which code for a CPU does not follow; unannotate it (known are ",
        absl::StrJoin(known, ", "), ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Span<const NoteInfo> KnownNotes() { return kNotes; }

absl::StatusOr<Function> CheckNotes(Function f) {
  absl::Status status;
  Visit(f.body, [&](const Stmt& s) {
    if (const auto* loop = s.As<ForNode>()) {
      status.Update(CheckKeys(loop->annotations, "loop", loop->var.name()));
    }
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      status.Update(CheckKeys(realize->block->annotations, "block",
                              realize->block->name));
    }
    return status.ok();
  });
  KILN_RETURN_IF_ERROR(status);
  return f;
}

}  // namespace kiln
