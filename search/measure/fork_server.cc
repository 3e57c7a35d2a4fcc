// The server is one loop with one thread: a command, an answer, each of one
// frame.
//
//   tuner:  {spawn} and a socket  →  server: fork; the child becomes the worker
//           {pid 4711, error 0}   ←
//   tuner:  {kill, 4711}          →  server: kill the group, wait
//           {status 9, error 0}   ←
//
// No process outlives the tuner: the end of the command stream ends the loop,
// which kills the workers; a worker asks the kernel to die with the server; and
// a process that left its worker's group comes to the server as an orphan,
// since the server is a subreaper, and is killed with the next worker that is.
#include "kiln/search/measure/fork_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

// Commands and answers, each one frame. A spawn carries the worker's socket.
struct Command {
  enum Kind : int32_t { kSpawn, kKill } kind;
  pid_t pid;
};
struct Answer {
  int32_t value;  // A pid or a wait status.
  int32_t error;  // An errno, 0 for none.
};

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

absl::Status Errno(const char* what) {
  return absl::ResourceExhaustedError(
      absl::StrCat(what, ": ", std::strerror(errno)));
}

void ResetSignals() {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Keeps `fd` and stderr; what else the tuner has open is not the server's.
int KeepOnly(int fd) {
  constexpr int kKept = 3;
  if (fd != kKept) dup2(fd, kKept);
  fcntl(kKept, F_SETFD, FD_CLOEXEC);
  syscall(SYS_close_range, kKept + 1, ~0u, 0);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  if (null > kKept) close(null);
  return kKept;
}

[[noreturn]] void BecomeWorker(int control, OwnedFd fd, pid_t server,
                               ForkServer::WorkerMain main) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(1);
  close(control);
  prctl(PR_SET_NAME, "kiln-worker");
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  main(fd.get());
  _exit(0);
}

Answer SpawnWorker(int control, OwnedFd fd, ForkServer::WorkerMain main,
                   std::set<pid_t>& workers) {
  const pid_t server = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeWorker(control, std::move(fd), server, main);
  if (pid < 0) return {-1, errno};
  setpgid(pid, pid);
  workers.insert(pid);
  return {pid, 0};
}

// Processes that left their worker's group become children of the server when
// their parent dies; here they die too.
void KillStrangers(const std::set<pid_t>& workers) {
  bool found = true;
  while (found) {
    found = false;
    std::FILE* file = std::fopen("/proc/thread-self/children", "r");
    if (file == nullptr) return;
    int pid = 0;
    while (std::fscanf(file, "%d", &pid) == 1) {
      if (workers.count(pid) != 0) continue;
      kill(pid, SIGKILL);
      found = waitpid(pid, nullptr, 0) == pid || found;
    }
    std::fclose(file);
  }
}

Answer KillWorker(pid_t pid, std::set<pid_t>& workers) {
  if (workers.erase(pid) == 0) return {-1, ESRCH};
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return {-1, errno};
  }
  KillStrangers(workers);
  return {status, 0};
}

[[noreturn]] void Serve(int control, ForkServer::WorkerMain main) {
  setpgid(0, 0);
  ResetSignals();
  control = KeepOnly(control);
  prctl(PR_SET_NAME, "kiln-measure");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::set<pid_t> workers;
  while (true) {
    absl::StatusOr<Frame> frame = ReceiveFrame(control);
    if (!frame.ok() || frame->payload.size() != sizeof(Command)) break;
    Command command;
    std::memcpy(&command, frame->payload.data(), sizeof command);
    const Answer answer =
        command.kind == Command::kSpawn
            ? SpawnWorker(control, std::move(frame->fd), main, workers)
            : KillWorker(command.pid, workers);
    if (!SendFrame(control, BytesOf(answer)).ok()) break;
  }
  for (pid_t pid : std::set<pid_t>(workers)) KillWorker(pid, workers);
  _exit(0);
}

absl::StatusOr<Answer> Ask(int fd, const Command& command, int attached) {
  absl::Status sent = SendFrame(fd, BytesOf(command), attached);
  absl::StatusOr<Frame> frame = sent.ok() ? ReceiveFrame(fd) : sent;
  if (!frame.ok() || frame->payload.size() != sizeof(Answer)) {
    return absl::UnavailableError("the process that forks workers is gone");
  }
  Answer answer;
  std::memcpy(&answer, frame->payload.data(), sizeof answer);
  return answer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ForkServer>> ForkServer::Start(WorkerMain main) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Errno("socketpair");
  }
  OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return Errno("fork");
  if (pid == 0) Serve(theirs.get(), main);
  return std::unique_ptr<ForkServer>(new ForkServer(pid, std::move(ours)));
}

ForkServer::~ForkServer() {
  fd_.Reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

absl::StatusOr<ForkServer::Worker> ForkServer::Spawn() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Errno("socketpair");
  }
  Worker worker;
  worker.fd.Reset(ends[0]);
  const OwnedFd theirs(ends[1]);
  KILN_ASSIGN_OR_RETURN(const Answer answer,
                        Ask(fd_.get(), {Command::kSpawn, 0}, theirs.get()));
  if (answer.error != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("fork: ", std::strerror(answer.error)));
  }
  worker.pid = answer.value;
  return worker;
}

absl::StatusOr<int> ForkServer::Kill(pid_t pid) {
  KILN_ASSIGN_OR_RETURN(const Answer answer,
                        Ask(fd_.get(), {Command::kKill, pid}, -1));
  if (answer.error != 0) {
    return absl::NotFoundError(absl::StrCat("no worker has the pid ", pid));
  }
  return answer.value;
}

}  // namespace kiln
