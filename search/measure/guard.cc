#include "kiln/search/measure/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr uint64_t kPage = 4096;
constexpr unsigned char kPattern = 0xc5;
constexpr int kMaxZones = 1024;

// Fixed memory, read by a signal handler at any moment. A slot is in use while
// its flag is set.
GuardZone zones[kMaxZones];
std::atomic<bool> zone_used[kMaxZones];

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

int AddZone(std::string_view name, const char* begin, const char* end,
            const char* data, uint64_t bytes) {
  for (int i = 0; i < kMaxZones; ++i) {
    if (zone_used[i].load(std::memory_order_relaxed)) continue;
    GuardZone& zone = zones[i];
    const size_t length = std::min(name.size(), sizeof zone.name - 1);
    std::memcpy(zone.name, name.data(), length);
    zone.name[length] = '\0';
    zone.begin = begin;
    zone.end = end;
    zone.data = data;
    zone.bytes = bytes;
    zone_used[i].store(true, std::memory_order_release);
    return i;
  }
  return -1;
}

bool IsPattern(const char* begin, const char* end) {
  return std::all_of(begin, end, [](char c) {
    return static_cast<unsigned char>(c) == kPattern;
  });
}

}  // namespace

uint64_t GuardedSpan(uint64_t bytes) {
  return std::max(kPage, RoundUp(bytes, kPage));
}

uint64_t GuardedStart(uint64_t bytes) {
  return GuardedSpan(bytes) - RoundUp(bytes, kGuardAlignment);
}

char* GuardedBuffer::pages() const { return base_ + kPage; }

std::optional<GuardedBuffer> GuardedBuffer::Reserve(std::string_view name,
                                                    uint64_t bytes) {
  if (bytes > uint64_t{1} << 46) return std::nullopt;
  const uint64_t mapped = GuardedSpan(bytes) + 2 * kPage;
  void* base = mmap(nullptr, mapped, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return std::nullopt;
  GuardedBuffer buffer;
  buffer.base_ = static_cast<char*>(base);
  buffer.mapped_ = mapped;
  buffer.data_ = buffer.pages() + GuardedStart(bytes);
  buffer.bytes_ = bytes;
  buffer.zone_ =
      AddZone(name, buffer.base_, buffer.base_ + mapped, buffer.data_, bytes);
  return buffer;
}

std::optional<GuardedBuffer> GuardedBuffer::Writable(std::string_view name,
                                                     uint64_t bytes) {
  std::optional<GuardedBuffer> buffer = Reserve(name, bytes);
  if (!buffer) return std::nullopt;
  char* pages = buffer->pages();
  const uint64_t span = GuardedSpan(bytes);
  if (mprotect(pages, span, PROT_READ | PROT_WRITE) != 0) return std::nullopt;
  std::memset(pages, kPattern, buffer->data_ - pages);
  char* end = buffer->data_ + bytes;
  std::memset(end, kPattern, pages + span - end);
  return buffer;
}

std::optional<GuardedBuffer> GuardedBuffer::ReadOnly(std::string_view name,
                                                     int fd, uint64_t offset,
                                                     uint64_t bytes) {
  std::optional<GuardedBuffer> buffer = Reserve(name, bytes);
  if (!buffer) return std::nullopt;
  void* pages = mmap(buffer->pages(), GuardedSpan(bytes), PROT_READ,
                     MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
  if (pages == MAP_FAILED) return std::nullopt;
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      bytes_(other.bytes_),
      zone_(std::exchange(other.zone_, -1)) {}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(zone_, other.zone_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (zone_ >= 0) zone_used[zone_].store(false, std::memory_order_release);
  if (base_ != nullptr) munmap(base_, mapped_);
}

std::optional<std::string> GuardedBuffer::CheckSlack() const {
  const char* end = data_ + bytes_;
  const char* const last = pages() + GuardedSpan(bytes_);
  const char* side = nullptr;
  if (!IsPattern(end, last)) side = "after its end";
  if (!IsPattern(pages(), data_)) side = "before its start";
  if (side == nullptr) return std::nullopt;
  return absl::StrCat("wrote to buffer ", zone_ >= 0 ? zones[zone_].name : "?",
                      " (", bytes_, " bytes) ", side);
}

const GuardZone* FindZone(const void* address) {
  const char* at = static_cast<const char*>(address);
  for (int i = 0; i < kMaxZones; ++i) {
    if (!zone_used[i].load(std::memory_order_acquire)) continue;
    if (at >= zones[i].begin && at < zones[i].end) return &zones[i];
  }
  return nullptr;
}

}  // namespace kiln
