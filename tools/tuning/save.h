// The best program of a task, as files.
#ifndef KILN_TOOLS_TUNING_SAVE_H_
#define KILN_TOOLS_TUNING_SAVE_H_

#include <string>

#include "absl/status/status.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/search/measure/builder.h"
#include "kiln/tools/tuning/work_dir.h"

namespace kiln {

// Writes best.py and best.pb (the module with `best` in place of its function
// of that name), trace.py and kernel.o, and for C programs kernel.h, example.c,
// kiln_host.h and kiln_host.c (tools/c_export). Where the function lays out
// constant arguments ahead, prepare.o does that, and kernel.o reads them; the
// signatures of both are those of ir/transform/split_preparation.h. The code is
// `measured`, byte for byte; where that is null, it is built.
absl::Status SaveBest(Module module, const Function& best,
                      const std::string& trace, const WorkDir& dir,
                      const BuildResult* measured, Builder& builder,
                      const Target& target);

}  // namespace kiln

#endif  // KILN_TOOLS_TUNING_SAVE_H_
