#include "kiln/vm/library/loaded_image.h"

#include <link.h>

#include <utility>

namespace kiln {
namespace {

uint64_t Number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

struct Search {
  uint64_t address = 0;
  std::vector<LoadedImage::Range> found;
  std::string path;
};

// Of dl_iterate_phdr: ends it at the object that has the address.
int Look(dl_phdr_info* object, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  std::vector<LoadedImage::Range> ranges;
  bool is_here = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    const uint64_t begin = object->dlpi_addr + segment.p_vaddr;
    is_here |= search->address - begin < segment.p_memsz;
    ranges.push_back({reinterpret_cast<const char*>(begin), segment.p_memsz,
                      (segment.p_flags & PF_X) != 0});
  }
  if (!is_here) return 0;
  search->found = std::move(ranges);
  const bool is_program =
      object->dlpi_name == nullptr || *object->dlpi_name == '\0';
  search->path = is_program ? "/proc/self/exe" : object->dlpi_name;
  return 1;
}

}  // namespace

absl::StatusOr<LoadedImage> LoadedImage::Around(const void* address) {
  Search search{Number(address), {}, ""};
  dl_iterate_phdr(Look, &search);
  if (!search.found.empty()) {
    return LoadedImage(std::move(search.found), std::move(search.path));
  }
  return absl::NotFoundError("no shared object has been loaded there");
}

const LoadedImage::Range* LoadedImage::RangeOf(uint64_t address) const {
  for (const Range& range : ranges_) {
    if (address - Number(range.begin) < range.size) return &range;
  }
  return nullptr;
}

const char* LoadedImage::Find(const void* address, int64_t offset,
                              uint64_t size) const {
  const uint64_t begin = Number(address) + static_cast<uint64_t>(offset);
  const Range* range = RangeOf(begin);
  if (range == nullptr) return nullptr;
  if (size > range->size - (begin - Number(range->begin))) return nullptr;
  return reinterpret_cast<const char*>(begin);
}

const char* LoadedImage::FindCode(const void* address, int64_t offset) const {
  const uint64_t begin = Number(address) + static_cast<uint64_t>(offset);
  const Range* range = RangeOf(begin);
  if (range == nullptr || !range->is_code) return nullptr;
  return reinterpret_cast<const char*>(begin);
}

}  // namespace kiln
