// A stream may take or give part of a frame at any call, so both directions
// loop until all bytes are through, and wait by poll with a deadline in
// between: a worker that hangs, or reads nothing, costs its deadline and no
// more. A frame of three bytes is
//
//   03 00 00 00  61 62 63
//
// A file descriptor travels with the first byte of the length. Sockets are read
// and written without blocking, whatever their mode; pipes and files by plain
// reads after poll has said that there is something.
#include "kiln/search/measure/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

constexpr size_t kHeaderBytes = 4;

// Room for the control message that carries one descriptor.
union ControlBuffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

absl::Status WaitFor(int fd, short events, Deadline deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline != kNoDeadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      timeout_ms = static_cast<int>(
          std::clamp<int64_t>(left.count(), 0, int64_t{1} << 30));
    }
    pollfd poll_fd = {fd, events, 0};
    const int ready = poll(&poll_fd, 1, timeout_ms);
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) {
      return absl::InternalError(absl::StrCat("poll: ", std::strerror(errno)));
    }
  }
}

// One write, of which the descriptor travels with the first byte. Streams that
// are no sockets take plain writes.
ssize_t WriteSome(int fd, std::string_view bytes, int attached) {
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ControlBuffer control = {};
  if (attached >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &attached, sizeof attached);
  }
  const ssize_t count = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0 || errno != ENOTSOCK || attached >= 0) return count;
  return write(fd, bytes.data(), bytes.size());
}

// One read; a descriptor that comes along replaces `attached`.
ssize_t ReadSome(int fd, char* data, size_t size, OwnedFd& attached) {
  iovec part = {data, size};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  ControlBuffer control = {};
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  const ssize_t count = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count < 0 && errno == ENOTSOCK) return read(fd, data, size);
  const cmsghdr* header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int received = -1;
    std::memcpy(&received, CMSG_DATA(header), sizeof received);
    attached.Reset(received);
  }
  return count;
}

absl::Status WriteAll(int fd, std::string_view bytes, int attached,
                      Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t count = WriteSome(fd, bytes, attached);
    if (count > 0) {
      bytes.remove_prefix(count);
      attached = -1;
    } else if (count == 0) {
      return absl::UnavailableError("the other side takes no bytes");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      KILN_RETURN_IF_ERROR(WaitFor(fd, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return absl::UnavailableError(
          absl::StrCat("the other side does not read: ", std::strerror(errno)));
    }
  }
  return absl::OkStatus();
}

// kOutOfRange where the stream ends before the first byte.
absl::Status ReadAll(int fd, char* data, size_t size, OwnedFd& attached,
                     Deadline deadline) {
  size_t done = 0;
  while (done < size) {
    KILN_RETURN_IF_ERROR(WaitFor(fd, POLLIN, deadline));
    const ssize_t count = ReadSome(fd, data + done, size - done, attached);
    if (count > 0) {
      done += count;
      continue;
    }
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (done > 0) return absl::DataLossError("the stream ends inside a frame");
    return absl::OutOfRangeError("the stream has ended");
  }
  return absl::OkStatus();
}

}  // namespace

int OwnedFd::Release() { return std::exchange(fd_, -1); }

void OwnedFd::Reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

absl::Status SendFrame(int fd, std::string_view payload, int attached,
                       Deadline deadline) {
  if (payload.size() > kMaxFrameBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a message of ", payload.size(), " bytes is larger than a frame"));
  }
  const auto length = static_cast<uint32_t>(payload.size());
  char header[kHeaderBytes];
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    header[i] = static_cast<char>(length >> (8 * i));
  }
  KILN_RETURN_IF_ERROR(
      WriteAll(fd, {header, kHeaderBytes}, attached, deadline));
  return WriteAll(fd, payload, -1, deadline);
}

absl::Status WaitForFrame(int fd, Deadline deadline,
                          const std::function<bool()>& stop) {
  constexpr std::chrono::milliseconds kSlice(100);
  while (!stop()) {
    const Deadline now = std::chrono::steady_clock::now();
    const bool is_last = deadline != kNoDeadline && deadline - now <= kSlice;
    const absl::Status ready =
        WaitFor(fd, POLLIN, is_last ? deadline : now + kSlice);
    if (is_last || !absl::IsDeadlineExceeded(ready)) return ready;
  }
  return absl::CancelledError("interrupted");
}

absl::StatusOr<Frame> ReceiveFrame(int fd, Deadline deadline) {
  Frame frame;
  unsigned char header[kHeaderBytes];
  KILN_RETURN_IF_ERROR(ReadAll(fd, reinterpret_cast<char*>(header),
                               kHeaderBytes, frame.fd, deadline));
  uint32_t length = 0;
  for (size_t i = 0; i < kHeaderBytes; ++i) {
    length |= static_cast<uint32_t>(header[i]) << (8 * i);
  }
  if (length > kMaxFrameBytes) {
    return absl::DataLossError(
        absl::StrCat("a frame claims to have ", length, " bytes"));
  }
  frame.payload.resize(length);
  const absl::Status status =
      ReadAll(fd, frame.payload.data(), length, frame.fd, deadline);
  if (status.code() == absl::StatusCode::kOutOfRange) {
    return absl::DataLossError("the stream ends inside a frame");
  }
  KILN_RETURN_IF_ERROR(status);
  return frame;
}

}  // namespace kiln
