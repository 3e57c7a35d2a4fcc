// Frames over a byte stream: 4 bytes of length, least significant first, then
// the payload. Over a local socket a file descriptor can travel with a frame.
#ifndef KILN_SEARCH_MEASURE_CHANNEL_H_
#define KILN_SEARCH_MEASURE_CHANNEL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kiln {

// Stands in every Request; a worker refuses another one.
inline constexpr int kRunnerProtocolVersion = 2;

inline constexpr uint32_t kMaxFrameBytes = uint32_t{1} << 30;

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// A file descriptor that is closed at the end of its life.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.Release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    Reset(other.Release());
    return *this;
  }
  ~OwnedFd() { Reset(); }

  int get() const { return fd_; }
  int Release();
  void Reset(int fd = -1);

 private:
  int fd_ = -1;
};

struct Frame {
  std::string payload;
  OwnedFd fd;  // -1 where none came.
};

// Sends a frame, and with it `attached` (which stays open here) unless that is
// negative. kUnavailable where the other side is gone, kDeadlineExceeded where
// it does not read in time.
absl::Status SendFrame(int fd, std::string_view payload, int attached = -1,
                       Deadline deadline = kNoDeadline);

// Waits until there is something to receive, and asks `stop` now and then:
// kCancelled where it says so. Then, and at the deadline, nothing is lost.
absl::Status WaitForFrame(int fd, Deadline deadline,
                          const std::function<bool()>& stop);

// Waits for a frame. kOutOfRange at the end of the stream, kDataLoss for one
// that was cut short or claims to be too large, kDeadlineExceeded when time is
// up.
absl::StatusOr<Frame> ReceiveFrame(int fd, Deadline deadline = kNoDeadline);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_CHANNEL_H_
