#include "kiln/search/database/rename_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        C = T.alloc_buffer((32, 48))
        for i, j in T.grid(32, 48):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + T.float32(1)
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj] * T.float32(2)
)";

StoredFunction Read(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  KILN_EXPECT_OK(module.status());
  return {*module, 0};
}

StoredFunction Program() { return Read(kProgram); }

// The two blocks even trade names.
StoredFunction Renamed() {
  return Read(absl::StrReplaceAll(kProgram, {{"main", "twice"},
                                             {"A[", "x["},
                                             {"A:", "x:"},
                                             {"B[", "y["},
                                             {"B:", "y:"},
                                             {"C[", "A["},
                                             {"C =", "A ="},
                                             {"\"C\"", "\"B\""},
                                             {"\"B\"", "\"C\""}}));
}

std::string TraceOf(const StoredFunction& f, const std::string& script) {
  Schedule schedule(f.module);
  KILN_EXPECT_OK(RunScript(python::Source("s.py", script), &schedule));
  return ToText(schedule.trace());
}

// What the steps of the script make, said of either program, is one program,
// and renaming there and back changes nothing.
std::string ExpectSame(const std::string& script) {
  const std::string trace = TraceOf(Program(), script);
  absl::StatusOr<RenamedTrace> there = RenameTrace(Program(), trace, Renamed());
  KILN_EXPECT_OK(there.status());
  if (!there.ok()) return "";
  Schedule alone(Renamed().module);
  KILN_EXPECT_OK(RunScript(python::Source("t.py", there->trace), &alone));
  EXPECT_EQ(CanonicalForm(*alone.state().functions[0], {.block_names = true}),
            CanonicalForm(there->scheduled, {.block_names = true}));
  absl::StatusOr<RenamedTrace> back =
      RenameTrace(Renamed(), there->trace, Program());
  KILN_EXPECT_OK(back.status());
  if (back.ok()) EXPECT_EQ(back->trace, trace);
  return there->trace;
}

TEST(RenameTraceTest, BlocksAndFunctionsTakeTheirOwnNames) {
  const std::string trace = ExpectSame(R"(
def f(sch):
    b = sch.get_block("B", "main")
    c = sch.get_block("C", "main")
    i, j = sch.get_loops(b)
    i0, i1 = sch.split(i, sch.sample_perfect_tile(i, n=2, decision=[8, 4]))
    sch.compute_at(c, i0)
    sch.parallel(i0)
)");
  EXPECT_THAT(trace, HasSubstr("name=\"C\", func_name=\"twice\""));
  EXPECT_THAT(trace, HasSubstr("decision=[8, 4]"));
  EXPECT_THAT(trace, Not(HasSubstr("main")));
}

TEST(RenameTraceTest, BlocksThatStepsHaveMadeAreFound) {
  const std::string trace = ExpectSame(R"(
def f(sch):
    b = sch.get_block("B", "main")
    sch.cache_write(b, 0, "local")
    sch.cache_read(b, 0, "global")
    i, j = sch.get_loops(sch.get_block("B_local"))
    sch.vectorize(j)
    i, j = sch.get_loops(sch.get_block("C_global"))
    sch.unroll(j)
)");
  EXPECT_THAT(trace, HasSubstr("name=\"y_local\""));
  EXPECT_THAT(trace, HasSubstr("name=\"A_global\""));
}

TEST(RenameTraceTest, BuffersTakeTheirOwnNames) {
  const std::string trace = ExpectSame(R"(
def f(sch):
    b = sch.get_block("B", "main")
    sch.cache_write(b, "B", "local")
    sch.cache_read(b, "C", "global")
    sch.transform_layout("C", buffer="C", index_map=lambda a, b: (b, a))
)");
  EXPECT_THAT(trace, HasSubstr("\"y\""));
  EXPECT_THAT(trace, HasSubstr("\"A\""));
}

TEST(RenameTraceTest, ATraceThatDoesNotApplyIsRefusedAndKept) {
  const std::string gone = "def f(sch):\n    sch.get_block(\"gone\")\n";
  EXPECT_FALSE(RenameTrace(Program(), gone, Renamed()).ok());
  const Workload a = WorkloadOf(Program().module, "main");
  const Workload b = WorkloadOf(Renamed().module, "twice");
  const TraceRenamer rename(a, b);
  EXPECT_TRUE(rename.changes_names());
  EXPECT_EQ(rename(gone), gone);
  EXPECT_FALSE(TraceRenamer(a, a).changes_names());
}

TEST(RenameTraceTest, AnotherProgramIsRefused) {
  const std::string trace = TraceOf(Program(), R"(
def f(sch):
    sch.parallel(sch.get_loops(sch.get_block("B"))[0])
)");
  EXPECT_THAT(RenameTrace(Program(), trace,
                          Read(absl::StrReplaceAll(kProgram, {{"48", "64"}}))),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("another program")));
}

}  // namespace
}  // namespace kiln
