#include "kiln/tools/tuning/save.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/link/shared_object.h"
#include "kiln/ir/serial/serial.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/tools/c_export/c_files.h"
#include "kiln/tools/c_export/c_kernel.h"

namespace kiln {
namespace {

absl::Status SaveForC(const Function& source, const BuildResult& built,
                      const Target& target, const WorkDir& dir) {
  KILN_ASSIGN_OR_RETURN(const CKernel kernel,
                        DescribeForC(source, built, target));
  KILN_RETURN_IF_ERROR(dir.Write("kernel.h", CHeader(kernel)));
  KILN_RETURN_IF_ERROR(dir.Write("example.c", CExample(kernel)));
  KILN_RETURN_IF_ERROR(dir.Write("kiln_host.h", CHostHeaderFile()));
  return dir.Write("kiln_host.c", CHostSourceFile());
}

}  // namespace

absl::Status SaveBest(Module module, const Function& best,
                      const std::string& trace, const WorkDir& dir,
                      const BuildResult* measured, Builder& builder,
                      const Target& target) {
  Function* place = module.Find(best.name);
  if (!place) {
    return absl::NotFoundError(
        absl::StrCat("the module has no function ", best.name));
  }
  const Function source = std::exchange(*place, best);
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
  KILN_RETURN_IF_ERROR(dir.Write("kernel.o", measured->object));
  std::vector<std::string> objects = {dir.File("kernel.o")};
  if (measured->preparation) objects.push_back(dir.File("prepare.o"));
  KILN_RETURN_IF_ERROR(LinkSharedObject(objects, dir.File("kernel.so")));
  return SaveForC(source, *measured, target, dir);
}

}  // namespace kiln
