// Blobs and copies of them share one Content, which tells what has to happen
// when the last of them is gone: memory is freed, a file is unmapped, and a
// part lets go of the content that it is a part of.
//
//   Blob file ──┐
//   Blob copy ──┴─► Content{data, size, mapping}
//                      ▲
//   Blob part ────► Content{data + 4096, 256, whole}
#include "kiln/base/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/aligned_memory.h"

namespace kiln {
namespace {

alignas(kMemoryAlignment) constexpr uint8_t kNothing[kMemoryAlignment] = {};

struct Unmap {
  void operator()(void* start) const { munmap(start, bytes); }
  size_t bytes = 0;
};

absl::Status Failed(int error, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat("cannot map ", path));
}

absl::Status CheckFile(const struct stat& file, const std::string& path,
                       std::optional<uint64_t> size) {
  if (!S_ISREG(file.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot map ", path,
                     ": it is no regular file; read it into memory instead"));
  }
  const auto found = static_cast<uint64_t>(file.st_size);
  if (!size || *size == found) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(path, " has ", found, " bytes and should have ", *size,
                   found < *size ? "; it was cut short" : ""));
}

}  // namespace

struct Blob::Content {
  const uint8_t* data = kNothing;
  uint64_t size = 0;
  bool is_mapped = false;

  // What holds the bytes: one of these.
  AlignedMemory memory;
  std::unique_ptr<void, Unmap> mapping;
  std::shared_ptr<const Content> whole;

  mutable std::once_flag hashed;
  mutable Sha256Digest digest;
};

Blob::Blob() {
  static const auto& nothing =
      *new std::shared_ptr<const Content>(std::make_shared<Content>());
  content_ = nothing;
}

Blob::Blob(std::shared_ptr<const Content> content)
    : content_(std::move(content)) {}

absl::StatusOr<Blob> Blob::Copy(std::string_view bytes) {
  if (bytes.empty()) return Blob();
  auto content = std::make_shared<Content>();
  content->memory = AllocateAligned(bytes.size());
  if (!content->memory) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there is no memory for ", bytes.size(), " bytes"));
  }
  std::memcpy(content->memory.get(), bytes.data(), bytes.size());
  content->data = static_cast<const uint8_t*>(content->memory.get());
  content->size = bytes.size();
  return Blob(std::move(content));
}

absl::StatusOr<Blob> Blob::Map(const std::string& path,
                               std::optional<uint64_t> size) {
  // A pipe without a writer must not block.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return Failed(errno, path);
  const absl::Cleanup close_file = [fd] { close(fd); };
  struct stat file;
  if (fstat(fd, &file) != 0) return Failed(errno, path);
  if (absl::Status status = CheckFile(file, path, size); !status.ok()) {
    return status;
  }
  const auto bytes = static_cast<size_t>(file.st_size);
  if (bytes == 0) return Blob();
  void* start = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (start == MAP_FAILED) return Failed(errno, path);
  auto content = std::make_shared<Content>();
  content->mapping = {start, Unmap{bytes}};
  content->data = static_cast<const uint8_t*>(start);
  content->size = bytes;
  content->is_mapped = true;
  return Blob(std::move(content));
}

absl::StatusOr<Blob> Blob::Part(uint64_t offset, uint64_t size) const {
  if (offset > this->size() || size > this->size() - offset) {
    return absl::OutOfRangeError(
        absl::StrCat("bytes ", offset, " to ", offset, " + ", size,
                     " are not in a blob of ", this->size()));
  }
  if (size == 0) return Blob();
  if (offset % kMemoryAlignment != 0) return Copy(bytes().substr(offset, size));
  auto content = std::make_shared<Content>();
  content->data = data() + offset;
  content->size = size;
  content->is_mapped = is_mapped();
  content->whole = content_;
  return Blob(std::move(content));
}

const uint8_t* Blob::data() const { return content_->data; }

uint64_t Blob::size() const { return content_->size; }

bool Blob::is_mapped() const { return content_->is_mapped; }

const Sha256Digest& Blob::digest() const {
  std::call_once(content_->hashed,
                 [this] { content_->digest = Sha256(bytes()); });
  return content_->digest;
}

bool operator==(const Blob& a, const Blob& b) {
  return a.content_ == b.content_ ||
         (a.size() == b.size() && a.digest() == b.digest());
}

}  // namespace kiln
