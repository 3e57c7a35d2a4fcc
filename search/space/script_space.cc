#include "kiln/search/space/script_space.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/random.h"
#include "kiln/base/sha256.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/python/parser.h"
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

// The functions of the text; an empty name stands for a text without any.
absl::StatusOr<std::vector<std::string>> FunctionNames(
    const python::Source& source) {
  KILN_ASSIGN_OR_RETURN(std::vector<python::Stmt> stmts,
                        python::ParseFile(source));
  std::vector<std::string> names;
  for (const python::Stmt& stmt : stmts) {
    if (stmt.kind == python::StmtKind::kFunction && !IsPrivateFunction(stmt)) {
      names.push_back(stmt.name);
    }
  }
  if (names.size() < 2) names = {""};
  return names;
}

// The trace of the function called `name`, with the first choices that pass.
absl::StatusOr<Trace> FindTrace(const Module& module,
                                const python::Source& source,
                                const std::string& name) {
  absl::Status status;
  for (int i = 0; i < kFirstTries; ++i) {
    Schedule schedule(module, {.seed = static_cast<uint64_t>(i)});
    status = RunScript(source, &schedule, name);
    if (status.ok()) return schedule.trace();
    if (!absl::IsFailedPrecondition(status)) break;
  }
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ScriptSpace>> ScriptSpace::Create(
    const Module& module, int function, const python::Source& source) {
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> names, FunctionNames(source));
  std::unique_ptr<ScriptSpace> space(new ScriptSpace(State(module), function));
  absl::Status status;
  for (const std::string& name : names) {
    absl::StatusOr<Trace> trace = FindTrace(module, source, name);
    if (trace.ok()) {
      Decisions open = OpenDecisions(*trace);
      space->alternatives_.push_back({*std::move(trace), std::move(open)});
    } else if (absl::IsFailedPrecondition(trace.status())) {
      status = trace.status();
    } else {
      return trace.status();
    }
  }
  if (space->alternatives_.empty()) return status;
  return space;
}

absl::StatusOr<Candidate> ScriptSpace::Sample(uint64_t seed,
                                              uint64_t index) const {
  const auto& [trace, open] = alternatives_[index % alternatives_.size()];
  State state = start_;
  Decisions made;
  const uint64_t own_seed = RandomBits(seed, index, 0);
  KILN_RETURN_IF_ERROR(kiln::Replay(trace, 0, trace.instructions.size(), open,
                                    own_seed, &state, &made));
  Candidate candidate;
  candidate.scheduled = *state.functions[function_];
  candidate.program_hash = Sha256Hex(CanonicalForm(candidate.scheduled));
  candidate.decisions = ToText(made);
  candidate.trace = kiln::ToText(WithDecisions(trace, made));
  return candidate;
}

absl::StatusOr<Function> ScriptSpace::Replay(const Module& module, int function,
                                             const std::string& trace) {
  Schedule schedule(module);
  KILN_RETURN_IF_ERROR(RunScript(python::Source("<trace>", trace), &schedule));
  return *schedule.state().functions[function];
}

}  // namespace kiln
