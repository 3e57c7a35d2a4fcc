// Relocatable objects that hold data: written byte by byte, since what a
// compiler would make of hundreds of megabytes of weights takes its time.
#ifndef KILN_CODEGEN_EXPORT_DATA_OBJECT_H_
#define KILN_CODEGEN_EXPORT_DATA_OBJECT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace kiln {

// A section that is read and nothing else.
struct DataSection {
  std::string name;
  uint64_t alignment = 1;
  std::vector<std::string_view> parts;  // its bytes, one part after the other
  // Lies as far as need be from code that uses 32-bit displacements (x86).
  bool is_large = false;
};

// A name for the beginning of a section.
struct DataSymbol {
  std::string name;
  int section = 0;
};

// 64 bits at `offset` of section 0 that the linker sets to the distance of a
// symbol, which another object defines, from the section's beginning.
struct Distance {
  uint64_t offset = 0;
  std::string symbol;
};

struct DataObject {
  uint16_t machine = 0;  // EM_X86_64 or EM_AARCH64
  std::vector<DataSection> sections;
  std::vector<DataSymbol> symbols;  // exported
  std::vector<Distance> distances;
};

// Writes the file. InvalidArgument for another machine; else what the system
// says, with the path.
absl::Status WriteDataObject(const DataObject& object, const std::string& path);

}  // namespace kiln

#endif  // KILN_CODEGEN_EXPORT_DATA_OBJECT_H_
