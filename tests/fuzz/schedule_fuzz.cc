// Random programs under random schedules, through LLVM, against the
// interpreter.
//
//   schedule_fuzz --pairs 100000 --seed 1 --threads 2
//   schedule_fuzz --pairs 1 --seed 4711                  # one pair again
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kiln/tests/fuzz/fuzz.h"

namespace {

int Usage(const char* problem) {
  std::fprintf(stderr,
               "%s\nschedule_fuzz [--pairs N] [--seed S] [--threads T] "
               "[--max_failures N]\n",
               problem);
  return 2;
}

bool Parse(int argc, char** argv, kiln::FuzzOptions* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 == argc) return false;
    char* end = nullptr;
    const long long value = std::strtoll(argv[++i], &end, 10);
    if (*end || value < 0) return false;
    if (flag == "--pairs") {
      options->pairs = value;
    } else if (flag == "--seed") {
      options->seed = value;
    } else if (flag == "--threads") {
      options->threads = static_cast<int>(value);
    } else if (flag == "--max_failures") {
      options->max_failures = static_cast<int>(value);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  kiln::FuzzOptions options;
  if (!Parse(argc, argv, &options)) return Usage("Flags take numbers.");
  const auto start = std::chrono::steady_clock::now();
  const kiln::FuzzResult result =
      kiln::Fuzz(options, [](const std::string& failure) {
        std::printf("%s\n", failure.c_str());
        std::fflush(stdout);
      });
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  std::printf("%sseeds from %llu on; %zu failures; %.1f s\n",
              ToTable(result.counts).c_str(),
              static_cast<unsigned long long>(options.seed),
              result.failures.size(), took.count());
  return result.failures.empty() ? 0 : 1;
}
