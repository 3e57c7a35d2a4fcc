#include "kiln/search/measure/builder.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/status/status.h"

namespace kiln {

std::vector<absl::StatusOr<BuildResult>> BuildAll(
    Builder& builder, absl::Span<const Function> functions, int num_threads) {
  std::vector<absl::StatusOr<BuildResult>> results(
      functions.size(), absl::UnknownError("not built"));
  // Compile times differ a lot, so each thread takes the next one.
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < functions.size(); i = next++) {
      results[i] = builder.Build(functions[i]);
    }
  };
  std::vector<std::thread> threads;
  const int extra =
      std::min<int64_t>(num_threads, static_cast<int64_t>(functions.size())) -
      1;
  for (int i = 0; i < extra; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace kiln
