// LocalRunner: measures in worker processes on this machine.
//
// Whatever a kernel does (crash, hang, allocate without end, leave its
// buffers) costs that kernel only: the worker is killed with its process
// group and replaced by one that was forked ahead.
#ifndef KILN_SEARCH_MEASURE_LOCAL_RUNNER_H_
#define KILN_SEARCH_MEASURE_LOCAL_RUNNER_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/search/measure/channel.h"
#include "kiln/search/measure/fork_server.h"
#include "kiln/search/measure/runner.h"
#include "kiln/search/measure/runner.pb.h"

namespace kiln {

struct LocalRunnerOptions {
  // What a kernel may allocate.
  uint64_t memory_limit_bytes = uint64_t{4} << 30;
  // Time for one kernel where MeasureOptions says nothing.
  double deadline_s = 10;
  // Asked now and then while Run waits, which may take minutes: true ends it
  // with kCancelled. Null: nobody ends it.
  std::function<bool()> stop = nullptr;
};

class LocalRunner : public Runner {
 public:
  // Forks; best called before other threads are started.
  static absl::StatusOr<std::unique_ptr<LocalRunner>> Create(
      const LocalRunnerOptions& options = {});
  // Kills and waits for every process that it started.
  ~LocalRunner() override = default;

  absl::StatusOr<MeasureResult> Measure(const MeasureTask& task,
                                        const BuildResult& kernel,
                                        const MeasureOptions& options) override;

  absl::StatusOr<RunResult> Run(const MeasureTask& task,
                                const BuildResult& kernel,
                                const MeasureOptions& options) override;

  // The worker that measures now or next; may be asked from any thread.
  pid_t worker_pid() const { return worker_pid_; }
  // Workers that were replaced so far.
  int64_t replaced_workers() const { return replaced_; }

 private:
  explicit LocalRunner(const LocalRunnerOptions& options) : options_(options) {}

  // Has a worker that holds the task, starting what is missing.
  absl::Status Ready(const MeasureTask& task);
  absl::Status StartServer();
  absl::Status FillPlaces();
  absl::Status LoadTask(const MeasureTask& task);
  absl::Status SendTask(const MeasureTask& task, bool is_second);
  // Ends the worker; the spare one takes its place. Returns the wait status.
  absl::StatusOr<int> Replace();
  search::Request RequestFor(const BuildResult& kernel,
                             const MeasureOptions& options) const;
  // Has the worker do what is asked for, with the file `attached` unless that
  // is negative.
  absl::StatusOr<MeasureResult> Ask(const MeasureTask& task,
                                    const BuildResult& kernel,
                                    const search::Request& request,
                                    int attached, double deadline_s);
  absl::StatusOr<MeasureResult> AfterSilence(const absl::Status& silence,
                                             double deadline_s);

  LocalRunnerOptions options_;
  std::unique_ptr<ForkServer> server_;
  ForkServer::Worker worker_;
  ForkServer::Worker spare_;
  int64_t loaded_task_ = 0;  // The id of the worker's task, 0 for none.
  std::atomic<pid_t> worker_pid_{-1};
  int64_t replaced_ = 0;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_LOCAL_RUNNER_H_
