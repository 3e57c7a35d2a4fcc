// For each mark (ir/tensor/marks.h), that whoever looks for it acts: the same
// program with another note in its place comes out otherwise. And that a mark
// on anything else changes nothing.
#include "kiln/ir/tensor/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/llvm/compile.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/space/rule/rule.h"
#include "kiln/search/space/rule_space.h"
#include "kiln/search/space/trace_space.h"

namespace kiln {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

const Target& Avx512() {
  static const auto* target =
      new Target(*ParseTarget("llvm -mcpu=skylake-avx512"));
  return *target;
}

// A program that rules make of a workload and that has the mark, as text.
std::string ProgramWith(const char* mark, const std::string& workload) {
  const Module module = *MakeWorkload(workload);
  TraceSpace space(module, 0);
  AddRuleSchedules(CpuRules(), {.registers = Avx512().machine.vectors}, &space);
  for (uint64_t i = 0; i < 4 * space.size(); ++i) {
    const absl::StatusOr<Candidate> c = space.Sample(7, i);
    if (!c.ok()) continue;
    std::string text = PrintFunction(c->scheduled);
    if (absl::StrContains(text, mark)) return text;
  }
  ADD_FAILURE() << "no schedule of " << workload << " has " << mark;
  return "";
}

absl::StatusOr<Function> Lowered(const std::string& program) {
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule("m.py", program));
  return LowerForTarget(module.functions[0], Avx512());
}

std::string LoweredText(const std::string& program) {
  const absl::StatusOr<Function> lowered = Lowered(program);
  EXPECT_TRUE(lowered.ok()) << lowered.status() << program;
  return lowered.ok() ? PrintFunction(*lowered) : "";
}

// At the last two stages.
struct Code {
  std::string ir, assembly;
};

Code Compile(const std::string& program) {
  const absl::StatusOr<Function> lowered = Lowered(program);
  EXPECT_TRUE(lowered.ok()) << lowered.status() << program;
  if (!lowered.ok()) return {};
  return {*CompileToLlvmIr(*lowered, "main", Avx512()),
          *CompileToAssembly(*lowered, "main", Avx512())};
}

std::string Unmarked(const std::string& program, const char* mark) {
  return absl::StrReplaceAll(program, {{mark, "another_note"}});
}

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++count;
  return count;
}

TEST(MarksTest, OfPhasesOneRemainderIsLeft) {
  const std::string program = ProgramWith(kPhases, "t2d:4,4,16,32,4,2,1");
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", program));
  LowerOptions before;
  before.stop_after = "partition_loops";
  KILN_ASSERT_OK_AND_ASSIGN(const Function f,
                            Lower(module.functions[0], before));
  EXPECT_THAT(PrintFunction(f), ContainsRegex("if .*% 2 == "));
  EXPECT_THAT(PrintFunction(f), HasSubstr(kPhases));
  const std::string lowered = LoweredText(program);
  EXPECT_THAT(lowered, Not(ContainsRegex("if .*% 2 == ")));
  EXPECT_THAT(lowered, Not(HasSubstr(kPhases)));
}

TEST(MarksTest, TransposesAreDoneInRegisters) {
  const std::string program = ProgramWith(kTransposedCopy, "tbg:64,4,64");
  const Code marked = Compile(program);
  const Code other = Compile(Unmarked(program, kTransposedCopy));
  EXPECT_GE(Count(marked.ir, "shufflevector <16 x float>"), 64);
  EXPECT_LT(Count(other.ir, "shufflevector <16 x float>"), 64);
  EXPECT_THAT(marked.ir, Not(HasSubstr(kTransposedCopy)));
}

TEST(MarksTest, SumsOfLanesAreJoined) {
  const std::string program = ProgramWith(kLaneSums, "c2d:16,16,64,3,3,1,0");
  const Code marked = Compile(program);
  const Code other = Compile(Unmarked(program, kLaneSums));
  EXPECT_LT(Count(marked.ir, " fadd "), Count(other.ir, " fadd "));
  EXPECT_THAT(marked.ir, Not(HasSubstr(kLaneSums)));
}

TEST(MarksTest, ProductsOfPartsAreJoinedOnTheTile) {
  const Module module = *MakeWorkload("gmm:64,64,256:normwise");
  TraceSpace space(module, 0);
  AddRuleSchedules(CpuRules(), {.registers = Avx512().machine.vectors}, &space);
  int joined = 0;
  for (uint64_t i = 0; i < space.size(); ++i) {
    const absl::StatusOr<Candidate> c = space.Sample(7, i);
    if (!c.ok()) continue;
    const std::string trace = space.TraceText(c->point);
    if (!absl::StrContains(trace, "sch.strassen(")) continue;
    const bool dropped = absl::StrContains(
        trace, absl::StrCat("ann_key=\"", kStrassenParts, "\""));
    joined += dropped;
  }
  EXPECT_GT(joined, 0);
}

// A row of 16 products, with `attr` as the note of its block.
std::string Ordinary(const std::string& mark) {
  return absl::StrCat(R"(
@T.prim_func
def main(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    for i, j in T.grid(4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({")",
                      mark, R"(": True})
            C[vi, vj] = A[vi, vj] * T.float32(2)
)");
}

TEST(MarksTest, OnAnythingElseAMarkChangesNothing) {
  const Code unmarked = Compile(Ordinary("another_note"));
  for (const char* mark :
       {kPhases, kTransposedCopy, kLaneSums, kStrassenParts}) {
    EXPECT_EQ(Compile(Ordinary(mark)).assembly, unmarked.assembly) << mark;
  }
}

TEST(MarksTest, AReasonIsLeftWhereAMarkIsIgnored) {
  EXPECT_THAT(LoweredText(Ordinary(kPhases)), HasSubstr("ignored: no loop"));
  EXPECT_THAT(Compile(Ordinary(kTransposedCopy)).ir,
              HasSubstr("ignored: no stores"));
  EXPECT_THAT(Compile(Ordinary(kLaneSums)).ir,
              HasSubstr("ignored: no block of code"));
}

TEST(MarksTest, AMarkThatNobodyLooksForIsRefusedByName) {
  const absl::StatusOr<Function> lowered = Lowered(Ordinary("kiln.phase"));
  EXPECT_THAT(std::string(lowered.status().message()),
              HasSubstr("block C is annotated with \"kiln.phase\""));
}

TEST(MarksTest, FunctionsWithOddAttributesOfThatNameAreCompiled) {
  const Code plain = Compile(Ordinary("another_note"));
  for (const char* value : {"True", "\"x\"", "[1, \"C\"]", "{\"a\": 1}"}) {
    std::string attrs;
    for (const char* mark : {kPhases, kTransposedCopy, kLaneSums}) {
      absl::StrAppend(&attrs, "\"", mark, "\": ", value, ", ");
    }
    const std::string program = absl::StrReplaceAll(
        Ordinary("another_note"),
        {{"    for i, j",
          absl::StrCat("    T.func_attr({", attrs, "})\n    for i, j")}});
    EXPECT_EQ(Compile(program).assembly, plain.assembly) << program;
  }
}

}  // namespace
}  // namespace kiln
