#include "kiln/codegen/target/required_features.h"

#include "kiln/base/cpu_features.h"
#include "kiln/codegen/target/subtarget.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln {

std::vector<std::string> RequiredFeatures(const Target& target) {
  std::vector<std::string> required;
  const auto subtarget = codegen_internal::Subtarget(target);
  if (!subtarget || !llvm::Triple(target.triple).isX86()) return required;
  for (const std::string& feature : KnownCpuFeatures()) {
    if (subtarget->checkFeatures("+" + feature)) required.push_back(feature);
  }
  return required;
}

}  // namespace kiln
