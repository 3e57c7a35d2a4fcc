// A kernel runs first between guard zones, with its output compared, and only
// then on plain memory against the clock; what the last call left there is
// compared too, since a race may go well once:
//
//   guarded, random inputs       out_of_bounds, wrong_result "C[17] is .."
//   guarded, whole numbers       wrong_result "C[17] is .., on whole numbers"
//   plain, timed, last call      wrong_result ".., but not in the first call"
//
// The guarded runs fill workspaces and the stack with two different values, so
// that what is read before it is written differs between them or shows. A fault
// is answered by a signal handler (fault_signal.cc), and memory is limited
// while a kernel runs, so that the worker itself is never refused any.
#include "kiln/search/measure/worker.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/database/verdict.h"
#include "kiln/search/measure/channel.h"
#include "kiln/search/measure/fault_signal.h"
#include "kiln/search/measure/guarded_host.h"
#include "kiln/search/measure/runner.pb.h"
#include "kiln/search/measure/worker_kernel.h"
#include "kiln/search/measure/worker_task.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/profile/time_evaluator.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

// Where a sample is one call, so many times more samples may be taken.
constexpr int kMoreSingleCalls = 10;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A verdict other than ok, on its way out of nested steps.
struct Failure {
  Verdict verdict;
  std::string reason;
};
using MaybeFailure = std::optional<Failure>;

// Limits what is mapped beyond what is mapped now; lifts the limit again.
class MemoryLimit {
 public:
  explicit MemoryLimit(uint64_t more_bytes) {
    const uint64_t mapped = MappedBytes();
    if (more_bytes == 0 || mapped == 0) return;
    Set(mapped + more_bytes);
  }
  ~MemoryLimit() { Set(RLIM_INFINITY); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static uint64_t MappedBytes() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    unsigned long long pages = 0;
    const int fields = std::fscanf(file, "%llu", &pages);
    std::fclose(file);
    return fields == 1 ? pages * sysconf(_SC_PAGESIZE) : 0;
  }
  static void Set(rlim_t soft) {
    rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::min(soft, limit.rlim_max);
    setrlimit(RLIMIT_AS, &limit);
  }
};

class Worker {
 public:
  explicit Worker(int fd) : fd_(fd) {}

  void Serve();

 private:
  search::Response Answer(const Frame& frame);
  MaybeFailure Load(const search::LoadTask& load, int fd);
  MaybeFailure Measure(const search::MeasureKernel& request, int fd,
                       search::Response& response);
  MaybeFailure CheckedRun(const search::MeasureKernel& request,
                          WorkerTask& task, Filler filler, WorkerKernel& kernel,
                          search::Response& response);
  MaybeFailure CheckedRuns(const search::MeasureKernel& request,
                           WorkerKernel& kernel, search::Response& response);
  MaybeFailure TimedRuns(const search::MeasureKernel& request,
                         WorkerKernel& kernel, search::Response& response);
  std::vector<absl::Span<const char>> ColdMemory(
      const search::MeasureKernel& request, const WorkerKernel& kernel) const;
  void UseThreads(int count);

  int fd_;
  std::unique_ptr<WorkerTask> task_;
  std::unique_ptr<WorkerTask> second_;  // null: none
  int num_threads_ = 0;
  std::unique_ptr<ThreadPool> pool_;
  std::unique_ptr<KernelHost> host_;
};

MaybeFailure FailureOf(int32_t status) {
  if (status == KILN_KERNEL_OK) return std::nullopt;
  if (status == KILN_KERNEL_OUT_OF_MEMORY) {
    return Failure{Verdict::kOutOfMemory,
                   "an allocation of the kernel exceeded the memory limit"};
  }
  return Failure{Verdict::kRunError,
                 absl::StrCat("the kernel returned ", status)};
}

void Worker::UseThreads(int count) {
  count = std::max(count, 1);
  if (count == num_threads_) return;
  host_.reset();
  pool_.reset();
  pool_ = std::make_unique<ThreadPool>(ThreadPool::OneForEachCpu(count));
  host_ = std::make_unique<KernelHost>(pool_.get());
  num_threads_ = count;
}

MaybeFailure Worker::Load(const search::LoadTask& load, int fd) {
  std::unique_ptr<WorkerTask>& place = load.is_second() ? second_ : task_;
  second_.reset();
  place.reset();
  absl::StatusOr<std::unique_ptr<WorkerTask>> task =
      WorkerTask::Create(load, fd);
  if (!task.ok()) {
    return Failure{Verdict::kRunError, std::string(task.status().message())};
  }
  place = *std::move(task);
  return std::nullopt;
}

MaybeFailure Worker::CheckedRun(const search::MeasureKernel& request,
                                WorkerTask& task, Filler filler,
                                WorkerKernel& kernel,
                                search::Response& response) {
  const auto start = Clock::now();
  task.Prepare();
  GuardedHost host(host_->abi(), filler);
  const auto before_call = Clock::now();
  int32_t status =
      kernel.Prepare(host.abi(), task.guarded_data(), task.scalars(),
                     WorkerKernel::Memory::kGuarded);
  FillScratch(filler);
  if (status == 0) status = kernel.Call(host.abi());
  ClearScratch();
  const double call_seconds = SecondsSince(before_call);
  MaybeFailure failure = FailureOf(status);
  std::optional<std::string> violation = host.CheckWorkspaces();
  if (!violation) violation = task.CheckSlack();
  if (!violation) violation = kernel.CheckSlack();
  if (violation) failure = Failure{Verdict::kOutOfBounds, *violation};
  if (!failure && request.check()) {
    const std::optional<std::string> mismatch =
        task.CompareOutputs(static_cast<int64_t>(request.check_elements()));
    if (mismatch) failure = Failure{Verdict::kWrongResult, *mismatch};
  }
  response.set_check_seconds(response.check_seconds() + SecondsSince(start) -
                             call_seconds);
  return failure;
}

// On the task's contents and, where there are any, on whole numbers.
MaybeFailure Worker::CheckedRuns(const search::MeasureKernel& request,
                                 WorkerKernel& kernel,
                                 search::Response& response) {
  const MemoryLimit limit(request.memory_limit_bytes());
  MaybeFailure failure =
      CheckedRun(request, *task_, Filler::kLow, kernel, response);
  if (failure || second_ == nullptr || !request.check()) return failure;
  failure = CheckedRun(request, *second_, Filler::kHigh, kernel, response);
  if (failure) failure->reason += ", on whole numbers";
  return failure;
}

// How long and how often to time.
TimeOptions TimingOf(const search::MeasureKernel& request) {
  TimeOptions options;
  options.warmup_calls = 1;
  options.total_us = request.budget_ms() * 1e3;
  options.min_samples = request.min_samples();
  options.max_samples = request.max_samples();
  // Of a short kernel a sample holds many calls, so that the budget is used.
  options.sample_us = options.total_us / std::max(options.max_samples, 1);
  if (request.hopeless_ns() > 0) {
    options.hopeless_us = request.hopeless_ns() * 1e-3;
  }
  if (request.beaten_ns() > 0) {
    const double beaten_us = request.beaten_ns() * 1e-3;
    const double trial_us = request.beaten_ms() * 1e3;
    options.hopeless = [beaten_us, trial_us](const TimeResult& so_far) {
      const auto calls =
          static_cast<double>(so_far.samples * so_far.calls_per_sample);
      return so_far.min_us > beaten_us && so_far.median_us * calls >= trial_us;
    };
  }
  return options;
}

// Memory that a timed call finds in no cache.
std::vector<absl::Span<const char>> Worker::ColdMemory(
    const search::MeasureKernel& request, const WorkerKernel& kernel) const {
  const std::vector<absl::Span<const char>> all = task_->PlainSpans();
  std::vector<absl::Span<const char>> cold;
  for (const int32_t at : request.cold_buffers()) {
    if (at >= 0 && at < std::ssize(all)) cold.push_back(all[at]);
  }
  if (cold.empty()) return cold;
  const std::vector<absl::Span<const char>> prepared = kernel.PlainSpans();
  cold.insert(cold.end(), prepared.begin(), prepared.end());
  return cold;
}

// Threads that wait for a call as they do between two kernels of a model.
void WakeUp(ThreadPool& pool) {
  pool.ParallelFor(pool.num_threads(), [](int64_t, int64_t) { return 0; });
}

MaybeFailure Worker::TimedRuns(const search::MeasureKernel& request,
                               WorkerKernel& kernel,
                               search::Response& response) {
  absl::StatusOr<absl::Span<void* const>> data = task_->PlainData();
  if (!data.ok()) {
    return Failure{Verdict::kOutOfMemory, std::string(data.status().message())};
  }
  const MemoryLimit limit(request.memory_limit_bytes());
  int32_t status = kernel.Prepare(host_->abi(), *data, task_->scalars(),
                                  WorkerKernel::Memory::kPlain);
  if (MaybeFailure failure = FailureOf(status)) return failure;
  TimeOptions options = TimingOf(request);
  if (request.flush_cache()) {
    options.flush = task_->PlainSpans();
    const auto prepared = kernel.PlainSpans();
    options.flush.insert(options.flush.end(), prepared.begin(), prepared.end());
  }
  const auto cold = ColdMemory(request, kernel);
  const bool updates = task_->UpdatesBuffers();
  if (updates || !cold.empty()) {
    options.restore = [this, &cold, updates] {
      if (updates) task_->RestorePlain();
      FlushCaches(cold);
      if (!cold.empty()) WakeUp(*pool_);
    };
    options.max_samples *= kMoreSingleCalls;
  }
  const absl::StatusOr<TimeResult> time = MeasureTime(
      [&] {
        status = kernel.Call(host_->abi());
        return status == 0 ? absl::OkStatus() : absl::AbortedError("");
      },
      options);
  if (MaybeFailure failure = FailureOf(status)) return failure;
  if (!time.ok()) {
    return Failure{Verdict::kRunError, std::string(time.status().message())};
  }
  if (request.check()) {
    const auto start = Clock::now();
    const std::optional<std::string> mismatch = task_->ComparePlainOutputs(
        static_cast<int64_t>(request.check_elements()));
    response.set_check_seconds(response.check_seconds() + SecondsSince(start));
    if (mismatch) {
      return Failure{Verdict::kWrongResult,
                     absl::StrCat(*mismatch, ", but not in the first call")};
    }
  }
  // A kernel that does nothing may take no measurable time.
  response.set_min_ns(std::max(time->min_us * 1e3, 1e-3));
  response.set_median_ns(time->median_us * 1e3);
  response.set_spread_ns(time->spread * time->median_us * 1e3);
  response.set_samples(time->samples);
  return std::nullopt;
}

// Hands over what a run left in the written buffers.
MaybeFailure SendOutputs(std::string outputs, int fd,
                         search::Response& response) {
  if (fd < 0) {
    response.set_outputs(std::move(outputs));
    return std::nullopt;
  }
  for (size_t done = 0; done < outputs.size();) {
    const ssize_t count =
        pwrite(fd, outputs.data() + done, outputs.size() - done,
               static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Failure{
          Verdict::kOutOfMemory,
          absl::StrCat("no memory for the outputs: ", std::strerror(errno))};
    }
    done += count;
  }
  return std::nullopt;
}

MaybeFailure Worker::Measure(const search::MeasureKernel& request, int fd,
                             search::Response& response) {
  if (task_ == nullptr) {
    return Failure{Verdict::kRunError, "no task was loaded"};
  }
  absl::StatusOr<WorkerKernel> kernel = WorkerKernel::Load(
      request, static_cast<int>(task_->guarded_data().size()),
      static_cast<int>(task_->scalars().size()));
  if (!kernel.ok()) {
    return Failure{Verdict::kBuildError,
                   std::string(kernel.status().message())};
  }
  UseThreads(request.num_threads());
  if (!request.unguarded()) {
    if (MaybeFailure failure = CheckedRuns(request, *kernel, response)) {
      return failure;
    }
  }
  if (request.run_once()) return SendOutputs(task_->Outputs(), fd, response);
  return TimedRuns(request, *kernel, response);
}

search::Response Worker::Answer(const Frame& frame) {
  const auto start = Clock::now();
  search::Response response;
  search::Request request;
  MaybeFailure failure =
      Failure{Verdict::kRunError, "the worker does not know this request"};
  if (!request.ParseFromString(frame.payload)) {
    failure->reason = "the request cannot be parsed";
  } else if (request.version() != kRunnerProtocolVersion) {
    failure->reason =
        absl::StrCat("the request has protocol version ", request.version(),
                     ", this worker speaks version ", kRunnerProtocolVersion);
  } else if (request.has_load_task()) {
    failure = Load(request.load_task(), frame.fd.get());
  } else if (request.has_measure()) {
    failure = Measure(request.measure(), frame.fd.get(), response);
  }
  const Verdict verdict = failure ? failure->verdict : Verdict::kOk;
  response.set_verdict(std::string(VerdictName(verdict)));
  if (failure) response.set_reason(failure->reason);
  response.set_seconds(SecondsSince(start));
  return response;
}

void Worker::Serve() {
  AnswerFatalSignals(fd_);
  while (true) {
    absl::StatusOr<Frame> frame = ReceiveFrame(fd_);
    if (!frame.ok()) return;
    search::Response response;
    try {
      response = Answer(*frame);
    } catch (const std::bad_alloc&) {
      response.set_verdict(std::string(VerdictName(Verdict::kOutOfMemory)));
      response.set_reason("the worker itself ran out of memory");
    }
    if (!SendFrame(fd_, response.SerializeAsString()).ok()) return;
  }
}

}  // namespace

void RunWorker(int fd) { Worker(fd).Serve(); }

}  // namespace kiln
