// What is measured of the machine is only looked at for being there: rates
// depend on what else runs. Files are read and written with numbers that are
// made up, damaged ones as well.
#include "kiln/vm/profile/machine_constants.h"

#include <sched.h>

#include <cstdlib>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(MachineConstantsTest, DescribesThisMachine) {
  const Machine machine = DescribeMachine();
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.vectors.bytes, 16);
  EXPECT_GT(machine.level(MemoryLevelId::kL1).bytes, 0);
  EXPECT_GT(machine.level(MemoryLevelId::kL2).bytes,
            machine.level(MemoryLevelId::kL1).bytes);
}

TEST(MachineConstantsTest, JsonKeepsEveryNumber) {
  Machine machine = DescribeMachine();
  machine.gflops = 117.5;
  machine.levels[2].all_write_gbs = 33.25;
  KILN_ASSERT_OK_AND_ASSIGN(Machine read,
                            MachineFromJson(MachineToJson(machine)));
  EXPECT_EQ(MachineToJson(read), MachineToJson(machine));
  EXPECT_EQ(read.gflops, 117.5);
  EXPECT_EQ(read.levels[2].all_write_gbs, 33.25);
  EXPECT_EQ(read.cpu, machine.cpu);
}

TEST(MachineConstantsTest, RefusesWhatIsNoMachine) {
  for (const char* text : {"", "{", "[]", "{\"version\":1}",
                           "{\"version\":2,\"cores\":2}", "{\"speed\":3}"}) {
    EXPECT_THAT(MachineFromJson(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("")))
        << text;
  }
  Machine machine = DescribeMachine();
  machine.gflops = 0;
  EXPECT_THAT(
      MachineFromJson(MachineToJson(machine)).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("positive")));
}

TEST(MachineConstantsTest, StoresAndFindsAgain) {
  const std::string path = TempPath("deep/folder/machine.json");
  Machine machine = DescribeMachine();
  machine.gflops = 99;
  machine.l3_held_bytes = 1 << 20;
  KILN_EXPECT_OK(SaveMachine(machine, path));
  KILN_ASSERT_OK_AND_ASSIGN(Machine read, LoadMachine(path));
  EXPECT_EQ(read.gflops, 99);
}

TEST(MachineConstantsTest, KnowsAFileOfAnotherMachine) {
  const std::string path = TempPath("other.json");
  Machine machine = DescribeMachine();
  machine.l3_held_bytes = 1 << 20;
  machine.cpu = "Difference Engine No. 2";
  KILN_EXPECT_OK(SaveMachine(machine, path));
  EXPECT_THAT(LoadMachine(path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("Difference Engine")));
  machine = DescribeMachine();
  machine.l3_held_bytes = 1 << 20;
  machine.levels[2].bytes *= 10;
  KILN_EXPECT_OK(SaveMachine(machine, path));
  EXPECT_THAT(LoadMachine(path).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another machine")));
}

TEST(MachineConstantsTest, SaysWhichFileIsMissingOrDamaged) {
  EXPECT_THAT(LoadMachine(TempPath("none.json")).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.json")));
  const std::string path = TempPath("damaged.json");
  KILN_EXPECT_OK(WriteFileAtomically(path, "{\"version\":"));
  EXPECT_THAT(
      LoadMachine(path).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("damaged.json")));
}

TEST(MachineConstantsTest, MeasuresOnceAndStores) {
  const std::string path = TempPath("measured.json");
  ThreadPool pool;
  const Machine quick = MeasureMachine(pool, {.runs = 1, .run_us = 50});
  EXPECT_GT(quick.gflops, 0);
  for (const MemoryLevel& level : quick.levels) {
    EXPECT_GT(level.read_gbs, 0);
    EXPECT_GT(level.all_write_gbs, 0);
  }
  EXPECT_GT(quick.l3_held_bytes, 0);
  EXPECT_LE(quick.l3_held_bytes, quick.level(MemoryLevelId::kL3).bytes);
  KILN_EXPECT_OK(SaveMachine(quick, path));
  EXPECT_EQ(LoadOrMeasureMachine(path).gflops, quick.gflops);
  EXPECT_EQ(LoadOrMeasureMachine(path).l3_held_bytes, quick.l3_held_bytes);
}

TEST(MachineConstantsTest, FewerCoresHaveAFileOfTheirOwn) {
  if (ThreadPool::NumAvailableCpus() < 2) GTEST_SKIP() << "one core";
  setenv("KILN_MACHINE", "/given.json", 1);
  EXPECT_EQ(DefaultMachinePath(), "/given.json");
  unsetenv("KILN_MACHINE");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  const std::string all = DefaultMachinePath();
  EXPECT_THAT(all, HasSubstr("/cache/kiln/machine-"));
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_NE(DefaultMachinePath(), all);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(DefaultMachinePath(), all);
  unsetenv("XDG_CACHE_HOME");
}

TEST(MachineConstantsTest, AnOlderFileThatDoesNotTellOfTheLastCacheIsMissing) {
  const std::string path = TempPath("older.json");
  Machine machine = DescribeMachine();
  machine.l3_held_bytes = 0;
  KILN_EXPECT_OK(SaveMachine(machine, path));
  EXPECT_THAT(
      LoadMachine(path).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("last cache")));
  EXPECT_GT(LoadOrMeasureMachine(path).l3_held_bytes, 0);
}

TEST(MachineConstantsTest, DamagedAndUnwritableFilesOnlyWarn) {
  const std::string path = ::testing::TempDir() + "/damaged.json";
  KILN_ASSERT_OK(WriteFileAtomically(path, "{\"cores\": -1}"));
  EXPECT_GT(LoadOrMeasureMachine(path).gflops, 0);
  KILN_EXPECT_OK(LoadMachine(path).status());  // mended
  EXPECT_GT(LoadOrMeasureMachine("/proc/none/machine.json").gflops, 0);
}

TEST(MachineConstantsTest, TableNamesEveryLevel) {
  const std::string table = MachineTable(Machine());
  for (const char* name : {"L1", "L2", "L3", "memory", "multiply-adds"}) {
    EXPECT_THAT(table, HasSubstr(name));
  }
}

}  // namespace
}  // namespace kiln
