// A model in a shared object, as bytes to damage and as code to run.
#ifndef KILN_TESTS_INPUT_FUZZ_SHARED_FILE_H_
#define KILN_TESTS_INPUT_FUZZ_SHARED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/shared_model.h"
#include "kiln/vm/library/loaded_image.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln {

struct SharedFile {
  std::string bytes;
  std::shared_ptr<const LoadedObject> object;
  const void* header = nullptr;  // in `image`
  LoadedImage image{{}};
  std::vector<int64_t> places;
};

// Links the executable in a temporary folder.
absl::StatusOr<SharedFile> WriteAndLoad(const vm::Executable& executable);

// What the file's section .kiln.model is.
std::string ModelSection(const SharedFile& file);
// The file with another one in its place, whose digest is right.
std::string WithModelSection(const SharedFile& file, std::string section);

// What is read of a file, with the kernels of the undamaged one where they are
// the same; a status where it is refused.
absl::StatusOr<vm::SharedModel> ReadDamaged(const SharedFile& file,
                                            const std::string& bytes);

}  // namespace kiln

#endif  // KILN_TESTS_INPUT_FUZZ_SHARED_FILE_H_
