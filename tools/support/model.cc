#include "kiln/tools/support/model.h"

#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/codegen/graph/build_executable.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/ir/transform/graph/annotate_patterns.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/tools/support/default_schedule.h"

namespace kiln {

Scheduler KeepSchedules() {
  return [](const Module&, const Function& f) { return f; };
}

Scheduler DefaultSchedules(const Target& target) {
  return [target](const Module& module,
                  const Function& f) -> absl::StatusOr<Function> {
    absl::StatusOr<DefaultSchedule> best =
        DefaultScheduleFor(module, f.name, target);
    if (absl::IsNotFound(best.status())) return f;
    if (!best.ok()) return best.status();
    return std::move(best->scheduled);
  };
}

absl::StatusOr<Module> PrepareModel(const Module& module, Fusion fusion) {
  std::vector<std::string> passes = {"lambda_lift", "legalize"};
  if (fusion == Fusion::kByPattern) {
    passes.insert(passes.end(), {"convert_to_dataflow", "canonicalize_bindings",
                                 "annotate_patterns", "fuse_ops", "fuse_tir"});
  }
  KILN_ASSIGN_OR_RETURN(Module prepared, RunGraphPasses(module, passes));
  // Records of equal functions are shared with models that are not fused.
  return WithoutPatterns(std::move(prepared));
}

absl::StatusOr<vm::Executable> CompileModel(const Module& module,
                                            const Target& target,
                                            const Scheduler& schedule) {
  return BuildExecutable(
      module, target.ToString(),
      [&](const Function& f) -> absl::StatusOr<CompiledKernel> {
        KILN_ASSIGN_OR_RETURN(const Function scheduled, schedule(module, f));
        return CompileKernel(scheduled, target);
      });
}

}  // namespace kiln
