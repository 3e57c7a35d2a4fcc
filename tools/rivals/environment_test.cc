#include "kiln/tools/rivals/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

namespace kiln::bench {
namespace {

using ::testing::ElementsAre;

TEST(EnvironmentTest, VariablesThatLibrariesReadAreDropped) {
  for (const char* name :
       {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS",
        "GOTO_NUM_THREADS", "OMP_NUM_THREADS", "OMP_PROC_BIND",
        "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "MKL_NUM_THREADS",
        "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_CPU_ISA_HINTS",
        "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "LD_PRELOAD"}) {
    EXPECT_TRUE(SteersLibraries(name)) << name;
  }
}

TEST(EnvironmentTest, OthersAreKept) {
  for (const char* name :
       {"HOME", "PATH", "KILN_MACHINE", "XDG_CACHE_HOME", "LD_LIBRARY_PATH",
        "MY_OMP_NUM_THREADS", "OMP", "LD_PRELOADED", ""}) {
    EXPECT_FALSE(SteersLibraries(name)) << name;
  }
}

TEST(EnvironmentTest, ValuesDoNotDecide) {
  const char* const entries[] = {"A=OMP_NUM_THREADS=1", "OMP_NUM_THREADS=A=B",
                                 "MKL_DYNAMIC=", "B=", nullptr};
  const SplitEnvironment split = WithoutSteering(entries);
  EXPECT_THAT(split.kept, ElementsAre("A=OMP_NUM_THREADS=1", "B="));
  EXPECT_THAT(split.dropped,
              ElementsAre("OMP_NUM_THREADS=A=B", "MKL_DYNAMIC="));
}

// Ends with 7 where the process was started again as promised.
int AfterRestart() {
  char name[] = "test", filter[] = "--gtest_filter=*InTheSecondProcess",
       disabled[] = "--gtest_also_run_disabled_tests";
  char* argv[] = {name, filter, disabled, nullptr};
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  setenv("KEPT_BY_RESTART", "yes", 1);
  std::fprintf(stderr, "%s\n", RestartUnsteered(argv).ToString().c_str());
  return 1;
}

TEST(EnvironmentTest, DISABLED_InTheSecondProcess) {
  const char* kept = getenv("KEPT_BY_RESTART");
  char* argv[] = {nullptr};
  const bool returns = RestartUnsteered(argv).ok();
  _exit(!getenv("OPENBLAS_CORETYPE") && kept && returns ? 7 : 1);
}

TEST(EnvironmentDeathTest, StartsAgainWithoutThemAndTellsWhich) {
  EXPECT_EXIT(_exit(AfterRestart()), testing::ExitedWithCode(7),
              "starts again without .*OPENBLAS_CORETYPE=Prescott");
}

TEST(EnvironmentTest, KeepsTheSettingsThatItHasChosenItself) {
  const char* const own[] = {
      "OPENBLAS_CORETYPE=HASWELL", "ONEDNN_MAX_CPU_ISA=AVX2",
      "KILN_BENCH_SETTINGS=OPENBLAS_CORETYPE=HASWELL ONEDNN_MAX_CPU_ISA=AVX2",
      nullptr};
  EXPECT_TRUE(WithoutSteering(own).dropped.empty());
  const char* const other[] = {"OPENBLAS_CORETYPE=PRESCOTT",
                               "KILN_BENCH_SETTINGS=OPENBLAS_CORETYPE=SKYLAKEX",
                               nullptr};
  EXPECT_EQ(WithoutSteering(other).dropped.size(), 1u);
}

}  // namespace
}  // namespace kiln::bench
