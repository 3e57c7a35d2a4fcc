// Relocatable objects to one shared object, by lld in this process.
#ifndef KILN_CODEGEN_LINK_SHARED_OBJECT_H_
#define KILN_CODEGEN_LINK_SHARED_OBJECT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace kiln {

// Links the files `objects`, all for one target, into the file `output`, which
// is replaced as a whole. Functions that they leave undefined, such as those of
// the C library, stay so. `options` are lld's, before the files. The error has
// lld's messages. Threads wait for each other.
absl::Status LinkSharedObject(const std::vector<std::string>& objects,
                              const std::string& output,
                              const std::vector<std::string>& options = {});

}  // namespace kiln

#endif  // KILN_CODEGEN_LINK_SHARED_OBJECT_H_
