#include "kiln/tests/fuzz/fuzz.h"

#include <atomic>
#include <mutex>
#include <thread>

#include "kiln/tests/fuzz/sandbox.h"

namespace kiln {

FuzzResult Fuzz(const FuzzOptions& options,
                FunctionRef<void(const std::string&)> tell) {
  InstallCrashReport(/*alarm_seconds=*/120);
  FuzzResult result;
  std::mutex mutex;
  std::atomic<int64_t> next{0};
  std::atomic<int> failed{0};
  const auto work = [&] {
    FuzzCounts counts;
    for (int64_t i; (i = next++) < options.pairs;) {
      const absl::Status status =
          CheckPair(options.seed + i, options.pair, &counts);
      if (status.ok()) continue;
      std::lock_guard<std::mutex> lock(mutex);
      result.failures.emplace_back(status.message());
      tell(result.failures.back());
      if (++failed >= options.max_failures) next = options.pairs;
    }
    std::lock_guard<std::mutex> lock(mutex);
    Merge(counts, &result.counts);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace kiln
