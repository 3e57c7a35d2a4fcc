#include "kiln/schedule/trace/carry_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kRows[] = R"(
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 64), "float32")
    B = T.match_buffer(b, (n, 64), "float32")
    for i, j in T.grid(n, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
)";

Module AtSize(Module module, int64_t n) {
  VarMap map;
  const Var dim = SymbolicDims(module.functions[0])[0];
  map[dim.get()] = Int(n, dim.dtype());
  module.functions[0] = SubstituteDims(module.functions[0], map);
  return module;
}

// The schedule of `script` at n rows, for any number of them.
absl::StatusOr<CarriedOver> Carry(const Module& module, int64_t n,
                                  const std::string& script) {
  Schedule at_size(AtSize(module, n));
  KILN_RETURN_IF_ERROR(
      RunScript(python::Source("schedule.py", script), &at_size));
  return CarryOver(at_size.trace(), State(module));
}

TEST(CarryOver, LeavesTheOutermostFactorOfASymbolicLoopOpen) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kRows));
  KILN_ASSERT_OK_AND_ASSIGN(const CarriedOver carried, Carry(module, 128, R"(
def rows(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    i0, i1, i2 = sch.split(i, sch.sample_perfect_tile(i, n=3, decision=[8, 4, 4]))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, n=2, decision=[8, 8]))
    sch.reorder(i0, j0, i1, i2, j1)
    sch.vectorize(j1)
)"));
  EXPECT_THAT(ToText(carried.trace), HasSubstr("decision=[-1, 4, 4]"));
  EXPECT_THAT(ToText(carried.trace), HasSubstr("decision=[8, 8]"));
  const std::string text = PrintFunction(*carried.state.functions[0]);
  EXPECT_THAT(text, HasSubstr("T.grid((n + 15) // 16, 8, 4, 4)"));
  // The trace alone leads to the same.
  KILN_ASSERT_OK_AND_ASSIGN(const State again,
                            Replay(carried.trace, State(module)));
  EXPECT_EQ(PrintFunction(*again.functions[0]), text);
}

TEST(CarryOver, KeepsWhatDoesNotDependOnTheSize) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kRows));
  const std::string script = R"(
def rows(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    i0, i1 = sch.split(i, [None, 4])
    sch.parallel(i0)
)";
  KILN_ASSERT_OK_AND_ASSIGN(const CarriedOver carried,
                            Carry(module, 12, script));
  EXPECT_THAT(PrintFunction(*carried.state.functions[0]),
              HasSubstr("T.parallel((n + 3) // 4)"));
  EXPECT_THAT(ToText(carried.trace), Not(HasSubstr("decision")));
}

TEST(CarryOver, TellsTheStepThatDoesNotHoldAtAllSizes) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", kRows));
  const std::string script = R"(
def rows(sch):
    i, j = sch.get_loops(sch.get_block("B"))
    sch.split(i, [3, 4])
)";
  EXPECT_THAT(Carry(module, 12, script).status().message(),
              HasSubstr("step 3: split: the factors make"));
}

}  // namespace
}  // namespace kiln
