// Names cannot be translated by a table made beforehand, since steps make
// blocks and buffers and name them. So both programs are carried along, a under
// the names of the trace and b under the wanted ones, and every step is made in
// both:
//
//   trace of a                       in a          in b      trace of b
//   get_block("C", "main")           block 1   →   block 1   "product", "mm"
//   cache_write(b0, "C", "local")    write 1   →   write 1   "out"
//   get_block("C_local", "main")     block 2   →   block 2   "out_local"
//
// Both start with one structure and see the same steps, so a place in one is
// the same place in the other. That they still are one structure at the end is
// checked, and a trace under which they come apart is refused.
#include "kiln/search/database/rename_trace.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/trace/buffer_arg.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

// Both programs after the same steps; the trace of `b` in its own names.
class Pair {
 public:
  Pair(const StoredFunction& from, const StoredFunction& to,
       const Trace& trace);

  absl::Status Step(size_t i);
  Trace TakeTrace() { return std::move(renamed_); }
  const Function& a() const { return *a_.functions[from_]; }
  const Function& b() const { return *b_.functions[to_]; }

 private:
  absl::Status RenameFunction(Arg* arg) const;
  absl::Status RenameBlock(const Instruction& step, Arg* arg) const;
  absl::Status RenameBuffer(const Instruction& step, Arg* arg) const;
  absl::Status Replay(const Trace& trace, size_t i, State* state) const;

  const Trace& trace_;
  Trace renamed_;
  Decisions decisions_;
  State a_, b_;
  int from_, to_;
};

Pair::Pair(const StoredFunction& from, const StoredFunction& to,
           const Trace& trace)
    : trace_(trace),
      renamed_(trace),
      decisions_(GetDecisions(trace)),
      a_(from.module),
      b_(to.module),
      from_(from.index),
      to_(to.index) {}

absl::Status Pair::Replay(const Trace& trace, size_t i, State* state) const {
  return kiln::Replay(trace, i, i + 1, decisions_, 0, state);
}

absl::Status Pair::RenameFunction(Arg* arg) const {
  if (*arg->string() != a().name) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the trace schedules ", *arg->string(), " besides ", a().name));
  }
  *arg = b().name;
  return absl::OkStatus();
}

// The name in `b` of the block that the step has found in `a`.
absl::Status Pair::RenameBlock(const Instruction& step, Arg* arg) const {
  const BlockId found = a_.rvs[step.outputs[0].index].value;
  int64_t place = -1, next = 0;
  ForEachBlockDeep(a().body, [&](const BlockRealizeNode& realize) {
    if (realize.block->id == found) place = next;
    ++next;
  });
  next = 0;
  bool renamed = false;
  ForEachBlockDeep(b().body, [&](const BlockRealizeNode& realize) {
    if (next++ != place) return;
    *arg = realize.block->name;
    renamed = true;
  });
  if (renamed) return absl::OkStatus();
  return absl::InternalError("the programs have come apart");
}

absl::Status Pair::RenameBuffer(const Instruction& step, Arg* arg) const {
  const Rv& block = *step.args[0].rv();
  KILN_ASSIGN_OR_RETURN(
      const BufferPosition at,
      FindBuffer(a(), a_.rvs[block.index].value, *arg, step.kind->name));
  KILN_ASSIGN_OR_RETURN(
      const Path path,
      RequireBlock(b(), b_.rvs[block.index].value, step.kind->name));
  const BlockNode& other = *path.realize()->block;
  const auto& regions =
      at.side == BufferSide::kRead ? other.reads : other.writes;
  if (at.index >= static_cast<int>(regions.size())) {
    return absl::InternalError("the programs have come apart");
  }
  *arg = regions[at.index].buffer->name;
  return absl::OkStatus();
}

absl::Status Pair::Step(size_t i) {
  const Instruction& step = trace_.instructions[i];
  std::vector<Arg>& args = renamed_.instructions[i].args;
  for (size_t p = 0; p < args.size(); ++p) {
    const ParamKind kind = step.kind->params[p].kind;
    const bool is_buffer =
        kind == ParamKind::kBufferIndex || kind == ParamKind::kBufferRef;
    if (!is_buffer || !args[p].string()) continue;
    KILN_RETURN_IF_ERROR(RenameBuffer(step, &args[p]));
  }
  KILN_RETURN_IF_ERROR(Replay(trace_, i, &a_));
  if (step.kind->name == "get_block") {
    KILN_RETURN_IF_ERROR(RenameFunction(&args[1]));
    KILN_RETURN_IF_ERROR(RenameBlock(step, &args[0]));
  }
  return Replay(renamed_, i, &b_);
}

}  // namespace

absl::StatusOr<RenamedTrace> RenameTrace(const StoredFunction& from,
                                         const std::string& trace,
                                         const StoredFunction& to) {
  Schedule schedule(from.module);
  KILN_RETURN_IF_ERROR(RunScript(python::Source("<trace>", trace), &schedule));
  Pair pair(from, to, schedule.trace());
  for (size_t i = 0; i < schedule.trace().instructions.size(); ++i) {
    KILN_RETURN_IF_ERROR(pair.Step(i));
  }
  if (!StructurallyEqual(pair.a(), pair.b())) {
    return absl::FailedPreconditionError(
        absl::StrCat("under the names of ", pair.b().name,
                     " the trace makes another program"));
  }
  return RenamedTrace{ToText(pair.TakeTrace()), pair.b()};
}

TraceRenamer::TraceRenamer(const Workload& from, const Workload& to) {
  if (from.text == to.text && from.func_name == to.func_name) return;
  absl::StatusOr<StoredFunction> a = ReadWorkload(from), b = ReadWorkload(to);
  if (!a.ok() || !b.ok()) return;
  from_ = *std::move(a);
  to_ = *std::move(b);
}

std::string TraceRenamer::operator()(const std::string& trace) const {
  if (!changes_names()) return trace;
  absl::StatusOr<RenamedTrace> renamed = RenameTrace(*from_, trace, *to_);
  return renamed.ok() ? std::move(renamed->trace) : trace;
}

}  // namespace kiln
