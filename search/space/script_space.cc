#include "kiln/search/space/script_space.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/random.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

// How many times choices are drawn anew until a function passes.
constexpr int kFirstTries = 64;

std::string ToText(const Decisions& decisions) {
  std::string text;
  for (const Decision& decision : decisions) {
    if (decision.empty()) continue;
    absl::StrAppend(&text, "[", absl::StrJoin(decision, ","), "]");
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScriptSpace>> ScriptSpace::Create(
    const Module& module, int function, const python::Source& source) {
  absl::Status status;
  for (int i = 0; i < kFirstTries; ++i) {
    Schedule schedule(module, {.seed = static_cast<uint64_t>(i)});
    status = RunScript(source, &schedule);
    if (status.ok()) {
      return std::unique_ptr<ScriptSpace>(
          new ScriptSpace(State(module), function, schedule.trace()));
    }
    if (!absl::IsFailedPrecondition(status)) break;
  }
  return status;
}

absl::StatusOr<Candidate> ScriptSpace::Sample(uint64_t seed,
                                              uint64_t index) const {
  State state = start_;
  Decisions made;
  const uint64_t own_seed = RandomBits(seed, index, 0);
  KILN_RETURN_IF_ERROR(kiln::Replay(trace_, 0, trace_.instructions.size(),
                                    open_, own_seed, &state, &made));
  Candidate candidate;
  candidate.scheduled = *state.functions[function_];
  candidate.program_hash = Sha256Hex(CanonicalForm(candidate.scheduled));
  candidate.decisions = ToText(made);
  candidate.trace = kiln::ToText(WithDecisions(trace_, made));
  return candidate;
}

absl::StatusOr<Function> ScriptSpace::Replay(const Module& module, int function,
                                             const std::string& trace) {
  Schedule schedule(module);
  KILN_RETURN_IF_ERROR(RunScript(python::Source("<trace>", trace), &schedule));
  return *schedule.state().functions[function];
}

}  // namespace kiln
