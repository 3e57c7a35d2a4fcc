// A task's memory is one file, mapped by every worker, in which each content
// lies in whole pages at the place that a guarded buffer gives it. So what is
// only read is mapped from the file directly, between guard pages and never
// copied:
//
//   file     | pages of A | initial of C | expected of C |
//   guarded  [guard] pages of A [guard]      own pages, a copy of initial of C
//   plain    a copy of A                     a copy of initial of C
//
// A buffer without initial contents starts as all ones, which are NaN for
// floats: a kernel that reads what it should have written shows it. Offsets
// come over the wire and are checked before they become addresses.
#include "kiln/search/measure/worker_task.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/search/measure/channel.h"
#include "kiln/search/measure/compare.h"

namespace kiln {
namespace {

constexpr uint64_t kPage = 4096;

absl::Status NoMemory(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory for ", what, ": ", std::strerror(errno)));
}

// The memory that came inside a request, as a file.
absl::StatusOr<OwnedFd> FileOf(const std::string& memory) {
  OwnedFd fd(memfd_create("kiln_measure_task", MFD_CLOEXEC));
  if (fd.get() < 0) return NoMemory("the task");
  const ssize_t count = pwrite(fd.get(), memory.data(), memory.size(), 0);
  if (count != static_cast<ssize_t>(memory.size())) return NoMemory("the task");
  return fd;
}

bool LiesInside(uint64_t offset, uint64_t bytes, uint64_t memory_bytes) {
  return offset % kPage == 0 && bytes <= memory_bytes &&
         GuardedSpan(bytes) <= memory_bytes &&
         offset <= memory_bytes - GuardedSpan(bytes);
}

absl::Status CheckBuffer(const search::TaskBuffer& buffer,
                         uint64_t memory_bytes) {
  const std::optional<DType> dtype = DType::FromString(buffer.dtype());
  const bool initial =
      !buffer.has_initial() ||
      LiesInside(buffer.initial_offset(), buffer.bytes(), memory_bytes);
  const bool expected =
      !buffer.has_expected() ||
      LiesInside(buffer.expected_offset(), buffer.bytes(), memory_bytes);
  if (dtype && dtype->bytes() > 0 && initial && expected &&
      (buffer.written() || buffer.has_initial())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the task's buffer ", buffer.name(), " contradicts itself"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerTask>> WorkerTask::Create(
    const search::LoadTask& load, int fd) {
  std::unique_ptr<WorkerTask> task(new WorkerTask);
  OwnedFd own;
  if (fd < 0) {
    KILN_ASSIGN_OR_RETURN(own, FileOf(load.memory()));
    fd = own.get();
  }
  KILN_RETURN_IF_ERROR(task->MapMemory(load, fd));
  for (const search::TaskBuffer& buffer : load.buffers()) {
    KILN_RETURN_IF_ERROR(CheckBuffer(buffer, task->memory_bytes_));
    KILN_RETURN_IF_ERROR(task->AddBuffer(buffer, fd));
  }
  task->load_ = load;
  task->load_.clear_memory();
  task->scalars_.assign(load.scalars().begin(), load.scalars().end());
  return task;
}

WorkerTask::~WorkerTask() {
  if (memory_ != nullptr) munmap(const_cast<char*>(memory_), memory_bytes_);
}

absl::Status WorkerTask::MapMemory(const search::LoadTask& load, int fd) {
  struct stat info;
  if (fstat(fd, &info) != 0) return NoMemory("the task");
  memory_bytes_ = load.memory_bytes();
  if (memory_bytes_ > static_cast<uint64_t>(info.st_size)) {
    return absl::InvalidArgumentError("the task's memory is cut short");
  }
  if (memory_bytes_ == 0) return absl::OkStatus();
  void* memory = mmap(nullptr, memory_bytes_, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return NoMemory("the task");
  memory_ = static_cast<const char*>(memory);
  return absl::OkStatus();
}

absl::Status WorkerTask::AddBuffer(const search::TaskBuffer& buffer, int fd) {
  std::optional<GuardedBuffer> guarded =
      buffer.written()
          ? GuardedBuffer::Writable(buffer.name(), buffer.bytes())
          : GuardedBuffer::ReadOnly(buffer.name(), fd, buffer.initial_offset(),
                                    buffer.bytes());
  if (!guarded) return NoMemory("a buffer");
  guarded_data_.push_back(guarded->data());
  guarded_.push_back(*std::move(guarded));
  return absl::OkStatus();
}

const char* WorkerTask::Contents(uint64_t offset, uint64_t bytes) const {
  return memory_ + offset + GuardedStart(bytes);
}

void WorkerTask::Fill(const search::TaskBuffer& buffer, void* data) const {
  if (!buffer.has_initial()) {
    std::memset(data, 0xff, buffer.bytes());
    return;
  }
  std::memcpy(data, Contents(buffer.initial_offset(), buffer.bytes()),
              buffer.bytes());
}

void WorkerTask::Prepare() {
  for (int i = 0; i < load_.buffers_size(); ++i) {
    if (load_.buffers(i).written()) Fill(load_.buffers(i), guarded_data_[i]);
  }
}

std::string WorkerTask::Outputs() const {
  std::string outputs;
  for (int i = 0; i < load_.buffers_size(); ++i) {
    if (!load_.buffers(i).written()) continue;
    outputs.append(static_cast<const char*>(guarded_data_[i]),
                   load_.buffers(i).bytes());
  }
  return outputs;
}

bool WorkerTask::UpdatesBuffers() const {
  return std::any_of(load_.buffers().begin(), load_.buffers().end(),
                     [](const search::TaskBuffer& buffer) {
                       return buffer.written() && buffer.has_initial();
                     });
}

void WorkerTask::RestorePlain() {
  for (int i = 0; i < load_.buffers_size(); ++i) {
    const search::TaskBuffer& buffer = load_.buffers(i);
    if (buffer.written() && buffer.has_initial()) Fill(buffer, plain_data_[i]);
  }
}

std::optional<std::string> WorkerTask::CheckSlack() const {
  for (int i = 0; i < load_.buffers_size(); ++i) {
    if (!load_.buffers(i).written()) continue;
    if (std::optional<std::string> left = guarded_[i].CheckSlack()) return left;
  }
  return std::nullopt;
}

std::optional<std::string> WorkerTask::CompareBuffer(
    int index, const void* data, int64_t max_elements) const {
  const search::TaskBuffer& buffer = load_.buffers(index);
  if (!buffer.has_expected()) return std::nullopt;
  const DType dtype = *DType::FromString(buffer.dtype());
  const std::optional<OutputMismatch> mismatch = CompareElements(
      dtype, data, Contents(buffer.expected_offset(), buffer.bytes()),
      static_cast<int64_t>(buffer.bytes()) / dtype.bytes(),
      {buffer.rtol(), buffer.atol()}, max_elements);
  if (!mismatch) return std::nullopt;
  return ToString(*mismatch, buffer.name());
}

std::optional<std::string> WorkerTask::CompareOutputs(
    int64_t max_elements) const {
  for (int i = 0; i < load_.buffers_size(); ++i) {
    auto mismatch = CompareBuffer(i, guarded_data_[i], max_elements);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

std::optional<std::string> WorkerTask::ComparePlainOutputs(
    int64_t max_elements) const {
  for (int i = 0; i < load_.buffers_size(); ++i) {
    auto mismatch = CompareBuffer(i, plain_data_[i], max_elements);
    if (mismatch) return mismatch;
  }
  return std::nullopt;
}

absl::StatusOr<absl::Span<void* const>> WorkerTask::PlainData() {
  for (int i = static_cast<int>(plain_.size()); i < load_.buffers_size(); ++i) {
    const search::TaskBuffer& buffer = load_.buffers(i);
    AlignedMemory memory =
        AllocateAligned(std::max<uint64_t>(buffer.bytes(), 1));
    if (memory == nullptr) return NoMemory("a buffer");
    Fill(buffer, memory.get());
    plain_data_.push_back(memory.get());
    plain_.push_back(std::move(memory));
  }
  return absl::Span<void* const>(plain_data_);
}

std::vector<absl::Span<const char>> WorkerTask::PlainSpans() const {
  std::vector<absl::Span<const char>> spans;
  for (size_t i = 0; i < plain_data_.size(); ++i) {
    spans.emplace_back(static_cast<const char*>(plain_data_[i]),
                       load_.buffers(static_cast<int>(i)).bytes());
  }
  return spans;
}

}  // namespace kiln
