// Reading relocatable ELF objects for x86-64, distrusting every number in them.
//
// The format is that of the System V ABI, "Object Files", and of its AMD64
// supplement. What the reader returns refers only to existing sections,
// symbols and bytes.
#ifndef KILN_VM_LIBRARY_ELF_READER_H_
#define KILN_VM_LIBRARY_ELF_READER_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;      // SHT_*
  uint64_t flags = 0;     // SHF_*
  uint64_t size = 0;      // In memory.
  uint64_t align = 1;     // A power of two, up to a page (4096).
  std::string_view data;  // `size` bytes; empty for SHT_NOBITS.
};

// Where a symbol lives.
enum class ElfPlace : uint8_t { kUndefined, kAbsolute, kSection };

struct ElfSymbol {
  std::string_view name;
  ElfPlace place = ElfPlace::kUndefined;
  int section = 0;     // For kSection.
  uint64_t value = 0;  // Offset in the section (at most its size), or address.
  bool weak = false;
  bool local = false;
};

struct ElfRelocation {
  int section = 0;      // The section that is patched.
  uint64_t offset = 0;  // In that section; the type says how many bytes.
  uint32_t type = 0;    // R_X86_64_*
  int symbol = 0;
  int64_t addend = 0;
};

struct ElfObject {
  std::vector<ElfSection> sections;  // Indexed as in the file.
  std::vector<ElfSymbol> symbols;
  std::vector<ElfRelocation> relocations;
};

// The object in `bytes`, to which the result points. Refuses anything that is
// not a relocatable little-endian x86-64 object, or is damaged, or uses what
// kernels have no use for (thread-local or common symbols, indirect functions,
// relocations without addend).
absl::StatusOr<ElfObject> ReadElfObject(std::string_view bytes);

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_ELF_READER_H_
