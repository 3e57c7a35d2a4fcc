#include "kiln/schedule/primitive/add_unit_loop.h"

#include "kiln/base/status_macros.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

constexpr char kName[] = "add_unit_loop";

AddUnitLoopResult Wrap(const Function& f, const Path& path) {
  AddUnitLoopResult result{f, 0};
  result.loop = result.function.NewId();
  result.function.body =
      ReplaceAt(path, MakeFor(result.loop, Var("u"), Int(1), path.back()));
  return result;
}

}  // namespace

absl::StatusOr<AddUnitLoopResult> AddUnitLoopAboveBlock(const Function& f,
                                                        BlockId block) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireBlock(f, block, kName));
  if (path.size() == 1) {
    return Refusal(kName, "no loop can stand around the root block");
  }
  return Wrap(f, path);
}

absl::StatusOr<AddUnitLoopResult> AddUnitLoopAboveLoop(const Function& f,
                                                       LoopId loop) {
  KILN_ASSIGN_OR_RETURN(const Path path, RequireLoop(f, loop, kName));
  return Wrap(f, path);
}

}  // namespace kiln
