#include "kiln/schedule/trace/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(64, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + T.float32(1)
)";

absl::StatusOr<std::string> TraceOf(const std::string& text,
                                    std::string_view name = "") {
  Schedule sch(*ParseModule("p.py", kProgram));
  KILN_RETURN_IF_ERROR(RunScript(python::Source("s.py", text), &sch, name));
  return ToText(sch.trace());
}

TEST(ScriptTest, ListsOfBlocksMayNameThem) {
  KILN_EXPECT_OK(TraceOf("def f(sch):\n"
                         "    sch.cache_read('B', 0, 'global', ['B'])\n")
                     .status());
  const auto unknown = TraceOf(
      "def f(sch):\n    sch.cache_read('B', 0, 'global', ['nobody'])\n");
  EXPECT_THAT(unknown.status().message(), HasSubstr("nobody"));
}

TEST(ScriptTest, MinusOneIsTheFactorThatTheOthersLeave) {
  const std::string head = "def f(sch):\n    i, j = sch.get_loops('B')\n    ";
  KILN_EXPECT_OK(TraceOf(head + "sch.split(i, [-1, 8])\n").status());
  EXPECT_FALSE(TraceOf(head + "sch.split(i, [-1, -1])\n").ok());
  EXPECT_FALSE(TraceOf(head + "sch.split(i, [-2, 8])\n").ok());
}

TEST(ScriptTest, ARefusalKnowsItsLine) {
  Schedule sch(*ParseModule("p.py", kProgram));
  const absl::Status refused =
      RunScript(python::Source("s.py",
                               "def f(sch):\n    i, j = sch.get_loops('B')\n"
                               "    sch.reorder(i, i)\n"),
                &sch);
  EXPECT_EQ(RefusedLine(refused), 3);
  EXPECT_TRUE(IsRefusedStep(refused));
  const absl::Status fault = RunScript(
      python::Source("s.py", "def f(sch):\n    sch.split(x)\n"), &sch);
  EXPECT_FALSE(RefusedLine(fault).has_value());
}

TEST(PrivateFunctionTest, IsCarriedOutWhereItIsCalled) {
  KILN_ASSERT_OK_AND_ASSIGN(std::string called, TraceOf(R"(
FACTOR = 8
def _tile(s, loop, factor):
    outer, inner = s.split(loop, [None, factor])
    return inner
def _last(sch, block):
    return sch.get_loops(block)[-1]
def space(sch):
    b = sch.get_block("B")
    inner = _tile(sch, _last(sch, b), factor=FACTOR)
    sch.vectorize(inner)
)"));
  KILN_ASSERT_OK_AND_ASSIGN(std::string plain, TraceOf(R"(
def space(sch):
    b = sch.get_block("B")
    i, j = sch.get_loops(b)
    outer, inner = sch.split(j, [None, 8])
    sch.vectorize(inner)
)"));
  EXPECT_EQ(called, plain);
}

TEST(PrivateFunctionTest, HasAScopeOfItsOwn) {
  EXPECT_THAT(TraceOf(R"(
def _f(sch):
    sch.vectorize(j)
def space(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    _f(sch)
)")
                  .status()
                  .message(),
              HasSubstr("`j` is not defined"));
}

TEST(PrivateFunctionTest, MayBeTheOnlyOthersOfAFile) {
  KILN_EXPECT_OK(TraceOf("def _f(sch):\n  pass\ndef g(sch):\n  _f(sch)\n"));
}

TEST(PrivateFunctionTest, RecursionIsRefused) {
  EXPECT_THAT(TraceOf("def _f(sch):\n  _f(sch)\ndef g(sch):\n  _f(sch)\n")
                  .status()
                  .message(),
              HasSubstr("too deeply"));
}

TEST(PrivateFunctionTest, WrongArgumentsAreRefused) {
  const std::string f = "def _f(sch, a, b):\n  pass\ndef g(sch):\n  ";
  EXPECT_THAT(TraceOf(f + "_f(1, 2, 3)\n").status().message(),
              HasSubstr("has to be the schedule `sch`"));
  EXPECT_THAT(TraceOf(f + "_f(sch, 2)\n").status().message(),
              HasSubstr("takes 3 arguments"));
  EXPECT_THAT(TraceOf(f + "_f(sch, 2, c=3)\n").status().message(),
              HasSubstr("no parameter is left"));
  EXPECT_THAT(TraceOf(f + "_f(sch, 2, a=3)\n").status().message(),
              HasSubstr("no parameter is left"));
  EXPECT_THAT(TraceOf(f + "_f()\n").status().message(),
              HasSubstr("has to be the schedule"));
}

TEST(PrivateFunctionTest, PublicFunctionsAreNotCalled) {
  EXPECT_THAT(TraceOf("def f(sch):\n  pass\ndef g(sch):\n  f(sch)\n", "g")
                  .status()
                  .message(),
              HasSubstr("cannot call this"));
}

}  // namespace
}  // namespace kiln
