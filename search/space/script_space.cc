#include "kiln/search/space/script_space.h"

#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/text/python/parser.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/search/space/knob_names.h"

namespace kiln {
namespace {

// How many times choices are drawn anew until a function passes.
constexpr int kFirstTries = 64;

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

absl::Status AddScript(const python::Source& source, TraceSpace* space) {
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> names, FunctionNames(source));
  absl::Status refusal;
  bool any = false;
  for (const std::string& name : names) {
    absl::StatusOr<Trace> trace = FindTrace(space->module(), source, name);
    if (trace.ok()) {
      space->Add(*std::move(trace), name.empty() ? source.name() : name,
                 KnobNames(source, name));
      any = true;
    } else if (absl::IsFailedPrecondition(trace.status())) {
      refusal = trace.status();
    } else {
      return trace.status();
    }
  }
  return any ? absl::OkStatus() : refusal;
}

absl::StatusOr<std::unique_ptr<TraceSpace>> MakeScriptSpace(
    const Module& module, int function, const python::Source& source) {
  auto space = std::make_unique<TraceSpace>(module, function);
  KILN_RETURN_IF_ERROR(AddScript(source, space.get()));
  return space;
}

}  // namespace kiln
