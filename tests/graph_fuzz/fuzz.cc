#include "kiln/tests/graph_fuzz/fuzz.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/tests/graph_fuzz/program.h"
#include "kiln/tests/graph_fuzz/shrink.h"

namespace kiln {
namespace {

// "" where the program passes all checks.
std::string ReportOf(uint64_t seed, const GraphFuzzOptions& options,
                     KernelCache& kernels) {
  const std::string text = RandomGraphProgram(seed);
  if (options.print) {
    std::printf("# seed %llu\n%s\n", static_cast<unsigned long long>(seed),
                text.c_str());
    std::fflush(stdout);
  }
  const auto check = [&](const std::string& program) {
    return CheckGraphProgram(program, seed, options.check, kernels);
  };
  if (check(text).ok()) return "";
  const std::string small = ShrinkGraphProgram(text, check);
  return absl::StrCat("seed ", seed, ": ", std::string(check(small).message()),
                      "\nof\n", small);
}

class Fuzzer {
 public:
  Fuzzer(const GraphFuzzOptions& options,
         FunctionRef<void(const std::string&)> tell)
      : options_(options), tell_(tell) {}

  int64_t Run() {
    std::vector<std::thread> threads;
    for (int t = 0; t < options_.threads; ++t) {
      threads.emplace_back([this] { Work(); });
    }
    for (std::thread& thread : threads) thread.join();
    return failures_;
  }

 private:
  void Work() {
    KernelCache kernels;
    while (failures_ < options_.max_failures) {
      const int64_t i = next_++;
      if (i >= options_.programs) return;
      const std::string report =
          ReportOf(options_.seed + static_cast<uint64_t>(i), options_, kernels);
      if (report.empty()) continue;
      const std::lock_guard<std::mutex> lock(telling_);
      ++failures_;
      tell_(report);
    }
  }

  const GraphFuzzOptions& options_;
  FunctionRef<void(const std::string&)> tell_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<int64_t> failures_ = 0;
  std::mutex telling_;
};

}  // namespace

int64_t FuzzGraphs(const GraphFuzzOptions& options,
                   FunctionRef<void(const std::string&)> tell) {
  return Fuzzer(options, tell).Run();
}

}  // namespace kiln
