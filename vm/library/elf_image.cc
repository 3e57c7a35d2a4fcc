#include "kiln/vm/library/elf_image.h"

#include <elf.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#endif

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

bool IsInside(std::string_view bytes, uint64_t offset, uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

absl::StatusOr<Elf64_Ehdr> ReadFileHeader(std::string_view bytes) {
  if (!IsElf(bytes)) return Invalid("is no ELF file");
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header)) return Invalid("is cut short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return Invalid("is no little-endian file of 64 bits");
  }
  return header;
}

// The `count` headers of `size` bytes each from `offset` on.
template <typename T>
absl::StatusOr<std::vector<T>> ReadTable(std::string_view bytes,
                                         uint64_t offset, uint16_t count,
                                         uint16_t size) {
  if (count > 0 && size != sizeof(T)) return Invalid("has headers of no size");
  if (!IsInside(bytes, offset, uint64_t{count} * sizeof(T))) {
    return Invalid("is cut short");
  }
  std::vector<T> table(count);
  if (count == 0) return table;
  std::memcpy(table.data(), bytes.data() + offset, count * sizeof(T));
  return table;
}

}  // namespace

bool IsElf(std::string_view bytes) {
  return bytes.substr(0, SELFMAG) == std::string_view(ELFMAG, SELFMAG);
}

absl::StatusOr<uint16_t> ElfMachine(std::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Elf64_Ehdr header, ReadFileHeader(bytes));
  return header.e_machine;
}

absl::Status CheckSharedObject(std::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Elf64_Ehdr header, ReadFileHeader(bytes));
  if (header.e_type != ET_DYN) return Invalid("is no shared object");
  if (header.e_machine != kThisMachine) {
    return Invalid(absl::StrCat("is for processors of kind ", header.e_machine,
                                " (ELF's number), and this machine is of kind ",
                                kThisMachine, ": compile it for this one"));
  }
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Elf64_Phdr> segments,
      ReadTable<Elf64_Phdr>(bytes, header.e_phoff, header.e_phnum,
                            header.e_phentsize));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_NULL || segment.p_type == PT_GNU_STACK) continue;
    if (!IsInside(bytes, segment.p_offset, segment.p_filesz)) {
      return Invalid("is cut short");
    }
    if (segment.p_memsz < segment.p_filesz) {
      return Invalid("has a segment that is larger than its memory");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ElfPart> FindElfSection(std::string_view bytes,
                                       std::string_view name) {
  KILN_ASSIGN_OR_RETURN(const Elf64_Ehdr header, ReadFileHeader(bytes));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Elf64_Shdr> sections,
      ReadTable<Elf64_Shdr>(bytes, header.e_shoff, header.e_shnum,
                            header.e_shentsize));
  if (header.e_shstrndx >= sections.size()) return Invalid("has no sections");
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  if (!IsInside(bytes, names.sh_offset, names.sh_size)) {
    return Invalid("is cut short");
  }
  const std::string_view text = bytes.substr(names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= text.size()) continue;
    const std::string_view rest = text.substr(section.sh_name);
    if (rest.substr(0, rest.find('\0')) != name) continue;
    if (!IsInside(bytes, section.sh_offset, section.sh_size)) {
      return Invalid("is cut short");
    }
    return ElfPart{section.sh_offset, section.sh_size};
  }
  return absl::NotFoundError(
      absl::StrCat("has no section ", std::string(name)));
}

}  // namespace kiln
