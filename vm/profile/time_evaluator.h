// How long a call takes.
//
// A sample is a loop of calls long enough for the clock; a measurement is a
// number of samples after a warm-up. The minimum is the time of the machine
// undisturbed, the median what to expect, the spread how far to trust either.
#ifndef KILN_VM_PROFILE_TIME_EVALUATOR_H_
#define KILN_VM_PROFILE_TIME_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace kiln {

struct TimeResult {
  double min_us = 0;     // Microseconds per call, of the fastest sample.
  double median_us = 0;  // Of the samples.
  double spread = 0;     // Interquartile range of the samples / median.
  int samples = 0;
  int64_t calls_per_sample = 0;
  int64_t calls = 0;  // In all, warm-up included.
  // The call was given up as hopeless before the samples were complete.
  bool stopped_early = false;
};

struct TimeOptions {
  // Untimed calls first; the last of them sets the length of a sample.
  int warmup_calls = 2;
  // A sample repeats the call until it takes about this long.
  double sample_us = 100;
  // Samples are taken until they took this long together, within these counts.
  double total_us = 10000;
  int min_samples = 3;
  int max_samples = 200;
  // Stops as hopeless once the fastest sample is over this, or a warm-up call
  // is over three times this (of a short one, each of the first four).
  double hopeless_us = std::numeric_limits<double>::infinity();
  // Asked after every sample with what is known so far; true stops as hopeless.
  std::function<bool(const TimeResult&)> hopeless;
  // Memory to be evicted from all caches before every sample. Samples are
  // single calls then.
  std::vector<absl::Span<const char>> flush;
  // Called before every call, warm-up included, and not timed: brings back what
  // a call changes. Samples are single calls then.
  std::function<void()> restore;
};

// Times `call`. Its first error ends the measurement and is returned. A call
// given up during warm-up is reported by that one call as the only sample.
absl::StatusOr<TimeResult> MeasureTime(
    const std::function<absl::Status()>& call, const TimeOptions& options = {});

// Evicts memory from all caches, where the processor has an instruction for it.
void FlushCaches(absl::Span<const absl::Span<const char>> ranges);

// Minimum, median and spread of times per call in microseconds (at least one).
TimeResult Summarize(std::vector<double> samples_us);

}  // namespace kiln

#endif  // KILN_VM_PROFILE_TIME_EVALUATOR_H_
