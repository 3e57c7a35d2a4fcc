// WorkerKernel: a kernel inside a worker, with what has to run ahead of it.
#ifndef KILN_SEARCH_MEASURE_WORKER_KERNEL_H_
#define KILN_SEARCH_MEASURE_WORKER_KERNEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/aligned_memory.h"
#include "kiln/search/measure/guard.h"
#include "kiln/search/measure/runner.pb.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln {

class WorkerKernel {
 public:
  // Loads the objects of a request about a task with so many buffers and
  // scalars.
  static absl::StatusOr<WorkerKernel> Load(const search::MeasureKernel& request,
                                           int num_buffers, int num_scalars);

  // Runs what comes ahead of the kernel, if anything, on the task's buffers
  // `data`; what it prepares lies in memory of its own, between guard zones or
  // plain. Returns a status of kernel_abi.h.
  enum class Memory : uint8_t { kGuarded, kPlain };
  int32_t Prepare(const KilnHost* host, absl::Span<void* const> data,
                  absl::Span<const int64_t> scalars, Memory memory);
  // Runs the kernel on what the last Prepare left.
  int32_t Call(const KilnHost* host) const {
    return entry_(host, args_.data(), scalars_.data());
  }

  // How the guarded memory was left, as a sentence, if it was.
  std::optional<std::string> CheckSlack() const;
  // The plain memory.
  std::vector<absl::Span<const char>> PlainSpans() const;

 private:
  absl::Status LoadPreparation(const search::Preparation& preparation,
                               int num_buffers, int num_scalars);
  // nullptr without memory.
  void* Allocate(const search::Preparation::Buffer& buffer, Memory memory);

  search::Preparation preparation_;  // without its object
  std::shared_ptr<const LoadedObject> object_, prepare_object_;
  KilnKernel entry_ = nullptr;
  KilnKernel prepare_ = nullptr;  // null: nothing comes ahead
  std::vector<GuardedBuffer> guarded_;
  std::vector<AlignedMemory> plain_;
  std::vector<void*> args_;
  std::vector<int64_t> scalars_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_WORKER_KERNEL_H_
