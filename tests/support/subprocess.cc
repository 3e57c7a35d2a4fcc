// Standard output is a pipe, since tests read it while the program runs; input
// and error output are files in memory, which never fill up and block nobody,
// as two pipes that are read one after the other may. So
//
//   RunProcess({"tools/opt", "--module", "-"}, {.stdin_text = program})
//
// cannot hang on a large program. Every wait has an end of its own. The test is
// a subreaper: orphans of the program become its children, where
// AllDescendantsEnd finds them.
#include "kiln/tests/support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "kiln/base/check.h"

namespace kiln::testing {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A file without a name that holds `text`, to be read from its start.
int FileWith(const std::string& text) {
  const int fd = memfd_create("kiln_test", 0);
  KILN_CHECK(fd >= 0) << "memfd_create";
  KILN_CHECK(write(fd, text.data(), text.size()) ==
             static_cast<ssize_t>(text.size()))
      << "cannot write the input";
  lseek(fd, 0, SEEK_SET);
  return fd;
}

std::string AllOf(int fd) {
  std::string text(lseek(fd, 0, SEEK_END), '\0');
  const ssize_t count = pread(fd, text.data(), text.size(), 0);
  text.resize(count > 0 ? count : 0);
  return text;
}

// Absolute, since the program may run in another folder.
std::string ProgramPath(const std::string& path) {
  return std::filesystem::absolute(path).string();
}

[[noreturn]] void Execute(const std::string& program,
                          const std::vector<std::string>& argv,
                          const ProcessOptions& options, int in, int out,
                          int err) {
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  if (options.close_stdin) close(0);
  std::vector<char*> args;
  const std::string script = options.setup + "\nexec \"$@\"";
  if (!options.setup.empty()) {
    for (const char* arg : {"/bin/sh", "-c", script.c_str(), "sh"}) {
      args.push_back(const_cast<char*>(arg));
    }
  }
  const size_t first = args.size();
  for (const std::string& arg : argv) {
    args.push_back(const_cast<char*>(arg.c_str()));
  }
  if (first > 0) args[first] = const_cast<char*>(program.c_str());
  args.push_back(nullptr);
  unsetenv("BUILD_WORKING_DIRECTORY");
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) _exit(126);
  execv(first > 0 ? args[0] : program.c_str(), args.data());
  _exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& argv,
                 const ProcessOptions& options) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::string program = ProgramPath(argv[0]);
  int ends[2];
  KILN_CHECK(pipe2(ends, O_CLOEXEC) == 0) << "pipe";
  const int in = FileWith(options.stdin_text);
  err_ = FileWith("");
  fcntl(err_, F_SETFD, FD_CLOEXEC);
  pid_ = fork();
  KILN_CHECK(pid_ >= 0) << "fork";
  if (pid_ == 0) Execute(program, argv, options, in, ends[1], err_);
  close(in);
  close(ends[1]);
  out_ = ends[0];
}

Process::~Process() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

bool Process::ReadMore(double seconds) {
  pollfd ready = {out_, POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(seconds * 1000)) <= 0) return false;
  char bytes[4096];
  const ssize_t count = read(out_, bytes, sizeof bytes);
  if (count <= 0) return false;
  buffer_.append(bytes, count);
  return true;
}

std::optional<std::string> Process::ReadLine(double seconds) {
  const Clock::time_point start = Clock::now();
  size_t end;
  while ((end = buffer_.find('\n')) == buffer_.npos) {
    const double left = seconds - Since(start);
    if (left <= 0 || !ReadMore(left)) return std::nullopt;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

void Process::Signal(int signal) { kill(pid_, signal); }

ProcessResult Process::Wait(double seconds) {
  const Clock::time_point start = Clock::now();
  ProcessResult result;
  while (Since(start) < seconds && ReadMore(seconds - Since(start))) {
  }
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (Since(start) > seconds && !result.timed_out) {
      result.timed_out = true;
      kill(pid_, SIGKILL);
    }
    usleep(1000);
  }
  pid_ = -1;
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  result.out = std::move(buffer_);
  result.err = AllOf(err_);
  return result;
}

ProcessResult RunProcess(const std::vector<std::string>& argv,
                         const ProcessOptions& options) {
  Process process(argv, options);
  return process.Wait(120);
}

bool AllDescendantsEnd(double seconds) {
  const Clock::time_point start = Clock::now();
  while (Since(start) < seconds) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended < 0) return true;
    if (ended == 0) usleep(1000);
  }
  return false;
}

std::set<std::string> ListFolder(const std::string& path) {
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    names.insert(entry.path().filename());
  }
  return names;
}

}  // namespace kiln::testing
