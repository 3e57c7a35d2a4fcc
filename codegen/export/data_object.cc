// The file, for sections .a and .b (System V ABI, "Object Files"):
//
//   file header | .a | .b | .rela.a | .symtab | .strtab | section headers
//
// Symbols are: none, the undefined ones of distances, the exported ones. A
// distance at offset p of section .a to the symbol S is the relocation S + p -
// (place of the field), which is S - (beginning of .a).
#include "kiln/codegen/export/data_object.h"

#include <elf.h>

#include <cerrno>
#include <cstdio>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr uint64_t kLargeSection = 0x10000000;  // SHF_X86_64_LARGE

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

template <typename T>
std::string_view BytesOf(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

class ObjectFile {
 public:
  ObjectFile(const DataObject& object, std::FILE* file)
      : object_(object), file_(file) {}

  // False where the file cannot be written.
  bool Write() {
    AddSections();
    AddSymbols();
    AddRelocations();
    AddTables();
    return WriteAll();
  }

 private:
  // A section of the file: its header, and its bytes.
  struct Section {
    Elf64_Shdr header = {};
    std::vector<std::string_view> parts;
  };

  uint32_t AddName(const std::string& name) {
    const auto at = static_cast<uint32_t>(names_.size());
    names_ += name + '\0';
    return at;
  }

  Section& AddSection(const std::string& name, uint32_t type,
                      uint64_t alignment, std::vector<std::string_view> parts) {
    Section section;
    section.header.sh_name = AddName(name);
    section.header.sh_type = type;
    section.header.sh_addralign = alignment;
    for (std::string_view part : parts) section.header.sh_size += part.size();
    section.parts = std::move(parts);
    sections_.push_back(std::move(section));
    return sections_.back();
  }

  void AddSections() {
    sections_.emplace_back();  // none
    for (const DataSection& data : object_.sections) {
      Section& section =
          AddSection(data.name, SHT_PROGBITS, data.alignment, data.parts);
      section.header.sh_flags = SHF_ALLOC;
      if (data.is_large && object_.machine == EM_X86_64) {
        section.header.sh_flags |= kLargeSection;
      }
    }
    AddSection(".note.GNU-stack", SHT_PROGBITS, 1, {});
  }

  // Sections are numbered from 1.
  int AddSymbol(const std::string& name, unsigned char info, int section,
                uint64_t size = 0) {
    Elf64_Sym symbol = {};
    symbol.st_name = name.empty() ? 0 : AddName(name);
    symbol.st_info = info;
    symbol.st_shndx = static_cast<uint16_t>(section);
    symbol.st_size = size;
    symbols_.push_back(symbol);
    return static_cast<int>(symbols_.size()) - 1;
  }

  void AddSymbols() {
    AddSymbol("", 0, SHN_UNDEF);
    for (const Distance& distance : object_.distances) {
      if (undefined_.count(distance.symbol)) continue;
      undefined_[distance.symbol] = AddSymbol(
          distance.symbol, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), SHN_UNDEF);
    }
    for (const DataSymbol& symbol : object_.symbols) {
      AddSymbol(symbol.name, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                symbol.section + 1,
                sections_[symbol.section + 1].header.sh_size);
    }
  }

  void AddRelocations() {
    const uint32_t type =
        object_.machine == EM_X86_64 ? R_X86_64_PC64 : R_AARCH64_PREL64;
    for (const Distance& distance : object_.distances) {
      const uint64_t symbol = undefined_[distance.symbol];
      relocations_.push_back({distance.offset, ELF64_R_INFO(symbol, type),
                              static_cast<int64_t>(distance.offset)});
    }
  }

  void AddTables() {
    const auto symtab = static_cast<uint32_t>(sections_.size()) + 1;
    Section& relocations = AddSection(".rela" + object_.sections[0].name,
                                      SHT_RELA, 8, {BytesOf(relocations_)});
    relocations.header.sh_info = 1;
    relocations.header.sh_link = symtab;
    relocations.header.sh_entsize = sizeof(Elf64_Rela);
    Section& symbols =
        AddSection(".symtab", SHT_SYMTAB, 8, {BytesOf(symbols_)});
    symbols.header.sh_link = symtab + 1;
    symbols.header.sh_info = 1;  // the first that is not local
    symbols.header.sh_entsize = sizeof(Elf64_Sym);
    Section& names = AddSection(".strtab", SHT_STRTAB, 1, {});
    names.parts = {names_};
    names.header.sh_size = names_.size();
  }

  bool WriteAll() {
    uint64_t end = sizeof(Elf64_Ehdr);
    for (size_t i = 1; i < sections_.size(); ++i) {
      Elf64_Shdr& header = sections_[i].header;
      header.sh_offset = RoundUp(end, header.sh_addralign);
      end = header.sh_offset + header.sh_size;
    }
    const Elf64_Ehdr header = FileHeader(RoundUp(end, 8));
    Put(BytesOf(header));
    for (const Section& section : sections_) {
      if (section.header.sh_type == SHT_NULL) continue;
      Pad(section.header.sh_offset);
      for (std::string_view part : section.parts) Put(part);
    }
    Pad(header.e_shoff);
    for (const Section& section : sections_) Put(BytesOf(section.header));
    return is_good_;
  }

  Elf64_Ehdr FileHeader(uint64_t sections_at) const {
    Elf64_Ehdr header = {};
    for (int i = 0; i < SELFMAG; ++i) {
      header.e_ident[i] = static_cast<unsigned char>(ELFMAG[i]);
    }
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = object_.machine;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shoff = sections_at;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections_.size());
    header.e_shstrndx = static_cast<uint16_t>(sections_.size() - 1);
    return header;
  }

  static uint64_t RoundUp(uint64_t n, uint64_t alignment) {
    return (n + alignment - 1) / alignment * alignment;
  }

  void Put(std::string_view bytes) {
    is_good_ = is_good_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) ==
                               bytes.size();
    written_ += bytes.size();
  }

  void Pad(uint64_t offset) { Put(std::string(offset - written_, '\0')); }

  const DataObject& object_;
  std::FILE* const file_;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::vector<Elf64_Rela> relocations_;
  std::string names_ = std::string(1, '\0');
  std::map<std::string, int> undefined_;
  uint64_t written_ = 0;
  bool is_good_ = true;
};

}  // namespace

absl::Status WriteDataObject(const DataObject& object,
                             const std::string& path) {
  if (object.machine != EM_X86_64 && object.machine != EM_AARCH64) {
    return absl::InvalidArgumentError(
        absl::StrCat("no objects are written for processors of kind ",
                     object.machine, " (ELF's number)"));
  }
  std::FILE* file = std::fopen(path.c_str(), "wb");
  const std::string what = absl::StrCat("cannot write ", path);
  if (file == nullptr) return absl::ErrnoToStatus(errno, what);
  const bool is_written = ObjectFile(object, file).Write();
  const int error = errno;
  if (std::fclose(file) == 0 && is_written) return absl::OkStatus();
  return absl::ErrnoToStatus(is_written ? errno : error, what);
}

}  // namespace kiln
