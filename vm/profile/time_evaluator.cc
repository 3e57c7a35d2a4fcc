// A clock has a resolution and a cost, so a short call is timed in a loop. The
// loop doubles until it takes a quarter of what a sample should take, and is
// then extrapolated. A call of 0.3 us, for samples of 100 us:
//
//   loops of 1, 2, 4, .. 64, 128 calls; 128 take 38 us → 334 calls a sample
//
// Where caches are flushed or buffers brought back before each call, a sample
// is one call. Calls that cannot win are given up early: in the warm-up, if a
// call takes three times the limit, where a short one gets four attempts, since
// the first ones also pay for page faults and threads that wake up; later, as
// soon as the fastest sample is over the limit.
#include "kiln/vm/profile/time_evaluator.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWarmupAllowance = 3;
// Page faults, threads that wake up and the host take up to milliseconds of the
// first calls.
constexpr int kColdCalls = 4;
constexpr double kColdUs = 5000;
constexpr int64_t kMaxCallsPerSample = 1 << 20;
constexpr int64_t kCacheLine = 64;

double MicrosSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start)
      .count();
}

// The value at fraction `q` of sorted samples, interpolated.
double Quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

class Evaluator {
 public:
  Evaluator(const std::function<absl::Status()>& call,
            const TimeOptions& options)
      : call_(call), options_(options) {}

  absl::StatusOr<TimeResult> Run() {
    KILN_RETURN_IF_ERROR(WarmUp());
    while (!stopped_ && !Enough()) KILN_RETURN_IF_ERROR(TakeSample());
    return Result();
  }

 private:
  absl::Status WarmUp() {
    double last_us = 0;
    for (int i = 0; i < options_.warmup_calls; ++i) {
      KILN_ASSIGN_OR_RETURN(last_us, WarmCall());
      if (last_us <= Allowed()) continue;
      samples_.push_back(last_us);
      stopped_ = true;
      return absl::OkStatus();
    }
    const bool single = options_.restore || !options_.flush.empty();
    return single ? absl::OkStatus() : Calibrate(last_us);
  }

  double Allowed() const { return kWarmupAllowance * options_.hopeless_us; }

  // What a first call takes besides its work is not worth more calls where the
  // work takes long; a short one that seems hopeless gets some.
  absl::StatusOr<double> WarmCall() {
    double fastest_us = std::numeric_limits<double>::infinity();
    double spent_us = 0;
    for (int i = 0; i < kColdCalls; ++i) {
      KILN_ASSIGN_OR_RETURN(const double us, Time(1));
      fastest_us = std::min(fastest_us, us);
      spent_us += us;
      if (fastest_us <= Allowed() || spent_us > kColdUs) break;
    }
    return fastest_us;
  }

  // A single call of a small kernel is below what the clock resolves: the
  // length of the loop is doubled until it can be extrapolated.
  absl::Status Calibrate(double last_us) {
    while (last_us * static_cast<double>(loop_) < options_.sample_us) {
      const double total = last_us * static_cast<double>(loop_);
      if (total * 4 > options_.sample_us && last_us > 0) {
        loop_ = static_cast<int64_t>(std::ceil(options_.sample_us / last_us));
        break;
      }
      if (loop_ >= kMaxCallsPerSample) break;
      loop_ *= 2;
      KILN_ASSIGN_OR_RETURN(last_us, Time(loop_));
    }
    return absl::OkStatus();
  }

  absl::Status TakeSample() {
    KILN_ASSIGN_OR_RETURN(const double per_call_us, Time(loop_));
    samples_.push_back(per_call_us);
    spent_us_ += per_call_us * static_cast<double>(loop_);
    fastest_us_ = std::min(fastest_us_, per_call_us);
    stopped_ = fastest_us_ > options_.hopeless_us ||
               (options_.hopeless && options_.hopeless(Result()));
    return absl::OkStatus();
  }

  // Microseconds per call, over `n` calls.
  absl::StatusOr<double> Time(int64_t n) {
    if (options_.restore) options_.restore();
    FlushCaches(options_.flush);
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < n; ++i) KILN_RETURN_IF_ERROR(call_());
    calls_ += n;
    return MicrosSince(start) / static_cast<double>(n);
  }

  bool Enough() const {
    const int count = static_cast<int>(samples_.size());
    if (count < std::max(options_.min_samples, 1)) return false;
    return count >= options_.max_samples || spent_us_ >= options_.total_us;
  }

  TimeResult Result() const {
    TimeResult result = Summarize(samples_);
    result.calls_per_sample = loop_;
    result.calls = calls_;
    result.stopped_early = stopped_;
    return result;
  }

  const std::function<absl::Status()>& call_;
  const TimeOptions& options_;
  std::vector<double> samples_;
  int64_t loop_ = 1;
  int64_t calls_ = 0;
  double spent_us_ = 0;
  double fastest_us_ = std::numeric_limits<double>::infinity();
  bool stopped_ = false;
};

#if defined(__x86_64__)
// Lines leave the caches in any order, many under way at once: ten times as
// fast as one after the other.
bool FlushesInAnyOrder() {
  constexpr int kClflushopt = 23;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (b >> kClflushopt & 1) != 0;
}

__attribute__((target("clflushopt"))) void FlushInAnyOrder(
    absl::Span<const char> range) {
  for (size_t i = 0; i < range.size(); i += kCacheLine) {
    _mm_clflushopt(const_cast<char*>(range.data() + i));
  }
  _mm_clflushopt(const_cast<char*>(&range.back()));
}

void FlushInOrder(absl::Span<const char> range) {
  for (size_t i = 0; i < range.size(); i += kCacheLine) {
    _mm_clflush(range.data() + i);
  }
  _mm_clflush(&range.back());
}
#endif

}  // namespace

void FlushCaches(absl::Span<const absl::Span<const char>> ranges) {
#if defined(__x86_64__)
  static const bool any_order = FlushesInAnyOrder();
  for (absl::Span<const char> range : ranges) {
    if (range.empty()) continue;
    any_order ? FlushInAnyOrder(range) : FlushInOrder(range);
  }
  _mm_mfence();
#else
  static_cast<void>(ranges);
#endif
}

TimeResult Summarize(std::vector<double> samples_us) {
  KILN_CHECK(!samples_us.empty());
  std::sort(samples_us.begin(), samples_us.end());
  TimeResult result;
  result.min_us = samples_us.front();
  result.median_us = Quantile(samples_us, 0.5);
  if (result.median_us > 0) {
    result.spread = (Quantile(samples_us, 0.75) - Quantile(samples_us, 0.25)) /
                    result.median_us;
  }
  result.samples = static_cast<int>(samples_us.size());
  return result;
}

absl::StatusOr<TimeResult> MeasureTime(
    const std::function<absl::Status()>& call, const TimeOptions& options) {
  return Evaluator(call, options).Run();
}

}  // namespace kiln
