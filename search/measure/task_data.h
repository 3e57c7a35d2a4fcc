// MeasureTask: the memory that every candidate of one tuning task is run on,
// and the trusted outputs it is checked against.
#ifndef KILN_SEARCH_MEASURE_TASK_DATA_H_
#define KILN_SEARCH_MEASURE_TASK_DATA_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/search/measure/compare.h"
#include "kiln/vm/library/signature.h"

namespace kiln {

// Contents of one buffer of a signature. Bytes are copied.
struct TaskTensor {
  // Before each call. Required for a buffer that is only read; a written one
  // may have none, and then starts as all ones (NaN for floats). One that has
  // them is updated: it gets them back before every call.
  absl::Span<const char> initial;
  // After the call, by a trusted way. Empty where it is not to be compared.
  absl::Span<const char> expected;
  Tolerance tolerance;
};

class MeasureTask;

// What a task has beside its tensors.
struct TaskExtras {
  // The same buffers with other contents, on which every kernel is checked,
  // too: small whole numbers, whose sums are exact. It has no second itself.
  std::shared_ptr<const MeasureTask> second;
  // Why the trusted outputs are trusted, in words.
  std::string grounds;
};

// Immutable once made. The memory is a file that has no name anywhere, so
// nothing stays behind however the processes that use it end.
class MeasureTask {
 public:
  // `scalars` are as the kernel ABI wants them, one for each of the
  // signature's; `tensors` one for each buffer. kInvalidArgument where these
  // do not fit the signature.
  static absl::StatusOr<std::shared_ptr<const MeasureTask>> Create(
      const KernelSignature& signature, absl::Span<const int64_t> scalars,
      absl::Span<const TaskTensor> tensors, TaskExtras extras = {});
  ~MeasureTask();
  MeasureTask(const MeasureTask&) = delete;
  MeasureTask& operator=(const MeasureTask&) = delete;

  // Differs between any two tasks of this process.
  int64_t id() const { return id_; }
  const KernelSignature& signature() const { return signature_; }
  // Null for none.
  const MeasureTask* second() const { return extras_.second.get(); }
  const std::string& grounds() const { return extras_.grounds; }
  // Bytes of all buffers together.
  uint64_t total_bytes() const { return total_bytes_; }

  // Bytes of each written buffer, in order.
  const std::vector<uint64_t>& output_bytes() const { return output_bytes_; }

  // The LoadTask request of runner.proto, without the memory, and the
  // descriptor of the memory.
  const std::string& request() const { return request_; }
  int fd() const { return fd_; }
  // The request with the memory inside, for a worker on another machine.
  absl::StatusOr<std::string> RequestWithMemory() const;

  // Refuses a kernel whose buffers or scalars are not those of the task.
  absl::Status CheckFits(const KernelSignature& kernel) const;

 private:
  MeasureTask() = default;

  int64_t id_ = 0;
  KernelSignature signature_;
  TaskExtras extras_;
  uint64_t total_bytes_ = 0;
  std::vector<uint64_t> output_bytes_;
  std::string request_;
  int fd_ = -1;
};

// Bytes of a buffer whose symbolic extents are found in `scalars`.
// kInvalidArgument for a negative extent or a size beyond 2^46 bytes.
absl::StatusOr<uint64_t> BufferBytes(const KernelBuffer& buffer,
                                     absl::Span<const int64_t> scalars);

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_TASK_DATA_H_
