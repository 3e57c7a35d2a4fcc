// The file holds, one after the other, every initial and every expected content
// in whole pages, each placed as guard.h places a buffer, so that a worker maps
// the pages as they are. Of A, which is read and has 40 bytes, and C, which is
// written and has 8000,
//
//   page 0        the initial contents of A at byte 4032, 64 before the end
//   pages 1, 2    the expected contents of C at byte 4288, 8000 before the end
//
// C has no initial contents, unless the program also reads what it finds there.
#include "kiln/search/measure/task_data.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/measure/channel.h"
#include "kiln/search/measure/guard.h"
#include "kiln/search/measure/runner.pb.h"

namespace kiln {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 46;

std::atomic<int64_t> next_id{1};

absl::Status WriteAt(int fd, uint64_t offset, absl::Span<const char> bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = pwrite(fd, bytes.data() + done, bytes.size() - done,
                                 static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for the tensors of a measurement: ",
                       std::strerror(errno)));
    }
    done += count;
  }
  return absl::OkStatus();
}

absl::Status CheckSize(const KernelBuffer& buffer, absl::Span<const char> given,
                       uint64_t bytes, const char* what) {
  if (given.empty() || given.size() == bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("buffer ", buffer.name, " has ", bytes, " bytes, its ", what,
                   " contents ", given.size()));
}

// Appends contents to the file, and says where they lie.
absl::StatusOr<uint64_t> Append(int fd, absl::Span<const char> bytes,
                                uint64_t& end) {
  const uint64_t offset = end;
  end += GuardedSpan(bytes.size());
  KILN_RETURN_IF_ERROR(WriteAt(fd, offset + GuardedStart(bytes.size()), bytes));
  return offset;
}

absl::Status AddBuffer(const KernelBuffer& buffer, const TaskTensor& tensor,
                       uint64_t bytes, int fd, search::LoadTask& load) {
  KILN_RETURN_IF_ERROR(CheckSize(buffer, tensor.initial, bytes, "initial"));
  KILN_RETURN_IF_ERROR(CheckSize(buffer, tensor.expected, bytes, "expected"));
  if (!buffer.written && tensor.initial.empty() && bytes > 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "buffer ", buffer.name, " is only read, but has no contents"));
  }
  search::TaskBuffer& out = *load.add_buffers();
  out.set_name(buffer.name);
  out.set_dtype(buffer.dtype.ToString());
  out.set_bytes(bytes);
  out.set_written(buffer.written);
  out.set_rtol(tensor.tolerance.rtol);
  out.set_atol(tensor.tolerance.atol);
  uint64_t end = load.memory_bytes();
  if (!tensor.initial.empty() || !buffer.written) {
    KILN_ASSIGN_OR_RETURN(const uint64_t offset,
                          Append(fd, tensor.initial, end));
    out.set_has_initial(true);
    out.set_initial_offset(offset);
  }
  if (!tensor.expected.empty()) {
    KILN_ASSIGN_OR_RETURN(const uint64_t offset,
                          Append(fd, tensor.expected, end));
    out.set_has_expected(true);
    out.set_expected_offset(offset);
  }
  load.set_memory_bytes(end);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint64_t> BufferBytes(const KernelBuffer& buffer,
                                     absl::Span<const int64_t> scalars) {
  __int128 bytes = buffer.dtype.bytes();
  for (const KernelDim& dim : buffer.shape) {
    const std::optional<int64_t> extent = Evaluate(dim, scalars);
    if (!extent || *extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffer ", buffer.name, " has ",
                       extent ? absl::StrCat("the negative extent ", *extent)
                              : "an extent that divides by zero or overflows"));
    }
    bytes *= *extent;
    if (bytes > static_cast<__int128>(kMaxBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("buffer ", buffer.name, " is larger than 2^46 bytes"));
    }
  }
  return static_cast<uint64_t>(bytes);
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MeasureTask::Create(
    const KernelSignature& signature, absl::Span<const int64_t> scalars,
    absl::Span<const TaskTensor> tensors, TaskExtras extras) {
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  if (tensors.size() != signature.buffers.size() ||
      scalars.size() != signature.scalars.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        signature.name, " has ", signature.buffers.size(), " buffers and ",
        signature.scalars.size(), " scalars, given are ", tensors.size(),
        " and ", scalars.size()));
  }
  std::shared_ptr<MeasureTask> task(new MeasureTask);
  task->id_ = next_id++;
  task->signature_ = signature;
  task->extras_ = std::move(extras);
  task->fd_ = memfd_create("kiln_measure_task", MFD_CLOEXEC);
  if (task->fd_ < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("memfd_create: ", std::strerror(errno)));
  }
  search::Request request;
  request.set_version(kRunnerProtocolVersion);
  search::LoadTask& load = *request.mutable_load_task();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    KILN_ASSIGN_OR_RETURN(const uint64_t bytes, BufferBytes(buffer, scalars));
    KILN_RETURN_IF_ERROR(AddBuffer(buffer, tensors[i], bytes, task->fd_, load));
    task->total_bytes_ += bytes;
    if (buffer.written) task->output_bytes_.push_back(bytes);
  }
  for (int64_t scalar : scalars) load.add_scalars(scalar);
  if (ftruncate(task->fd_, static_cast<off_t>(load.memory_bytes())) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("ftruncate: ", std::strerror(errno)));
  }
  task->request_ = request.SerializeAsString();
  return task;
}

MeasureTask::~MeasureTask() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::string> MeasureTask::RequestWithMemory() const {
  search::Request request;
  request.ParseFromString(request_);
  std::string memory(request.load_task().memory_bytes(), '\0');
  const ssize_t count = pread(fd_, memory.data(), memory.size(), 0);
  if (count != static_cast<ssize_t>(memory.size())) {
    return absl::InternalError("the memory of a measurement cannot be read");
  }
  request.mutable_load_task()->set_memory(std::move(memory));
  return request.SerializeAsString();
}

absl::Status MeasureTask::CheckFits(const KernelSignature& kernel) const {
  bool fits = kernel.buffers.size() == signature_.buffers.size() &&
              kernel.scalars.size() == signature_.scalars.size();
  for (size_t i = 0; fits && i < kernel.buffers.size(); ++i) {
    fits = kernel.buffers[i].dtype == signature_.buffers[i].dtype &&
           kernel.buffers[i].shape == signature_.buffers[i].shape;
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the kernel is ", kiln::ToString(kernel), ", the task is ",
                   kiln::ToString(signature_)));
}

}  // namespace kiln
