// Random programs under random schedules, through LLVM, against the
// interpreter.
//
//   schedule_fuzz --pairs 100000 --seed 1 --threads 2
//   schedule_fuzz --pairs 1 --seed 4711                  # one pair again
//   schedule_fuzz --pairs 500 --module program.py        # of one program
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/tests/fuzz/fuzz.h"

namespace {

int Usage(const char* problem) {
  std::fprintf(stderr,
               "%s\nschedule_fuzz [--pairs N] [--seed S] [--threads T] "
               "[--max_failures N] [--module FILE] [--print 1]\n",
               problem);
  return 2;
}

// The only function of the file; null, with the reason told, where there is
// none.
std::shared_ptr<const kiln::Function> ReadFunction(const char* path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  absl::StatusOr<kiln::Function> f = kiln::ParseFunction(path, text);
  const absl::Status status = f.ok() ? kiln::VerifyFunction(*f) : f.status();
  if (status.ok()) {
    return std::make_shared<const kiln::Function>(*std::move(f));
  }
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return nullptr;
}

bool Parse(int argc, char** argv, kiln::FuzzOptions* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (i + 1 == argc) return false;
    if (flag == "--module") {
      options->pair.given = ReadFunction(argv[++i]);
      if (!options->pair.given) return false;
      continue;
    }
    char* end = nullptr;
    const long long value = std::strtoll(argv[++i], &end, 10);
    if (*end || value < 0) return false;
    if (flag == "--pairs") {
      options->pairs = value;
    } else if (flag == "--seed") {
      options->seed = value;
    } else if (flag == "--threads") {
      options->threads = static_cast<int>(value);
    } else if (flag == "--print") {
      options->pair.print = value != 0;
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
  if (!Parse(argc, argv, &options))
    return Usage("Flags take numbers, --module a file.");
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
