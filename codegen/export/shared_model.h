// A model as one shared object.
//
//   KILN_RETURN_IF_ERROR(WriteSharedModel(executable, "model.so"));
//
// vm/executable/shared_model.h says what is in it, and opens it.
#ifndef KILN_CODEGEN_EXPORT_SHARED_MODEL_H_
#define KILN_CODEGEN_EXPORT_SHARED_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "kiln/vm/executable/bytecode.h"

namespace kiln {

struct SharedModelOptions {
  // A second name of the model, for programs that are linked to several.
  std::string symbol;
};

// Links the kernels' objects, the bytecode and the constants into the file
// `path`, which is replaced as a whole. Two kernels of one symbol, and a second
// name that is none in C, are refused by name. Takes room for about as many
// bytes again in a folder beside `path`, which is gone afterwards.
absl::Status WriteSharedModel(const vm::Executable& executable,
                              const std::string& path,
                              const SharedModelOptions& options = {});

}  // namespace kiln

#endif  // KILN_CODEGEN_EXPORT_SHARED_MODEL_H_
