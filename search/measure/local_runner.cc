// A request has one of three ends, and each tells who is to blame:
//
//   an answer        a verdict of the worker, or nonsense: the kernel has
//                    overwritten the worker
//   silence          the deadline: a timeout
//   end of stream    the wait status: SIGSEGV is a crash, SIGKILL came from
//                    outside and is no kernel's fault
//
// After a verdict that may leave memory in disorder the worker is killed, and
// the spare one, forked ahead, takes its place; a new spare is forked. Before a
// request the runner makes sure that the worker lives and holds the task, since
// idle processes may have been killed as well; three attempts, the later ones
// with a new server, then an error.
#include "kiln/search/measure/local_runner.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/search/measure/runner.pb.h"
#include "kiln/search/measure/worker.h"

namespace kiln {
namespace {

constexpr int kAttempts = 3;
// For loading a task, which is no kernel's doing.
constexpr double kLoadDeadlineS = 60;

Deadline After(double seconds) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             std::chrono::duration<double>(seconds));
}

// An idle worker that has anything to say has ended.
bool IsAlive(const ForkServer::Worker& worker) {
  if (worker.pid < 0) return false;
  pollfd poll_fd = {worker.fd.get(), POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 0;
}

MeasureResult Failed(Verdict verdict, std::string reason) {
  MeasureResult result;
  result.verdict = verdict;
  result.reason = std::move(reason);
  return result;
}

// `untimed`: no time is told.
std::optional<MeasureResult> ResultOf(const std::string& payload,
                                      bool untimed) {
  search::Response response;
  if (!response.ParseFromString(payload)) return std::nullopt;
  const std::optional<Verdict> verdict = ParseVerdict(response.verdict());
  if (!verdict) return std::nullopt;
  if (*verdict == Verdict::kOk && !untimed && !(response.min_ns() > 0)) {
    return std::nullopt;
  }
  MeasureResult result = Failed(*verdict, response.reason());
  result.min_ns = response.min_ns();
  result.median_ns = response.median_ns();
  result.spread_ns = response.spread_ns();
  result.samples = response.samples();
  result.check_seconds = response.check_seconds();
  return result;
}

// After these the worker's memory is as it was before the kernel.
bool LeavesWorkerIntact(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
    case Verdict::kBuildError:
    case Verdict::kWrongResult:
      return true;
    case Verdict::kScheduleRefused:
    case Verdict::kRunError:
    case Verdict::kCrash:
    case Verdict::kTimeout:
    case Verdict::kOutOfMemory:
    case Verdict::kOutOfBounds:
    case Verdict::kWorkerLost:
      return false;
  }
  return false;
}

// A worker ended without a word: who ended it?
MeasureResult ResultOfEnd(int wait_status) {
  if (WIFEXITED(wait_status)) {
    return Failed(Verdict::kCrash,
                  absl::StrCat("the kernel ended the process with exit code ",
                               WEXITSTATUS(wait_status)));
  }
  const int number = WTERMSIG(wait_status);
  switch (number) {
    case SIGSEGV:
    case SIGBUS:
    case SIGFPE:
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGSYS:
      return Failed(Verdict::kCrash, absl::StrCat("SIG", sigabbrev_np(number)));
    default:
      return Failed(
          Verdict::kWorkerLost,
          absl::StrCat("the worker was killed from outside by ",
                       number == SIGKILL ? "SIGKILL" : strsignal(number)));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<LocalRunner>> LocalRunner::Create(
    const LocalRunnerOptions& options) {
  std::unique_ptr<LocalRunner> runner(new LocalRunner(options));
  KILN_RETURN_IF_ERROR(runner->StartServer());
  KILN_RETURN_IF_ERROR(runner->FillPlaces());
  return runner;
}

absl::Status LocalRunner::StartServer() {
  worker_ = {};
  spare_ = {};
  loaded_task_ = 0;
  server_.reset();
  KILN_ASSIGN_OR_RETURN(server_, ForkServer::Start(&RunWorker));
  return absl::OkStatus();
}

absl::Status LocalRunner::FillPlaces() {
  for (ForkServer::Worker* place : {&worker_, &spare_}) {
    if (place->pid >= 0) continue;
    KILN_ASSIGN_OR_RETURN(*place, server_->Spawn());
  }
  worker_pid_ = worker_.pid;
  return absl::OkStatus();
}

absl::StatusOr<int> LocalRunner::Replace() {
  ++replaced_;
  const pid_t old = worker_.pid;
  worker_ = std::exchange(spare_, {});
  loaded_task_ = 0;
  worker_pid_ = worker_.pid;
  KILN_ASSIGN_OR_RETURN(const int status, server_->Kill(old));
  KILN_RETURN_IF_ERROR(FillPlaces());
  return status;
}

absl::Status LocalRunner::SendTask(const MeasureTask& task, bool is_second) {
  const Deadline deadline = After(kLoadDeadlineS);
  std::string payload = task.request();
  if (is_second) {
    search::Request request;
    KILN_CHECK(request.ParseFromString(payload)) << "MeasureTask wrote it";
    request.mutable_load_task()->set_is_second(true);
    payload = request.SerializeAsString();
  }
  KILN_RETURN_IF_ERROR(
      SendFrame(worker_.fd.get(), payload, task.fd(), deadline));
  KILN_ASSIGN_OR_RETURN(const Frame frame,
                        ReceiveFrame(worker_.fd.get(), deadline));
  search::Response response;
  if (!response.ParseFromString(frame.payload)) {
    return absl::UnavailableError("the worker talks nonsense");
  }
  if (response.verdict() == VerdictName(Verdict::kOk)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("a worker cannot hold the task: ", response.reason()));
}

absl::Status LocalRunner::LoadTask(const MeasureTask& task) {
  KILN_RETURN_IF_ERROR(SendTask(task, /*is_second=*/false));
  if (task.second() != nullptr) {
    KILN_RETURN_IF_ERROR(SendTask(*task.second(), /*is_second=*/true));
  }
  loaded_task_ = task.id();
  return absl::OkStatus();
}

// Idle workers, and even the server, may have been killed by hand; that is no
// kernel's fault, so what is missing is started again.
absl::Status LocalRunner::Ready(const MeasureTask& task) {
  absl::Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (!IsAlive(worker_)) status = Replace().status();
    if (status.ok() && loaded_task_ != task.id()) status = LoadTask(task);
    if (status.ok()) return status;
    if (status.code() == absl::StatusCode::kResourceExhausted) return status;
    KILN_RETURN_IF_ERROR(StartServer());
    KILN_RETURN_IF_ERROR(FillPlaces());
    status = absl::OkStatus();
  }
  return absl::UnavailableError(
      "measuring: workers end before they take a task");
}

namespace {

// Shapes are constant where there is a preparation.
void FillPreparation(const BuiltPreparation& from, search::Preparation* to) {
  to->set_object(from.object);
  to->set_symbol(from.symbol);
  for (const KernelBuffer& buffer : from.prepared) {
    search::Preparation::Buffer* out = to->add_prepared();
    out->set_name(buffer.name);
    uint64_t bytes = buffer.dtype.bytes();
    for (const KernelDim& dim : buffer.shape) bytes *= dim.constant();
    out->set_bytes(bytes);
  }
  to->mutable_args()->Add(from.args.begin(), from.args.end());
  to->mutable_kernel_args()->Add(from.kernel_args.begin(),
                                 from.kernel_args.end());
  to->mutable_scalars()->Add(from.scalars.begin(), from.scalars.end());
  to->mutable_kernel_scalars()->Add(from.kernel_scalars.begin(),
                                    from.kernel_scalars.end());
}

}  // namespace

search::Request LocalRunner::RequestFor(const BuildResult& kernel,
                                        const MeasureOptions& options) const {
  search::Request request;
  request.set_version(kRunnerProtocolVersion);
  search::MeasureKernel& out = *request.mutable_measure();
  out.set_object(kernel.object);
  out.set_symbol(kernel.symbol);
  if (kernel.preparation) {
    FillPreparation(*kernel.preparation, out.mutable_preparation());
  }
  out.set_num_threads(options.num_threads);
  out.set_memory_limit_bytes(options_.memory_limit_bytes);
  out.set_check(options.check);
  out.set_check_elements(options.check_elements);
  out.set_unguarded(!options.guarded);
  out.set_hopeless_ns(options.best_ns * options.hopeless_factor);
  out.set_beaten_ns(options.best_ns * options.beaten_factor);
  out.set_beaten_ms(options.beaten_ms);
  out.set_budget_ms(options.budget_ms);
  out.set_min_samples(options.min_samples);
  out.set_max_samples(options.max_samples);
  out.set_flush_cache(options.flush_cache);
  out.mutable_cold_buffers()->Add(kernel.cold_buffers.begin(),
                                  kernel.cold_buffers.end());
  return request;
}

absl::StatusOr<MeasureResult> LocalRunner::AfterSilence(
    const absl::Status& silence, double deadline_s) {
  const absl::StatusOr<int> wait_status = Replace();
  if (!wait_status.ok()) {
    if (wait_status.status().code() != absl::StatusCode::kUnavailable) {
      return wait_status.status();
    }
    KILN_RETURN_IF_ERROR(StartServer());
    KILN_RETURN_IF_ERROR(FillPlaces());
    return Failed(Verdict::kWorkerLost,
                  "the process that forks workers was killed from outside");
  }
  if (silence.code() == absl::StatusCode::kDeadlineExceeded) {
    return Failed(Verdict::kTimeout,
                  absl::StrCat("no end within ", deadline_s, " s"));
  }
  return ResultOfEnd(*wait_status);
}

absl::StatusOr<MeasureResult> LocalRunner::Measure(
    const MeasureTask& task, const BuildResult& kernel,
    const MeasureOptions& options) {
  return Ask(task, kernel, RequestFor(kernel, options), -1, options.deadline_s);
}

namespace {

// The outputs of a task, cut out of the file that holds one after the other.
absl::StatusOr<std::vector<std::string>> ReadOutputs(const MeasureTask& task,
                                                     int fd) {
  std::vector<std::string> outputs;
  uint64_t at = 0;
  for (uint64_t bytes : task.output_bytes()) {
    std::string output(bytes, '\0');
    for (uint64_t done = 0; done < bytes;) {
      const ssize_t count = pread(fd, output.data() + done, bytes - done,
                                  static_cast<off_t>(at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        return absl::InternalError("the outputs of a run cannot be read");
      }
      done += count;
    }
    at += bytes;
    outputs.push_back(std::move(output));
  }
  return outputs;
}

}  // namespace

absl::StatusOr<RunResult> LocalRunner::Run(const MeasureTask& task,
                                           const BuildResult& kernel,
                                           const MeasureOptions& options) {
  const OwnedFd file(memfd_create("kiln_run_outputs", MFD_CLOEXEC));
  if (file.get() < 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("memfd_create: ", std::strerror(errno)));
  }
  search::Request request = RequestFor(kernel, options);
  request.mutable_measure()->set_run_once(true);
  request.mutable_measure()->set_check(false);
  KILN_ASSIGN_OR_RETURN(
      MeasureResult result,
      Ask(task, kernel, request, file.get(), options.deadline_s));
  RunResult run = {result.verdict, std::move(result.reason), {}};
  if (run.verdict == Verdict::kOk) {
    KILN_ASSIGN_OR_RETURN(run.outputs, ReadOutputs(task, file.get()));
  }
  return run;
}

absl::StatusOr<MeasureResult> LocalRunner::Ask(const MeasureTask& task,
                                               const BuildResult& kernel,
                                               const search::Request& request,
                                               int attached,
                                               double deadline_s) {
  const auto start = std::chrono::steady_clock::now();
  if (absl::Status fits = task.CheckFits(kernel.signature); !fits.ok()) {
    return Failed(Verdict::kBuildError, std::string(fits.message()));
  }
  KILN_RETURN_IF_ERROR(Ready(task));
  if (deadline_s <= 0) deadline_s = options_.deadline_s;
  const Deadline deadline = After(deadline_s);
  absl::Status silence = SendFrame(
      worker_.fd.get(), request.SerializeAsString(), attached, deadline);
  if (silence.ok() && request.measure().run_once() && options_.stop) {
    silence = WaitForFrame(worker_.fd.get(), deadline, options_.stop);
    if (absl::IsCancelled(silence)) {
      KILN_RETURN_IF_ERROR(Replace().status());
      return silence;
    }
  }
  absl::StatusOr<Frame> frame =
      silence.ok() ? ReceiveFrame(worker_.fd.get(), deadline) : silence;
  MeasureResult result;
  if (!frame.ok()) {
    KILN_ASSIGN_OR_RETURN(result, AfterSilence(frame.status(), deadline_s));
  } else if (std::optional<MeasureResult> read =
                 ResultOf(frame->payload, request.measure().run_once())) {
    result = *std::move(read);
  } else {
    result = Failed(Verdict::kCrash, "the kernel overwrote the worker itself");
  }
  // Where the server is gone too, the next call finds out.
  if (frame.ok() && !LeavesWorkerIntact(result.verdict)) {
    Replace().status().IgnoreError();
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return result;
}

}  // namespace kiln
