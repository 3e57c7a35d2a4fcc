// Shared objects as files, distrusting every number in them.
#ifndef KILN_VM_LIBRARY_ELF_IMAGE_H_
#define KILN_VM_LIBRARY_ELF_IMAGE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// Whether the bytes begin as ELF files do.
bool IsElf(std::string_view bytes);

// Whether the system may open the file whose bytes these are: a shared object
// for this machine's architecture that has all that it says is loaded. The
// loader of the system maps a file that was cut short, and who reads there is
// ended by a signal. InvalidArgument says what is wrong.
absl::Status CheckSharedObject(std::string_view bytes);

// The kind of processor that an ELF file is for (EM_*). InvalidArgument where
// it is none.
absl::StatusOr<uint16_t> ElfMachine(std::string_view bytes);

struct ElfPart {
  uint64_t offset = 0, size = 0;
};
// Where in the file the section of that name is. NotFound where it is not.
absl::StatusOr<ElfPart> FindElfSection(std::string_view bytes,
                                       std::string_view name);

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_ELF_IMAGE_H_
