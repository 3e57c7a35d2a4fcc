// WorkerTask: one task's buffers inside a worker, twice. The guarded set is
// for the first, checked run; the plain set, allocated as a runtime would
// allocate tensors, is for timing.
#ifndef KILN_SEARCH_MEASURE_WORKER_TASK_H_
#define KILN_SEARCH_MEASURE_WORKER_TASK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/aligned_memory.h"
#include "kiln/search/measure/guard.h"
#include "kiln/search/measure/runner.pb.h"

namespace kiln {

class WorkerTask {
 public:
  // Maps the task's memory, which is `fd` or, where that is negative, inside
  // the request. kInvalidArgument for a request that contradicts itself.
  static absl::StatusOr<std::unique_ptr<WorkerTask>> Create(
      const search::LoadTask& load, int fd);
  ~WorkerTask();
  WorkerTask(const WorkerTask&) = delete;
  WorkerTask& operator=(const WorkerTask&) = delete;

  // Gives the written guarded buffers their initial contents.
  void Prepare();
  // The contents of the written guarded buffers, one after the other.
  std::string Outputs() const;
  // How the guarded buffers were left, if one was.
  std::optional<std::string> CheckSlack() const;
  // How the guarded outputs differ from the trusted ones, if they do.
  std::optional<std::string> CompareOutputs(int64_t max_elements) const;
  // The same for the plain set, after any number of calls, each from what the
  // buffers hold at first.
  std::optional<std::string> ComparePlainOutputs(int64_t max_elements) const;
  // Whether a call depends on what written buffers hold before it.
  bool UpdatesBuffers() const;
  // Gives those of the plain set their initial contents back.
  void RestorePlain();

  absl::Span<void* const> guarded_data() const { return guarded_data_; }
  absl::Span<const int64_t> scalars() const { return scalars_; }

  // Makes the plain set at its first call. kResourceExhausted without memory.
  absl::StatusOr<absl::Span<void* const>> PlainData();
  // The memory of the plain set.
  std::vector<absl::Span<const char>> PlainSpans() const;

 private:
  WorkerTask() = default;
  absl::Status MapMemory(const search::LoadTask& load, int fd);
  absl::Status AddBuffer(const search::TaskBuffer& buffer, int fd);
  // Where contents of `bytes` lie that start their pages at `offset`.
  const char* Contents(uint64_t offset, uint64_t bytes) const;
  void Fill(const search::TaskBuffer& buffer, void* data) const;
  std::optional<std::string> CompareBuffer(int index, const void* data,
                                           int64_t max_elements) const;

  search::LoadTask load_;  // Without its memory.
  std::vector<int64_t> scalars_;
  const char* memory_ = nullptr;
  uint64_t memory_bytes_ = 0;
  std::vector<GuardedBuffer> guarded_;
  std::vector<void*> guarded_data_;
  std::vector<AlignedMemory> plain_;
  std::vector<void*> plain_data_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_WORKER_TASK_H_
