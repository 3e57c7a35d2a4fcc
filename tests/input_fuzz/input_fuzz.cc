// Damaged texts, messages and executables: each gets a message or is accepted,
// and nothing crashes, hangs or takes more memory than it may.
//
//   input_fuzz --inputs 1000000 --seed 1
//   input_fuzz --inputs 1 --seed 4711 --kind executable     # one again
//
// The address space is bounded by 8 GiB, an input by 20 seconds; the seed is
// printed where one ends the process.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "kiln/tests/fuzz/sandbox.h"
#include "kiln/tests/input_fuzz/try_input.h"

namespace {

constexpr rlim_t kMostMemory = rlim_t{8} << 30;
constexpr unsigned kMostSeconds = 20;
constexpr int kModules = 150;

struct Options {
  uint64_t seed = 1;
  int64_t inputs = 10000;
  std::string kind;  // "": all
};

struct Kind {
  const char* name;
  bool (kiln::InputFuzzer::*run)(uint64_t) const;
};

constexpr Kind kKinds[] = {
    {"text", &kiln::InputFuzzer::TryText},
    {"message", &kiln::InputFuzzer::TryMessage},
    {"executable", &kiln::InputFuzzer::TryExecutable},
    {"model", &kiln::InputFuzzer::TryModel},
};

bool IsKind(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return true;
  }
  return false;
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string flag = argv[i], text = argv[i + 1];
    if (flag == "--kind") {
      options.kind = text;
      if (IsKind(text)) continue;
      return false;
    }
    char* end = nullptr;
    const long long value = std::strtoll(argv[i + 1], &end, 10);
    if (*end || text.empty() || value < 0) return false;
    if (flag == "--seed") {
      options.seed = static_cast<uint64_t>(value);
    } else if (flag == "--inputs") {
      options.inputs = value;
    } else {
      return false;
    }
  }
  return true;
}

// Each kind gets a fourth of the inputs, or all of them.
void Run(const Options& options) {
  const kiln::InputFuzzer fuzzer(kModules);
  for (const Kind& kind : kKinds) {
    const bool is_all = options.kind.empty();
    if (!is_all && options.kind != kind.name) continue;
    const int64_t count = is_all ? (options.inputs + 3) / 4 : options.inputs;
    int64_t accepted = 0;
    std::printf("%s: ", kind.name);
    std::fflush(stdout);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t seed = options.seed + static_cast<uint64_t>(i);
      kiln::SetCurrentTask(seed);
      if ((fuzzer.*kind.run)(seed)) ++accepted;
    }
    std::printf("%lld inputs from seed %llu, %lld accepted\n",
                static_cast<long long>(count),
                static_cast<unsigned long long>(options.seed),
                static_cast<long long>(accepted));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "input_fuzz [--inputs N] [--seed S] [--kind "
                 "text|message|executable|model]\n");
    return 2;
  }
  const rlimit limit = {kMostMemory, kMostMemory};
  setrlimit(RLIMIT_AS, &limit);
  kiln::InstallCrashReport(kMostSeconds);
  Run(options);
}
