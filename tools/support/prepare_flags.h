// --fuse, --numerics and --precision, of the tools that make models ready to
// run.
#ifndef KILN_TOOLS_SUPPORT_PREPARE_FLAGS_H_
#define KILN_TOOLS_SUPPORT_PREPARE_FLAGS_H_

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/tools/support/model.h"

namespace kiln {

// What the flags ask of PrepareModel. InvalidArgument for numerics or a
// precision that are none of a model.
absl::StatusOr<PrepareOptions> PrepareOptionsOfFlags();

// PrepareModel as the flags ask.
absl::StatusOr<Module> PrepareByFlags(const Module& module);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_PREPARE_FLAGS_H_
