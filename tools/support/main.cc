// Every tool is RunTool(argc, argv, usage, body): the body returns an exit
// status or an error, and this file makes of both what a shell sees.
//
//   opt: --modul is no flag of this tool; did you mean --module?; ..
//   (exit status 1)
//
// Before the body runs, closed standard files are opened, so that the first
// file of the tool is not taken for its output, and a small stack is exchanged
// for a usual one. After it, output that could not be written is an error as
// well, and an interrupt decides the exit status, whatever the body says.
#include "kiln/tools/support/main.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/interrupt.h"
#include "kiln/base/version.h"
#include "kiln/tools/support/flags.h"
#include "llvm/Config/llvm-config.h"

namespace kiln {
namespace {

// The part of `arg` after "--name" or "-name"; null when it is another flag.
const char* AfterFlagName(const char* arg, std::string_view name) {
  std::string_view rest = arg;
  if (rest.empty() || rest[0] != '-') return nullptr;
  const size_t dashes = rest.substr(0, 2) == "--" ? 2 : 1;
  if (rest.substr(dashes, name.size()) != name) return nullptr;
  const char* after = arg + dashes + name.size();
  return *after == '\0' || *after == '=' ? after : nullptr;
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

// Messages quote what they are about: a byte 0 or an escape in it neither ends
// the message nor reaches the terminal.
std::string Printable(std::string_view message) {
  std::string text(message);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < ' ' && c != '\n' && c != '\t') || byte == 0x7f) c = '?';
  }
  return text;
}

// Files that the tool opens must not become its output where a caller closed
// that, and a limit on the size of files is an error of the write.
void PrepareProcess() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`. What was closed cannot be read either.
    (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDWR);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

// Bytes of stack that the compiler and kernels may count on: Linux's usual
// limit.
constexpr rlim_t kStackBytes = 8 << 20;

// What a small stack is exchanged for.
struct Body {
  absl::StatusOr<int> (*run)();
  absl::StatusOr<int> result;
};

// Runs the body where it has a usual stack, on a thread of its own where
// `ulimit -s` leaves less, and threads that it starts alike. A process that is
// forked there goes on on that stack.
absl::StatusOr<int> RunWithStack(absl::StatusOr<int> (*body)()) {
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kStackBytes) {
    return body();
  }
  Body call = {body, absl::UnknownError("it did not run")};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_setattr_default_np(&attributes);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        Body* const call = static_cast<Body*>(argument);
        call->result = call->run();
        return nullptr;
      },
      &call);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the limit of the stack is ", limit.rlim_cur >> 10,
                     " KiB, and there is no memory for another one (",
                     std::strerror(error), "); raise it: ulimit -s 8192"));
  }
  pthread_join(thread, nullptr);
  return call.result;
}

int Fail(const char* program, std::string_view message) {
  std::fprintf(stderr, "%s: %s\n", BaseName(program).c_str(),
               Printable(message).c_str());
  return kExitError;
}

}  // namespace

std::vector<std::string> TakeRepeatedFlag(int* argc, char** argv,
                                          std::string_view name) {
  std::vector<std::string> values;
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const char* after = AfterFlagName(argv[i], name);
    if (!after) {
      argv[kept++] = argv[i];
    } else if (*after == '=') {
      values.push_back(after + 1);
    } else if (i + 1 < *argc) {
      values.push_back(argv[++i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
  return values;
}

void FinishOnInterrupt(std::string_view tool, std::string_view what) {
  // A terminal shows progress, or ^C, on the line.
  const std::string_view line_end = isatty(STDERR_FILENO) ? "\n" : "";
  InstallInterruptHandler(absl::StrCat(
      std::string(line_end), std::string(tool), ": interrupted, ",
      std::string(what), "; a second interrupt ends it at once\n"));
}

int RunTool(int argc, char** argv, const std::string& usage,
            absl::StatusOr<int> (*body)(),
            std::vector<std::string>* positional) {
  PrepareProcess();
  const absl::StatusOr<CommandLineRequest> request =
      ParseFlags(argc, argv, positional);
  if (!request.ok()) {
    return Fail(argv[0], std::string(request.status().message()));
  }
  switch (*request) {
    case CommandLineRequest::kHelp:
      std::printf("%s", HelpText(usage).c_str());
      return kExitOk;
    case CommandLineRequest::kVersion:
      std::printf("%s of Kiln %s, LLVM %s\n", BaseName(argv[0]).c_str(),
                  kVersion, LLVM_VERSION_STRING);
      return kExitOk;
    case CommandLineRequest::kRun:
      break;
  }
  absl::StatusOr<int> result = RunWithStack(body);
  int status = result.ok()
                   ? *result
                   : Fail(argv[0], std::string(result.status().message()));
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    status = Fail(argv[0], absl::StrCat("the output cannot be written: ",
                                        std::strerror(errno)));
  }
  return InterruptSignal() == 0 ? status : kExitSignal + InterruptSignal();
}

}  // namespace kiln
