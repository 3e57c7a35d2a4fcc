// Running Kiln's programs as a user does, and looking at all that they leave.
#ifndef KILN_TESTS_SUPPORT_SUBPROCESS_H_
#define KILN_TESTS_SUPPORT_SUBPROCESS_H_

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kiln::testing {

// How a program is started.
struct ProcessOptions {
  std::string folder;      // where it runs; empty: here
  std::string stdin_text;  // what it reads
  bool close_stdin = false;
  // Commands of a shell before it starts, such as "ulimit -n 16".
  std::string setup;
};

// How a program ended. `signal` is 0 unless one ended it.
struct ProcessResult {
  int status = -1;
  int signal = 0;
  bool timed_out = false;  // it was killed at the end of its time
  std::string out, err;
};

// A program at work, its standard output a pipe, its standard error a file.
// The destructor kills it. Orphans of the program become children of the test,
// so that none can hide.
class Process {
 public:
  // argv[0] is a path below the runfiles, such as "tools/tune".
  explicit Process(const std::vector<std::string>& argv,
                   const ProcessOptions& options = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The next line of output without its end; nullopt at the end of the output
  // or after `seconds`.
  std::optional<std::string> ReadLine(double seconds);
  void Signal(int signal);
  pid_t pid() const { return pid_; }
  // Reads the rest of the output. Kills the program after `seconds`.
  ProcessResult Wait(double seconds);

 private:
  bool ReadMore(double seconds);

  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
  std::string buffer_;
};

// Runs a program to its end, for at most two minutes.
ProcessResult RunProcess(const std::vector<std::string>& argv,
                         const ProcessOptions& options = {});

// True where no descendant is left within `seconds`.
bool AllDescendantsEnd(double seconds);

// The names in a folder; empty where there is none.
std::set<std::string> ListFolder(const std::string& path);

}  // namespace kiln::testing

#endif  // KILN_TESTS_SUPPORT_SUBPROCESS_H_
