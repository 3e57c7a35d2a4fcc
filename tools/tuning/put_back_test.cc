// A module beside a database with records of some of its functions: which of
// them are replaced, by which schedules, and what is said of the others.
//
//   relu has a record, matmul has none -> "1 of 2 functions are tuned"
#include "kiln/tools/tuning/put_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/record.h"
#include "kiln/search/database/testing.h"
#include "kiln/search/database/workload.h"
#include "kiln/tools/tuning/record_target.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

// What another model called `double`, with other names of variables.
constexpr char kTuned[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((32, 48), "float32"), Y: T.Buffer((32, 48), "float32")):
        for a, b in T.grid(32, 48):
            with T.block("Y"):
                va, vb = T.axis.remap("SS", [a, b])
                Y[va, vb] = X[va, vb] + X[va, vb]
)";

constexpr char kTrace[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("Y", "double")
    l1, l2 = sch.get_loops(b0)
    sch.parallel(l1)
)";

constexpr char kModel[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        T.func_attr({"op_pattern": 0})
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @T.prim_func
    def again(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @T.prim_func
    def square(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * A[vi, vj]

    @R.function
    def main(x: R.Tensor((32, 48), "float32")):
        cls = Module
        a = R.call_tir(cls.again, (x,), out_sinfo=R.Tensor((32, 48), dtype="float32"))
        b = R.call_tir(cls.square, (a,), out_sinfo=R.Tensor((32, 48), dtype="float32"))
        return b
)";

Target ForHost() { return *ParseTarget("llvm -num-cores=2"); }

void AddRecord(Database& database, const std::string& target) {
  const Workload workload =
      WorkloadOf(*ParseModule("tuned.py", kTuned), "double");
  KILN_ASSERT_OK(database.AddWorkload(workload));
  TuningRecord record = testing::OkRecord("fast", 1000);
  record.workload_key = workload.key;
  record.target = target;
  record.trace = kTrace;
  KILN_ASSERT_OK(database.CommitTrial(record).status());
}

std::string TextOf(const Module& module, const std::string& name) {
  Module alone;
  alone.functions.push_back(*module.Find(name));
  return PrintModule(alone);
}

TEST(PutBackTest, RecordsOfAnotherModelTakeTheirPlaces) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::InMemory());
  AddRecord(*database, RecordTarget(ForHost()));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kModel));
  KILN_ASSERT_OK_AND_ASSIGN(const TunedModule best,
                            PutBackBest(module, *database, ForHost()));
  EXPECT_THAT(best.tuned, ElementsAre("again"));
  EXPECT_THAT(best.why, ElementsAre(Pair("square", HasSubstr("square("))));
  EXPECT_THAT(TextOf(best.module, "again"), HasSubstr("T.parallel"));
  // What has no record, or is not called, stays.
  for (const char* name : {"square", "twice"}) {
    EXPECT_EQ(TextOf(best.module, name), TextOf(module, name));
  }
  ASSERT_EQ(best.module.graph_functions.size(), 1u);
}

TEST(PutBackTest, RecordsOfOtherTargetsDoNotCount) {
  KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::InMemory());
  AddRecord(*database, RecordTarget(*ParseTarget("llvm -num-cores=7")));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kModel));
  KILN_ASSERT_OK_AND_ASSIGN(const TunedModule best,
                            PutBackBest(module, *database, ForHost()));
  EXPECT_TRUE(best.tuned.empty());
  EXPECT_THAT(best.why.at("again"), HasSubstr("on another target, "));
}

TEST(PutBackTest, TheRestIsScheduledAsTheCallerLikes) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kModel));
  const Scheduler schedule = KeepTuned({"again"}, [](const Module&,
                                                     const Function& f) {
    return absl::StatusOr<Function>(absl::InternalError("asked for " + f.name));
  });
  KILN_ASSERT_OK_AND_ASSIGN(const Function kept,
                            schedule(module, *module.Find("again")));
  EXPECT_EQ(kept.name, "again");
  EXPECT_THAT(schedule(module, *module.Find("square")),
              StatusIs(absl::StatusCode::kInternal, "asked for square"));
}

TEST(PutBackTest, AFolderWithoutRecordsIsRefusedWithTheWayOut) {
  const testing::TempFolder folder;
  const std::string path = folder.File("work");
  const auto refused = [&](const char* why) {
    EXPECT_THAT(
        OpenTuned(path),
        StatusIs(absl::StatusCode::kNotFound,
                 AllOf(HasSubstr(path), HasSubstr(why),
                       HasSubstr("tune --module model.py --minutes 5"))));
  };
  refused("does not exist");
  std::filesystem::create_directory(path);
  refused("has no records of tune");
  const std::string file = path + "/database.sqlite";
  EXPECT_FALSE(std::filesystem::exists(file));  // looking makes none
  KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(file));
  refused("has no record of a trial that succeeded");
  AddRecord(*database, "cpu threads=2");
  KILN_EXPECT_OK(OpenTuned(path));
}

}  // namespace
}  // namespace kiln
