#include "kiln/search/space/cpp_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
    for i, j in T.grid(32, 48):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

constexpr char kScript[] = R"(
def schedule(sch):
    b = sch.get_block("B")
    c = sch.cache_read(b, 0, "global")
    sch.transform_layout(c, ("write", 0), lambda i, j: (j // 16, i, j % 16))
    i, j = sch.get_loops(b)
    v, w = sch.sample_perfect_tile(i, n=2, decision=[4, 8])
    i0, i1 = sch.split(i, [v, w])
    sch.split(j, [None, w * 2])
    sch.unroll(i1)
    sch.annotate(i0, "pragma", 1)
)";

Schedule Scheduled() {
  Schedule sch(*ParseModule("b.py", kProgram));
  KILN_EXPECT_OK(RunScript(python::Source("s.py", kScript), &sch));
  return sch;
}

TEST(CppScheduleTest, BeginsAsExpectedAndHasACallForEachStep) {
  const Schedule sch = Scheduled();
  KILN_ASSERT_OK_AND_ASSIGN(const std::string text, CppText(sch.trace()));
  EXPECT_THAT(text, ::testing::StartsWith(
                        "absl::Status ApplyTrace(Schedule& sch) {\n"
                        "  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> r0,\n"));
  size_t calls = 0;
  for (size_t at = text.find("sch.Apply("); at != text.npos;
       at = text.find("sch.Apply(", at + 1)) {
    ++calls;
  }
  EXPECT_EQ(calls, sch.trace().instructions.size());
  EXPECT_THAT(text, ::testing::HasSubstr(
                        "FloorDiv(x1, Int(16)), x0, FloorMod(x1, Int(16))"));
  EXPECT_THAT(text, ::testing::HasSubstr("RvArithmetic{'*', "));
  EXPECT_THAT(text, ::testing::HasSubstr(", {4, 8})"));
}

// Printed by CppText; the decisions and maps are those of kScript.
absl::Status ApplyTrace(Schedule& sch) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> r0,
                        sch.Apply("get_block", ArgList{"B", "main"}));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Rv> r1,
      sch.Apply("cache_read", ArgList{r0[0], int64_t{0}, "global"}));
  KILN_RETURN_IF_ERROR(
      sch.Apply(
             "transform_layout",
             ArgList{r1[0], Arg(ArgList{Arg("write"), Arg(int64_t{0})}),
                     [&] {
                       const Var x0("i");
                       const Var x1("j");
                       return std::make_shared<const IndexMapArg>(IndexMapArg{
                           {{x0, x1},
                            {FloorDiv(x1, Int(16)), x0, FloorMod(x1, Int(16))}},
                           {}});
                     }()})
          .status());
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> r2,
                        sch.Apply("get_loops", ArgList{r0[0]}));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Rv> r3,
      sch.Apply("sample_perfect_tile", ArgList{r2[0], int64_t{2}, int64_t{16}},
                {4, 8}));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Rv> r4,
      sch.Apply("split",
                ArgList{r2[0], Arg(ArgList{Arg(r3[0]), Arg(r3[1])}), true}));
  KILN_ASSIGN_OR_RETURN(
      const std::vector<Rv> r5,
      sch.Apply(
          "split",
          ArgList{
              r2[1],
              Arg(ArgList{Arg(Arg()),
                          Arg(std::make_shared<const RvArithmetic>(RvArithmetic{
                              '*', Arg(r3[1]), Arg(int64_t{2})}))}),
              true}));
  KILN_RETURN_IF_ERROR(sch.Apply("unroll", ArgList{r4[1]}).status());
  return sch.Apply("annotate", ArgList{r4[0], "pragma", int64_t{1}}).status();
}

TEST(CppScheduleTest, TheCallsDoWhatTheScriptDoes) {
  Schedule calls(*ParseModule("b.py", kProgram));
  KILN_EXPECT_OK(ApplyTrace(calls));
  EXPECT_TRUE(StructurallyEqual(calls.ToModule(), Scheduled().ToModule()));
}

}  // namespace
}  // namespace kiln
