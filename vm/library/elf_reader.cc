// Every number of the file is checked once, when it is read, against what it
// refers to; what has been read may then be trusted. So tables are read in the
// order in which they refer to each other:
//
//   header → sections → symbols (in sections) → relocations (of both)
//
// A range is compared without a sum that could wrap: of 100 bytes, the slice at
// offset 2^64 - 1 of size 2 is refused for its offset, one at 90 of size 2^64 -
// 1 for being longer than the 10 bytes behind it. Names have to end inside of
// their table. Tables need not be aligned, so records are copied out.
//
// Whether a relocation fits in its section depends on its type, and is checked
// where it is applied (object_loader.cc).
#include "kiln/vm/library/elf_reader.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr uint64_t kMaxAlign = 4096;

absl::Status Malformed(std::string message) {
  return absl::InvalidArgumentError("malformed object file: " + message);
}

// The `size` bytes at `offset`, if they all exist.
std::optional<std::string_view> Slice(std::string_view bytes, uint64_t offset,
                                      uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return std::nullopt;
  }
  return bytes.substr(offset, size);
}

// The records of a table; a rest shorter than a record is left out. Nothing in
// a file needs to be aligned, so records are copied.
template <typename T>
std::vector<T> Records(std::string_view bytes) {
  std::vector<T> records(bytes.size() / sizeof(T));
  if (!records.empty()) {
    std::memcpy(records.data(), bytes.data(), records.size() * sizeof(T));
  }
  return records;
}

std::optional<std::string_view> StringAt(std::string_view table,
                                         uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const size_t end = table.find('\0', offset);
  if (end == table.npos) return std::nullopt;
  return table.substr(offset, end - offset);
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<ElfObject> Read() {
    KILN_RETURN_IF_ERROR(ReadHeader());
    KILN_RETURN_IF_ERROR(ReadSections());
    for (size_t i = 0; i < headers_.size(); ++i) {
      if (headers_[i].sh_type != SHT_SYMTAB) continue;
      if (symbol_table_ != 0) return Malformed("two symbol tables");
      symbol_table_ = i;
      KILN_RETURN_IF_ERROR(ReadSymbols(headers_[i]));
    }
    for (const Elf64_Shdr& header : headers_) {
      KILN_RETURN_IF_ERROR(ReadRelocations(header));
    }
    return std::move(object_);
  }

 private:
  absl::Status ReadHeader() {
    if (bytes_.size() < sizeof(Elf64_Ehdr) ||
        bytes_.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG)) {
      return absl::InvalidArgumentError(
          "not an object file: it does not begin with an ELF header");
    }
    Elf64_Ehdr header;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != EM_X86_64 || header.e_type != ET_REL) {
      return absl::InvalidArgumentError(
          "not a relocatable object for x86-64 (machine " +
          std::to_string(header.e_machine) + ", type " +
          std::to_string(header.e_type) + ")");
    }
    if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
        header.e_shnum >= SHN_LORESERVE) {
      return Malformed("its section table has an impossible size");
    }
    const auto table = Slice(bytes_, header.e_shoff,
                             uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    if (!table) return Malformed("its section table lies outside the file");
    headers_ = Records<Elf64_Shdr>(*table);
    names_index_ = header.e_shstrndx;
    return absl::OkStatus();
  }

  absl::StatusOr<std::string_view> DataOf(const Elf64_Shdr& header) const {
    const auto data = Slice(bytes_, header.sh_offset, header.sh_size);
    if (!data) return Malformed("a section lies outside the file");
    return *data;
  }

  absl::StatusOr<std::string_view> Strings(uint64_t section) const {
    if (section >= headers_.size() || headers_[section].sh_type != SHT_STRTAB) {
      return Malformed("a string table is missing");
    }
    return DataOf(headers_[section]);
  }

  absl::Status ReadSections() {
    KILN_ASSIGN_OR_RETURN(const std::string_view names, Strings(names_index_));
    for (const Elf64_Shdr& header : headers_) {
      ElfSection section;
      const auto name = StringAt(names, header.sh_name);
      if (!name) return Malformed("a section's name lies outside its table");
      section.name = *name;
      section.type = header.sh_type;
      section.flags = header.sh_flags;
      section.size = header.sh_size;
      section.align = std::max<uint64_t>(header.sh_addralign, 1);
      if ((section.align & (section.align - 1)) != 0 ||
          section.align > kMaxAlign) {
        return Malformed("section " + std::string(section.name) +
                         " has alignment " + std::to_string(section.align));
      }
      if (section.type != SHT_NOBITS && section.type != SHT_NULL) {
        KILN_ASSIGN_OR_RETURN(section.data, DataOf(header));
      }
      object_.sections.push_back(section);
    }
    return absl::OkStatus();
  }

  absl::Status ReadSymbols(const Elf64_Shdr& header) {
    KILN_ASSIGN_OR_RETURN(const std::string_view data, DataOf(header));
    KILN_ASSIGN_OR_RETURN(const std::string_view names,
                          Strings(header.sh_link));
    for (const Elf64_Sym& record : Records<Elf64_Sym>(data)) {
      ElfSymbol symbol;
      const auto name = StringAt(names, record.st_name);
      if (!name) return Malformed("a symbol's name lies outside its table");
      symbol.name = *name;
      symbol.value = record.st_value;
      symbol.weak = ELF64_ST_BIND(record.st_info) == STB_WEAK;
      symbol.local = ELF64_ST_BIND(record.st_info) == STB_LOCAL;
      KILN_RETURN_IF_ERROR(Place(record, symbol));
      object_.symbols.push_back(symbol);
    }
    return absl::OkStatus();
  }

  absl::Status Place(const Elf64_Sym& record, ElfSymbol& symbol) const {
    const std::string name(symbol.name);
    const int type = ELF64_ST_TYPE(record.st_info);
    if (type == STT_TLS || type == STT_GNU_IFUNC) {
      return absl::UnimplementedError("symbol " + name +
                                      " is thread-local or chosen at load "
                                      "time; kernels can have neither");
    }
    if (record.st_shndx == SHN_UNDEF) return absl::OkStatus();
    if (record.st_shndx == SHN_ABS) {
      symbol.place = ElfPlace::kAbsolute;
      return absl::OkStatus();
    }
    if (record.st_shndx == SHN_COMMON) {
      return absl::UnimplementedError("symbol " + name +
                                      " is common; compile with -fno-common");
    }
    if (record.st_shndx >= object_.sections.size()) {
      return Malformed("symbol " + name + " lies in no section");
    }
    symbol.place = ElfPlace::kSection;
    symbol.section = record.st_shndx;
    if (symbol.value > object_.sections[symbol.section].size) {
      return Malformed("symbol " + name + " lies outside its section");
    }
    return absl::OkStatus();
  }

  absl::Status ReadRelocations(const Elf64_Shdr& header) {
    if (header.sh_type == SHT_REL) {
      return absl::UnimplementedError("relocations without addend");
    }
    if (header.sh_type != SHT_RELA) return absl::OkStatus();
    if (header.sh_info >= object_.sections.size() ||
        header.sh_link != symbol_table_) {
      return Malformed("relocations of no section or without symbols");
    }
    KILN_ASSIGN_OR_RETURN(const std::string_view data, DataOf(header));
    for (const Elf64_Rela& record : Records<Elf64_Rela>(data)) {
      ElfRelocation relocation;
      relocation.section = static_cast<int>(header.sh_info);
      relocation.offset = record.r_offset;
      relocation.type = ELF64_R_TYPE(record.r_info);
      relocation.addend = record.r_addend;
      const uint64_t symbol = ELF64_R_SYM(record.r_info);
      if (symbol >= object_.symbols.size()) {
        return Malformed("a relocation of no symbol");
      }
      relocation.symbol = static_cast<int>(symbol);
      object_.relocations.push_back(relocation);
    }
    return absl::OkStatus();
  }

  std::string_view bytes_;
  std::vector<Elf64_Shdr> headers_;
  uint64_t names_index_ = 0;
  uint64_t symbol_table_ = 0;  // Section 0 is never one.
  ElfObject object_;
};

}  // namespace

absl::StatusOr<ElfObject> ReadElfObject(std::string_view bytes) {
  return Reader(bytes).Read();
}

}  // namespace kiln
