// What the system has mapped of a shared object: which addresses may be read,
// and which hold code.
#ifndef KILN_VM_LIBRARY_LOADED_IMAGE_H_
#define KILN_VM_LIBRARY_LOADED_IMAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln {

class LoadedImage {
 public:
  struct Range {
    const char* begin = nullptr;
    uint64_t size = 0;
    bool is_code = false;
  };

  // The segments of the shared object, or program, that `address` lies in.
  // NotFound where it lies in none that can be read.
  static absl::StatusOr<LoadedImage> Around(const void* address);
  explicit LoadedImage(std::vector<Range> ranges, std::string path = "")
      : ranges_(std::move(ranges)), path_(std::move(path)) {}

  // Of the file that it was loaded from.
  const std::string& path() const { return path_; }
  // `size` bytes `offset` bytes behind `address`; null where no range has all
  // of them.
  const char* Find(const void* address, int64_t offset, uint64_t size) const;
  // The same for one byte of code.
  const char* FindCode(const void* address, int64_t offset) const;

 private:
  const Range* RangeOf(uint64_t address) const;

  std::vector<Range> ranges_;
  std::string path_;
};

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_LOADED_IMAGE_H_
