#include "kiln/vm/profile/time_evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

// A call that counts itself and, from call `fail_at` on, fails.
struct Counter {
  int64_t calls = 0;
  int64_t fail_at = INT64_MAX;
  std::function<absl::Status()> call = [this] {
    if (++calls >= fail_at) return absl::InternalError("worn out");
    return absl::OkStatus();
  };
};

TEST(TimeEvaluatorTest, SummarizesSamples) {
  const TimeResult result = Summarize({9, 1, 2, 3, 4});
  EXPECT_EQ(result.min_us, 1);
  EXPECT_EQ(result.median_us, 3);
  EXPECT_DOUBLE_EQ(result.spread, 2.0 / 3);
  EXPECT_EQ(result.samples, 5);
  EXPECT_EQ(Summarize({7}).median_us, 7);
  EXPECT_EQ(Summarize({7}).spread, 0);
  EXPECT_EQ(Summarize({1, 2}).median_us, 1.5);
}

TEST(TimeEvaluatorTest, LoopsOverTinyCallsAndCountsThem) {
  Counter counter;
  TimeOptions options;
  options.total_us = 500;
  options.max_samples = 5;
  KILN_ASSERT_OK_AND_ASSIGN(TimeResult result,
                            MeasureTime(counter.call, options));
  EXPECT_EQ(result.calls, counter.calls);
  EXPECT_GT(result.calls_per_sample, 50);
  EXPECT_GE(result.samples, 3);
  EXPECT_LE(result.samples, 5);
  EXPECT_LE(result.min_us, result.median_us);
  EXPECT_FALSE(result.stopped_early);
}

TEST(TimeEvaluatorTest, TakesTheAskedNumberOfSamples) {
  Counter counter;
  TimeOptions options;
  options.warmup_calls = 0;
  options.sample_us = 0;
  options.total_us = 1e12;
  options.max_samples = 17;
  KILN_ASSERT_OK_AND_ASSIGN(TimeResult result,
                            MeasureTime(counter.call, options));
  EXPECT_EQ(result.samples, 17);
  EXPECT_EQ(counter.calls, 17);
}

TEST(TimeEvaluatorTest, GivesUpDuringWarmupOnTheHopeless) {
  Counter counter;
  TimeOptions options;
  options.hopeless_us = -1;  // Everything is slower.
  KILN_ASSERT_OK_AND_ASSIGN(TimeResult result,
                            MeasureTime(counter.call, options));
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(counter.calls, 4);
  EXPECT_EQ(result.samples, 1);
}

// Sleeps for so long in the first of many calls, or in all.
TimeResult TimeSleeper(int milliseconds, bool always, int64_t* calls) {
  TimeOptions options;
  options.sample_us = 0;
  options.hopeless_us = 1000;
  *calls = 0;
  const auto call = [&] {
    if ((*calls)++ == 0 || always) {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    }
    return absl::OkStatus();
  };
  const absl::StatusOr<TimeResult> result = MeasureTime(call, options);
  KILN_EXPECT_OK(result.status());
  return *result;
}

TEST(TimeEvaluatorTest, ASlowFirstCallOfAFastOneIsNotHopeless) {
  int64_t calls;
  EXPECT_FALSE(TimeSleeper(4, /*always=*/false, &calls).stopped_early);
  EXPECT_GT(calls, 2);
}

TEST(TimeEvaluatorTest, ALongHopelessCallIsMadeOnce) {
  int64_t calls;
  EXPECT_TRUE(TimeSleeper(6, /*always=*/true, &calls).stopped_early);
  EXPECT_EQ(calls, 1);
}

TEST(TimeEvaluatorTest, AsksTheCallbackAfterEverySample) {
  Counter counter;
  TimeOptions options;
  options.sample_us = 0;
  options.hopeless = [](const TimeResult& sofar) { return sofar.samples == 2; };
  KILN_ASSERT_OK_AND_ASSIGN(TimeResult result,
                            MeasureTime(counter.call, options));
  EXPECT_TRUE(result.stopped_early);
  EXPECT_EQ(result.samples, 2);
}

TEST(TimeEvaluatorTest, ReturnsTheFirstErrorOfWarmupOrSample) {
  for (int64_t at : {1, 2, 3, 20}) {
    Counter counter;
    counter.fail_at = at;
    EXPECT_THAT(MeasureTime(counter.call),
                StatusIs(absl::StatusCode::kInternal, "worn out"));
    EXPECT_EQ(counter.calls, at);
  }
}

TEST(TimeEvaluatorTest, FlushedSamplesAreSingleCalls) {
  Counter counter;
  std::vector<char> memory(1000);
  TimeOptions options;
  options.flush = {absl::Span<const char>(memory), {}};
  options.max_samples = 4;
  KILN_ASSERT_OK_AND_ASSIGN(TimeResult result,
                            MeasureTime(counter.call, options));
  EXPECT_EQ(result.calls_per_sample, 1);
  EXPECT_EQ(result.samples, 4);
}

}  // namespace
}  // namespace kiln
