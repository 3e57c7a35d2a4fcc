// kernel.o is what was measured.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/llvm_builder.h"
#include "kiln/tools/tuning/job.h"
#include "kiln/tools/tuning/save.h"
#include "kiln/tools/tuning/tune.h"
#include "kiln/tools/tuning/view.h"
#include "kiln/tools/tuning/work_dir.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln {
namespace {

TEST(SavedKernelTest, ItHoldsTheBytesThatWereMeasured) {
  const std::string machine = testing::TempDir() + "/machine.json";
  KILN_EXPECT_OK(SaveMachine(DescribeMachine(), machine));
  setenv("KILN_MACHINE", machine.c_str(), 1);
  TuneAllRequest request;
  KILN_ASSERT_OK_AND_ASSIGN(TuneJob job, JobOfWorkload("gmm:19,37,23"));
  request.jobs.push_back(std::move(job));
  request.target = HostTarget();
  request.target.num_cores = 1;
  request.trials_per_task = 6;
  request.work_dir = testing::TempDir() + "/saved_kernel";
  const std::unique_ptr<TuneView> view = TextView(false);
  KILN_ASSERT_OK_AND_ASSIGN(const std::vector<TuneOutcome> outcomes,
                            RunTuneAll(request, view.get()));
  ASSERT_NE(outcomes[0].state.best_kernel, nullptr);
  KILN_ASSERT_OK_AND_ASSIGN(const std::string saved,
                            ReadFile(outcomes[0].task_dir + "/kernel.o"));
  EXPECT_TRUE(saved == outcomes[0].state.best_kernel->object);
}

TEST(SavedKernelTest, NothingIsBuiltAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(const TuneJob job, JobOfWorkload("gmm:4,4,4"));
  KILN_ASSERT_OK_AND_ASSIGN(
      const WorkDir dir, WorkDir::Open(testing::TempDir() + "/saved", "gmm"));
  LlvmBuilder builder(HostTarget());
  KILN_ASSERT_OK_AND_ASSIGN(BuildResult measured,
                            builder.Build(job.module.functions[0]));
  measured.object += "what no build adds";
  KILN_ASSERT_OK(SaveBest(job.module, job.module.functions[0], "", dir,
                          &measured, builder, HostTarget()));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string saved,
                            ReadFile(dir.File("kernel.o")));
  EXPECT_TRUE(saved == measured.object);
  for (const char* file :
       {"kernel.h", "example.c", "kiln_host.h", "kiln_host.c"}) {
    KILN_EXPECT_OK(ReadFile(dir.File(file)).status());
  }
}

}  // namespace
}  // namespace kiln
