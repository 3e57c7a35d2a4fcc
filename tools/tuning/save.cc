#include "kiln/tools/tuning/save.h"

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {

absl::Status SaveBest(Module module, const Function& best,
                      const std::string& trace, const WorkDir& dir,
                      const BuildResult* measured, Builder& builder) {
  Function* place = module.Find(best.name);
  if (!place) {
    return absl::NotFoundError(
        absl::StrCat("the module has no function ", best.name));
  }
  *place = best;
  KILN_RETURN_IF_ERROR(dir.Write("best.py", PrintModule(module)));
  KILN_RETURN_IF_ERROR(dir.Write("best.pb", SerializeModule(module)));
  KILN_RETURN_IF_ERROR(dir.Write("trace.py", trace));
  BuildResult built;
  if (!measured) {
    KILN_ASSIGN_OR_RETURN(built, builder.Build(best));
    measured = &built;
  }
  if (measured->preparation) {
    KILN_RETURN_IF_ERROR(dir.Write("prepare.o", measured->preparation->object));
  }
  return dir.Write("kernel.o", measured->object);
}

}  // namespace kiln
