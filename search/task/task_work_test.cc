#include "kiln/search/task/task_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TaskWork WorkOf(const std::string& workload) {
  const absl::StatusOr<Module> module = MakeWorkload(workload);
  KILN_EXPECT_OK(module.status());
  return module.ok() ? TaskWorkOf(module->functions[0]) : TaskWork();
}

TEST(TaskWorkTest, CountsOperationsAndBytesOfACall) {
  const TaskWork work = WorkOf("gmm:2,3,4");
  EXPECT_EQ(work.flop, 2 * 2 * 3 * 4);
  EXPECT_EQ(work.bytes, 4 * (2 * 4 + 4 * 3 + 2 * 3));
  EXPECT_FALSE(work.is_bound);
  EXPECT_EQ(WorkNotes(work), "");
  // 48 FLOP and 104 bytes in 4 ns.
  EXPECT_EQ(RatesText(work, 4), "12.00 GFLOP/s, 26.00 GB/s");
}

TEST(TaskWorkTest, InsertedZerosAreNotCountedAndTold) {
  const TaskWork work = WorkOf("c1d:8,4,4,3,1,1");
  EXPECT_LT(work.flop, work.flop_as_written);
  EXPECT_THAT(WorkNotes(work), HasSubstr("MFLOP are counted"));
}

TEST(TaskWorkTest, NormwiseErrorsAreMarked) {
  EXPECT_EQ(WorkNotes(WorkOf("gmm:64,64,64:normwise")),
            "normwise errors allowed");
}

TEST(TaskWorkTest, BoundsAndUnknownCountsSaySo) {
  TaskWork work;
  EXPECT_EQ(RatesText(work, 1), "");
  work.bytes = 8;
  work.is_bound = true;
  EXPECT_EQ(RatesText(work, 2), "at most 4.00 GB/s");
}

}  // namespace
}  // namespace kiln
