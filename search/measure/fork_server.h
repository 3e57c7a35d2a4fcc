// ForkServer: a small process that forks workers.
//
// A tuner has many threads and much memory; forking it in the middle of a
// search is slow and, with locks held by other threads, unsafe. The server is
// forked early, has one thread and touches little, so a fresh worker costs
// well under a millisecond. Each worker leads a process group of its own.
// When the tuner goes away, in whatever way, the server kills all workers and
// ends; when the server goes away, the kernel kills the workers.
#ifndef KILN_SEARCH_MEASURE_FORK_SERVER_H_
#define KILN_SEARCH_MEASURE_FORK_SERVER_H_

#include <sys/types.h>

#include <memory>

#include "absl/status/statusor.h"
#include "kiln/search/measure/channel.h"

namespace kiln {

class ForkServer {
 public:
  // What a worker does with its end of a socket; it exits after that.
  using WorkerMain = void (*)(int fd);

  // Forks the server from this process. Best called before threads that hold
  // locks for long are started.
  static absl::StatusOr<std::unique_ptr<ForkServer>> Start(WorkerMain main);
  // Kills all workers and waits for them and for the server.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  struct Worker {
    pid_t pid = -1;
    OwnedFd fd;  // The other end of its socket.
  };
  // Forks a worker. kUnavailable where the server is gone.
  absl::StatusOr<Worker> Spawn();

  // Kills the worker's process group and waits for its leader. Returns the
  // leader's status as wait() gives it, which tells of an earlier end where
  // there was one. kUnavailable where the server is gone.
  absl::StatusOr<int> Kill(pid_t pid);

  pid_t pid() const { return pid_; }

 private:
  ForkServer(pid_t pid, OwnedFd fd) : pid_(pid), fd_(std::move(fd)) {}

  pid_t pid_;
  OwnedFd fd_;
};

}  // namespace kiln

#endif  // KILN_SEARCH_MEASURE_FORK_SERVER_H_
