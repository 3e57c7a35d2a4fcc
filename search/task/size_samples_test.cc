#include "kiln/search/task/size_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/verify/verify.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kSmall = 2, kLarge = 200;

Machine TwoCores() {
  return {.cores = 2, .vectors = kAvx512Registers, .all_gflops = 100};
}

// The exponentials of n rows of 512 numbers.
constexpr char kSerial[] = R"(
@T.prim_func
def main(x: T.handle, y: T.handle):
    n = T.int64()
    X = T.match_buffer(x, (n, 512), "float32")
    Y = T.match_buffer(y, (n, 512), "float32")
    for i in range(n):
        for j in T.vectorized(512):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.exp(X[vi, vj])
)";

const Module& Program() {
  static const Module* const module = new Module(ParseProgram(kSerial));
  return *module;
}

Function Serial() { return Program().functions[0]; }

// Whole blocks of 512 rows, most of which are not there where n is small.
Function Blocked() {
  Schedule sch(Program());
  const std::vector<Rv> loops = *sch.GetLoops(*sch.GetBlock("Y", "main"));
  KILN_EXPECT_OK(sch.Split(loops[0], {Arg(), 512}).status());
  return *sch.state().functions[0];
}

// Threads wake up for two rows, too.
Function Threaded() {
  Schedule sch(Program());
  const std::vector<Rv> loops = *sch.GetLoops(*sch.GetBlock("Y", "main"));
  KILN_EXPECT_OK(sch.Parallel(loops[0]));
  return *sch.state().functions[0];
}

double SecondsAt(const Function& f, int64_t size) {
  const Machine machine = TwoCores();
  SizeSamples samples(machine, kThreads);
  samples.AddSize(size, 1);
  samples.AddSchedule({f, "f"});
  return samples.Best()->seconds;
}

bool IsDispatched(const Function& f) {
  return f.root().body.As<IfNode>() != nullptr;
}

SizeSamples Samples(const Machine& machine) {
  SizeSamples samples(machine, kThreads);
  for (const int64_t size : {1, 2, 3}) {
    samples.AddSize(size, SecondsAt(Serial(), size));
  }
  samples.AddSize(kLarge, SecondsAt(Threaded(), kLarge));
  return samples;
}

TEST(SizeSamplesTest, NothingComesOfNothing) {
  const Machine machine = TwoCores();
  EXPECT_FALSE(Samples(machine).Best().has_value());
}

TEST(SizeSamplesTest, SmallAndLargeSizesTakeBranches) {
  ASSERT_LT(SecondsAt(Serial(), kSmall), SecondsAt(Threaded(), kSmall));
  ASSERT_GT(SecondsAt(Serial(), kLarge), SecondsAt(Threaded(), kLarge));
  const Machine machine = TwoCores();
  SizeSamples samples = Samples(machine);
  samples.AddSchedule({Blocked(), "blocked"});
  samples.AddSchedule({Threaded(), "threaded"});
  samples.AddSchedule({Serial(), "serial"});
  const auto best = samples.Best();
  ASSERT_TRUE(best.has_value());
  EXPECT_TRUE(IsDispatched(best->scheduled));
  EXPECT_EQ(best->trace, "threaded");
  KILN_EXPECT_OK(VerifyFunction(best->scheduled));
  // The bound is the geometric mean of 3 and 200, 24.
  for (const int64_t size : {1, 24, 25}) {
    KILN_EXPECT_OK(CheckCloseResults(AtSize(Serial(), size),
                                     AtSize(best->scheduled, size), size));
  }
}

// Sizes whose best time is not known move the bound: where it was between 1 and
// 200, small sizes would end at 14.
TEST(SizeSamplesTest, SizesInBetweenAreJudgedByWhatIsThere) {
  const Machine machine = TwoCores();
  SizeSamples samples(machine, kThreads);
  samples.AddSize(1, SecondsAt(Serial(), 1));
  for (const int64_t size : {2, 150, 180}) samples.AddSize(size, std::nullopt);
  samples.AddSize(kLarge, SecondsAt(Threaded(), kLarge));
  samples.AddSchedule({Threaded(), "threaded"});
  samples.AddSchedule({Serial(), "serial"});
  ASSERT_GT(SecondsAt(Serial(), 150), SecondsAt(Threaded(), 150));
  const auto best = samples.Best();
  ASSERT_TRUE(best.has_value());
  ASSERT_TRUE(IsDispatched(best->scheduled));
  EXPECT_THAT(PrintFunction(best->scheduled), testing::HasSubstr("if n <= 17:"))
      << "the geometric mean of 2 and 150 is 17";
}

TEST(SizeSamplesTest, OneIsEnoughWhereTheOtherIsHardlyFaster) {
  const Machine machine = TwoCores();
  SizeSamples samples = Samples(machine);
  samples.AddSchedule({Blocked(), "blocked"});
  samples.AddSchedule({Serial(), "serial"});
  const auto best = samples.Best();
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->trace, "serial");
  EXPECT_EQ(CanonicalForm(best->scheduled), CanonicalForm(Serial()));
}

TEST(SizeSamplesTest, ClumsyOnesCountOnlyWhereThereAreNoOthers) {
  const Machine machine = TwoCores();
  SizeSamples samples = Samples(machine);
  samples.AddSchedule({Serial(), "clumsy", /*is_clumsy=*/true});
  EXPECT_EQ(samples.Best()->trace, "clumsy");
  samples.AddSchedule({Blocked(), "blocked"});
  samples.AddSchedule({Serial(), "clumsy", /*is_clumsy=*/true});
  EXPECT_EQ(samples.Best()->trace, "blocked");
}

}  // namespace
}  // namespace kiln
