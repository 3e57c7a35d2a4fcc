// Random modules of graph functions through text, message, passes and the
// virtual machine, against the interpreter.
//
//   graph_fuzz --programs 100000 --seed 1 --threads 2
//   graph_fuzz --programs 1 --seed 4711 --print 1        # one program again
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kiln/tests/graph_fuzz/fuzz.h"

namespace {

int Usage() {
  std::fprintf(stderr,
               "graph_fuzz [--programs N] [--seed S] [--threads T] "
               "[--max_failures N] [--passes N] [--sequence N] [--machine 0] "
               "[--print 1]\n");
  return 2;
}

bool Parse(int argc, char** argv, kiln::GraphFuzzOptions& options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const std::string flag = argv[i];
    char* end = nullptr;
    const long long value = std::strtoll(argv[i + 1], &end, 10);
    if (*end || end == argv[i + 1] || value < 0) return false;
    if (flag == "--programs") {
      options.programs = value;
    } else if (flag == "--seed") {
      options.seed = static_cast<uint64_t>(value);
    } else if (flag == "--threads" && value >= 1 && value <= 256) {
      options.threads = static_cast<int>(value);
    } else if (flag == "--max_failures") {
      options.max_failures = static_cast<int>(value);
    } else if (flag == "--passes") {
      options.check.passes = static_cast<int>(value);
    } else if (flag == "--sequence") {
      options.check.sequence = static_cast<int>(value);
    } else if (flag == "--machine") {
      options.check.machine = value != 0;
    } else if (flag == "--print") {
      options.print = value != 0;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  kiln::GraphFuzzOptions options;
  if (!Parse(argc, argv, options)) return Usage();
  const int64_t failures =
      kiln::FuzzGraphs(options, [](const std::string& report) {
        std::printf("%s\n\n", report.c_str());
        std::fflush(stdout);
      });
  std::printf("%lld programs from seed %llu, %lld failures\n",
              static_cast<long long>(options.programs),
              static_cast<unsigned long long>(options.seed),
              static_cast<long long>(failures));
  return failures == 0 ? 0 : 1;
}
