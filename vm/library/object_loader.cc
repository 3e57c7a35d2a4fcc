// All sections lie in one mapping, so that code reaches its data by 32-bit
// displacements:
//
//   code, then a jump for each far function  | read, execute
//   constants, then the table of addresses   | read
//   data                                     | read, write
//
// The table of addresses (GOT) has an entry for each symbol that a GOTPCREL
// relocation asks for. Call targets outside the object may be further away than
// 2 GiB: calls go to a jump of 14 bytes then, jmp *0(%rip) before the address.
#include "kiln/vm/library/object_loader.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/library/elf_reader.h"

namespace kiln {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
// Kept in front of the first function: instrumented callers (such as
// -fsanitize=function) read the bytes before the function that they call.
constexpr uint64_t kCodePrefix = 64;
constexpr uint64_t kGotEntry = 8;
constexpr uint64_t kJump = 16;
constexpr int kNone = -1;

// Parts of the mapping, in order.
enum Segment { kCode = 0, kConstants = 1, kData = 2, kSegments = 3 };
constexpr int kProtection[kSegments] = {PROT_READ | PROT_EXEC, PROT_READ,
                                        PROT_READ | PROT_WRITE};

uint64_t RoundUp(uint64_t value, uint64_t align) {
  return (value + align - 1) & ~(align - 1);
}

bool IsLoaded(const ElfSection& section) {
  return (section.flags & SHF_ALLOC) != 0 && section.name != ".eh_frame" &&
         section.type != SHT_X86_64_UNWIND && section.type != SHT_NOTE;
}

Segment SegmentOf(const ElfSection& section) {
  if ((section.flags & SHF_WRITE) != 0) return kData;
  return (section.flags & SHF_EXECINSTR) != 0 ? kCode : kConstants;
}

// Bytes that a relocation patches; 0 for a type that is not supported.
uint64_t PatchSize(uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC64:
      return 8;
    case R_X86_64_32:
    case R_X86_64_32S:
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return 4;
    default:
      return 0;
  }
}

bool UsesGot(uint32_t type) {
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
         type == R_X86_64_REX_GOTPCRELX;
}

bool IsAbsolute32(uint32_t type) {
  return type == R_X86_64_32 || type == R_X86_64_32S;
}

bool FitsSigned32(uint64_t value) {
  return static_cast<uint64_t>(static_cast<int64_t>(
             static_cast<int32_t>(static_cast<uint32_t>(value)))) == value;
}

bool IsRelative(uint32_t type) {
  return type != R_X86_64_64 && !IsAbsolute32(type);
}

bool Fits(uint32_t type, uint64_t value) {
  if (PatchSize(type) == 8) return true;
  if (type == R_X86_64_32) return value <= UINT32_MAX;
  return FitsSigned32(value);
}

uint64_t Address(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

absl::Status Malformed(const std::string& message) {
  return absl::InvalidArgumentError("malformed object file: " + message);
}

}  // namespace

class ObjectLinker {
 public:
  ObjectLinker(const ElfObject& object, const ObjectLoadOptions& options)
      : object_(object),
        options_(options),
        offsets_(object.sections.size(), 0),
        addresses_(object.symbols.size()),
        got_(object.symbols.size(), kNone),
        jumps_(object.symbols.size(), kNone),
        loaded_(new LoadedObject()) {}

  absl::StatusOr<std::shared_ptr<const LoadedObject>> Link() {
    KILN_RETURN_IF_ERROR(CheckSections());
    KILN_RETURN_IF_ERROR(CheckRelocations());
    KILN_RETURN_IF_ERROR(Layout());
    KILN_RETURN_IF_ERROR(Map());
    CopySections();
    for (const ElfRelocation& relocation : object_.relocations) {
      if (!Applies(relocation)) continue;
      KILN_RETURN_IF_ERROR(Apply(relocation));
    }
    KILN_RETURN_IF_ERROR(Protect());
    CollectSymbols();
    return std::shared_ptr<const LoadedObject>(std::move(loaded_));
  }

 private:
  bool Applies(const ElfRelocation& relocation) const {
    return relocation.type != R_X86_64_NONE &&
           IsLoaded(object_.sections[relocation.section]);
  }

  absl::Status CheckSections() const {
    for (const ElfSection& section : object_.sections) {
      if (!IsLoaded(section)) continue;
      const std::string where = "section " + std::string(section.name);
      if ((section.flags & SHF_TLS) != 0) {
        return absl::UnimplementedError(where + " is thread-local");
      }
      if ((section.flags & SHF_WRITE) != 0 &&
          (section.flags & SHF_EXECINSTR) != 0) {
        return absl::InvalidArgumentError(
            where + " asks to be writable and executable");
      }
      if (section.type == SHT_INIT_ARRAY || section.type == SHT_FINI_ARRAY ||
          section.type == SHT_PREINIT_ARRAY) {
        return absl::UnimplementedError(where + " wants code run at load time");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckRelocations() {
    for (const ElfRelocation& relocation : object_.relocations) {
      if (!Applies(relocation)) continue;
      const ElfSection& section = object_.sections[relocation.section];
      const uint64_t size = PatchSize(relocation.type);
      if (size == 0) {
        return absl::UnimplementedError(
            "relocation type " + std::to_string(relocation.type) +
            " in section " + std::string(section.name) +
            "; compile with -fPIC -mcmodel=small");
      }
      if (relocation.offset > section.data.size() ||
          size > section.data.size() - relocation.offset) {
        return Malformed("a relocation lies outside section " +
                         std::string(section.name));
      }
      Reserve(relocation);
    }
    return absl::OkStatus();
  }

  // Sets places in the table of addresses and among the jumps aside.
  void Reserve(const ElfRelocation& relocation) {
    int& entry = got_[relocation.symbol];
    if (UsesGot(relocation.type) && entry == kNone) entry = num_got_++;
    int& jump = jumps_[relocation.symbol];
    if (relocation.type == R_X86_64_PLT32 && jump == kNone &&
        object_.symbols[relocation.symbol].place != ElfPlace::kSection) {
      jump = num_jumps_++;
    }
    low_memory_ |= IsAbsolute32(relocation.type);
  }

  absl::Status Layout() {
    uint64_t end = 0;
    for (int segment = 0; segment < kSegments; ++segment) {
      end = RoundUp(end, kPage);
      starts_[segment] = end;
      if (segment == kCode) end += kCodePrefix;
      for (size_t i = 0; i < object_.sections.size(); ++i) {
        const ElfSection& section = object_.sections[i];
        if (!IsLoaded(section) || SegmentOf(section) != segment) continue;
        offsets_[i] = RoundUp(end, section.align);
        if (section.size > kMaxBytes || offsets_[i] > kMaxBytes) return Large();
        end = offsets_[i] + section.size;
      }
      if (segment == kCode) {
        jumps_start_ = RoundUp(end, kJump);
        end = jumps_start_ + num_jumps_ * kJump;
      } else if (segment == kConstants) {
        got_start_ = RoundUp(end, kGotEntry);
        end = got_start_ + num_got_ * kGotEntry;
      }
    }
    starts_[kSegments] = RoundUp(end, kPage);
    if (starts_[kSegments] > kMaxBytes) return Large();
    return absl::OkStatus();
  }

  static absl::Status Large() {
    return absl::InvalidArgumentError(
        "the object takes more than 1 GiB of memory");
  }

  absl::Status Map() {
    const uint64_t size = std::max(starts_[kSegments], kPage);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        flags | (low_memory_ ? MAP_32BIT : 0), -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(
          "cannot map " + std::to_string(size) + " bytes for code" +
          (low_memory_ ? " below 2 GiB; compile with -fPIC" : ""));
    }
    loaded_->memory_ = memory;
    loaded_->size_ = size;
    return absl::OkStatus();
  }

  char* At(uint64_t offset) const {
    return static_cast<char*>(loaded_->memory_) + offset;
  }

  void CopySections() {
    for (size_t i = 0; i < object_.sections.size(); ++i) {
      const ElfSection& section = object_.sections[i];
      if (!IsLoaded(section) || section.data.empty()) continue;
      std::memcpy(At(offsets_[i]), section.data.data(), section.data.size());
    }
  }

  absl::StatusOr<uint64_t> FindOutside(const ElfSymbol& symbol) const {
    const std::string name(symbol.name);
    const auto given = options_.symbols.find(name);
    if (given != options_.symbols.end()) return Address(given->second);
    if (options_.search_process && !name.empty()) {
      if (void* found = dlsym(RTLD_DEFAULT, name.c_str())) {
        return Address(found);
      }
    }
    if (symbol.weak) return 0;
    return absl::NotFoundError("undefined symbol '" + name +
                               "': neither the host nor the process has it");
  }

  absl::StatusOr<uint64_t> SymbolAddress(int index) {
    if (addresses_[index]) return *addresses_[index];
    const ElfSymbol& symbol = object_.symbols[index];
    uint64_t address = symbol.value;
    switch (symbol.place) {
      case ElfPlace::kUndefined: {
        // Symbol 0 stands for "no symbol": the value is the addend alone.
        if (index == 0) {
          address = 0;
          break;
        }
        KILN_ASSIGN_OR_RETURN(address, FindOutside(symbol));
        break;
      }
      case ElfPlace::kAbsolute:
        break;
      case ElfPlace::kSection:
        if (!IsLoaded(object_.sections[symbol.section])) {
          return Malformed("code refers to symbol '" +
                           std::string(symbol.name) +
                           "' in a section that is not loaded");
        }
        address += Address(At(offsets_[symbol.section]));
        break;
    }
    addresses_[index] = address;
    return address;
  }

  uint64_t GotEntry(int symbol, uint64_t address) {
    char* entry = At(got_start_ + got_[symbol] * kGotEntry);
    std::memcpy(entry, &address, sizeof(address));
    return Address(entry);
  }

  uint64_t Jump(int symbol, uint64_t address) {
    constexpr unsigned char kJumpToNext[] = {0xff, 0x25, 0, 0, 0, 0};
    char* jump = At(jumps_start_ + jumps_[symbol] * kJump);
    std::memcpy(jump, kJumpToNext, sizeof(kJumpToNext));
    std::memcpy(jump + sizeof(kJumpToNext), &address, sizeof(address));
    return Address(jump);
  }

  // What to write for a relocation at address `origin` of a symbol at `target`.
  uint64_t Value(const ElfRelocation& relocation, uint64_t target,
                 uint64_t origin) {
    const uint64_t addend = static_cast<uint64_t>(relocation.addend);
    if (UsesGot(relocation.type)) {
      return GotEntry(relocation.symbol, target) + addend - origin;
    }
    if (!IsRelative(relocation.type)) return target + addend;
    const uint64_t value = target + addend - origin;
    const bool has_jump = jumps_[relocation.symbol] != kNone;
    if (relocation.type != R_X86_64_PLT32 || !has_jump || FitsSigned32(value)) {
      return value;
    }
    return Jump(relocation.symbol, target) + addend - origin;
  }

  absl::Status Apply(const ElfRelocation& relocation) {
    KILN_ASSIGN_OR_RETURN(const uint64_t target,
                          SymbolAddress(relocation.symbol));
    char* patch = At(offsets_[relocation.section] + relocation.offset);
    const uint64_t value = Value(relocation, target, Address(patch));
    if (!Fits(relocation.type, value)) return OutOfReach(relocation);
    std::memcpy(patch, &value, PatchSize(relocation.type));
    return absl::OkStatus();
  }

  absl::Status OutOfReach(const ElfRelocation& relocation) const {
    return absl::InvalidArgumentError(
        "symbol '" + std::string(object_.symbols[relocation.symbol].name) +
        "' is out of reach of a 32-bit reference in section " +
        std::string(object_.sections[relocation.section].name) +
        "; compile with -fPIC");
  }

  absl::Status Protect() {
    for (int segment = 0; segment < kSegments; ++segment) {
      const uint64_t size =
          RoundUp(starts_[segment + 1] - starts_[segment], kPage);
      if (size == 0) continue;
      if (mprotect(At(starts_[segment]), size, kProtection[segment]) != 0) {
        return absl::ResourceExhaustedError(
            "the system refused to make loaded code executable");
      }
    }
    return absl::OkStatus();
  }

  void CollectSymbols() {
    for (const ElfSymbol& symbol : object_.symbols) {
      if (symbol.place != ElfPlace::kSection || symbol.local ||
          !IsLoaded(object_.sections[symbol.section])) {
        continue;
      }
      loaded_->symbols_.emplace(std::string(symbol.name),
                                At(offsets_[symbol.section] + symbol.value));
    }
  }

  const ElfObject& object_;
  const ObjectLoadOptions& options_;
  std::vector<uint64_t> offsets_;  // Of loaded sections in the mapping.
  std::vector<std::optional<uint64_t>> addresses_;  // Of symbols.
  std::vector<int> got_;    // A symbol's entry in the table of addresses.
  std::vector<int> jumps_;  // A symbol's place among the jumps.
  uint64_t num_got_ = 0;
  uint64_t num_jumps_ = 0;
  bool low_memory_ = false;
  uint64_t starts_[kSegments + 1] = {};
  uint64_t jumps_start_ = 0;
  uint64_t got_start_ = 0;
  std::unique_ptr<LoadedObject> loaded_;
};

absl::StatusOr<std::shared_ptr<const LoadedObject>> LoadedObject::Load(
    std::string_view bytes, const ObjectLoadOptions& options) {
  KILN_ASSIGN_OR_RETURN(const ElfObject object, ReadElfObject(bytes));
  return ObjectLinker(object, options).Link();
}

absl::StatusOr<std::shared_ptr<const LoadedObject>> LoadedObject::Open(
    const std::string& path) {
  // Names without a folder are searched for in the system's.
  const std::string file = path.find('/') == path.npos ? "./" + path : path;
  if (access(file.c_str(), F_OK) != 0) {
    return absl::NotFoundError("no shared object " + path);
  }
  std::shared_ptr<LoadedObject> loaded(new LoadedObject);
  loaded->library_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->library_ != nullptr) return loaded;
  const char* reason = dlerror();
  return absl::InvalidArgumentError("cannot open the shared object " + path +
                                    ": " +
                                    (reason ? reason : "unknown reason"));
}

LoadedObject::~LoadedObject() {
  if (memory_ != nullptr) munmap(memory_, size_);
  if (library_ != nullptr) dlclose(library_);
}

void* LoadedObject::Find(const std::string& name) const {
  if (library_ != nullptr) return dlsym(library_, name.c_str());
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : found->second;
}

absl::StatusOr<void*> LoadedObject::Symbol(const std::string& name) const {
  if (void* found = Find(name)) return found;
  if (library_ != nullptr) {
    return absl::NotFoundError("the shared object has no symbol '" + name +
                               "'");
  }
  std::string message = "the object has no symbol '" + name + "'; it has";
  int listed = 0;
  for (const auto& [other, address] : symbols_) {
    if (++listed > 10) {
      message += " ...";
      break;
    }
    message += " " + other;
  }
  return absl::NotFoundError(listed > 0 ? message : message + " none");
}

absl::StatusOr<KilnKernel> LoadedObject::Kernel(const std::string& name) const {
  KILN_ASSIGN_OR_RETURN(void* symbol, Symbol(name));
  const std::string stated = name + KILN_KERNEL_ABI_SUFFIX;
  const void* address = Find(stated);
  if (address == nullptr) return reinterpret_cast<KilnKernel>(symbol);
  int32_t version = 0;
  const auto offset =
      static_cast<const char*>(address) - static_cast<const char*>(memory_);
  if (memory_ != nullptr &&
      static_cast<uint64_t>(offset) + sizeof(version) > size_) {
    return absl::InvalidArgumentError("symbol '" + stated +
                                      "' lies at the end of the object");
  }
  std::memcpy(&version, address, sizeof(version));
  if (version == KILN_KERNEL_ABI_VERSION) {
    return reinterpret_cast<KilnKernel>(symbol);
  }
  return absl::FailedPreconditionError(
      "kernel '" + name + "' follows version " + std::to_string(version) +
      " of the calling convention, and this program version " +
      std::to_string(KILN_KERNEL_ABI_VERSION) + "; compile it again");
}

}  // namespace kiln
