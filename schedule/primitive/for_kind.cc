#include "kiln/schedule/primitive/for_kind.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/independence.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr std::string_view kThreadAxes[] = {
    "blockIdx.x",  "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y",
    "threadIdx.z", "vthread",    "vthread.x",  "vthread.y",   "vthread.z"};

Function WithKind(const Function& f, const Path& path, ForKind kind,
                  std::string thread_tag = "") {
  ForFields fields = path.loop()->fields();
  fields.for_kind = kind;
  fields.thread_tag = std::move(thread_tag);
  return ReplaceAt(f, path, MakeFor(std::move(fields)));
}

absl::Status CheckIndependent(const Path& path, std::string_view primitive,
                              IndependenceOptions options = {}) {
  if (Reason reason = WhyNotIndependent(path, options)) {
    return Refusal(primitive,
                   absl::StrCat("the iterations of ", Describe(*path.loop()),
                                " are not independent: ", *reason));
  }
  return absl::OkStatus();
}

// A buffer of one thread holds what that thread wrote, so two loops over the
// threads, one in the other, would leave most of it unwritten.
absl::Status CheckNestedAxis(const Path& path, std::string_view axis) {
  const auto is_same = [&](const ForNode* loop) {
    return loop->for_kind == ForKind::kThreadBinding &&
           loop->thread_tag == axis;
  };
  const std::vector<const ForNode*> above = LoopsAbove(path);
  if (std::none_of(above.begin(), above.end(), is_same)) {
    return absl::OkStatus();
  }
  absl::Status status;
  ForEachBlock(path.back(), [&](const BlockRealizeNode& realize) {
    for (const BufferRegion& written : realize.block->writes) {
      if (written.buffer->scope != "local") continue;
      status = Refusal(
          "bind", absl::StrCat("a loop around it has axis ", std::string(axis),
                               ", and `", written.buffer->name,
                               "` is the memory of one thread"));
    }
  });
  return status;
}

}  // namespace

absl::StatusOr<Function> Parallel(const Function& f, LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, "parallel"));
  KILN_RETURN_IF_ERROR(CheckIndependent(path, "parallel"));
  return WithKind(f, path, ForKind::kParallel);
}

absl::StatusOr<Function> Vectorize(const Function& f, LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, "vectorize"));
  KILN_RETURN_IF_ERROR(CheckIndependent(path, "vectorize"));
  return WithKind(f, path, ForKind::kVectorized);
}

absl::StatusOr<Function> Unroll(const Function& f, LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, "unroll"));
  return WithKind(f, path, ForKind::kUnrolled);
}

absl::StatusOr<Function> Bind(const Function& f, LoopId loop,
                              std::string_view axis) {
  if (std::find(std::begin(kThreadAxes), std::end(kThreadAxes), axis) ==
      std::end(kThreadAxes)) {
    return BadArgument(
        "bind", absl::StrCat("\"", std::string(axis), "\" is no thread axis"),
        "use blockIdx, threadIdx or vthread with .x, .y or .z");
  }
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, "bind"));
  const bool is_thread = axis.substr(0, 9) == "threadIdx";
  KILN_RETURN_IF_ERROR(
      CheckIndependent(path, "bind", {.allow_reduction = is_thread}));
  KILN_RETURN_IF_ERROR(CheckNestedAxis(path, axis));
  return WithKind(f, path, ForKind::kThreadBinding, std::string(axis));
}

}  // namespace kiln
