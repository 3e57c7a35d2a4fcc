#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/schedule/trace/serial.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"),
         C: T.Buffer((128, 128), "float32")):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr char kSpace[] = R"(
def stochastic_schedule_mm(sch: tvm.tir.Schedule):
    block_C = sch.get_block("C", "main")
    i, j, k = sch.get_loops(block=block_C)
    j_factors = sch.sample_perfect_tile(loop=j, n=2)
    j_0, j_1 = sch.split(loop=j, factors=j_factors)
    sch.reorder(i, j_0, k, j_1)
    sch.decompose_reduction(block_C, k)
    return sch
)";

Module Matmul() { return *ParseModule("mm.py", kMatmul); }

absl::Status RunText(const std::string& text, Schedule* sch) {
  const python::Source source("space.py", text);
  return RunScript(source, sch);
}

TEST(Replay, PrintsTheTraceOfTheSeeds) {
  Schedule sch(Matmul());
  std::string text(kSpace);
  text.replace(text.find("n=2"), 3, "n=2, decision=[8, 16]");
  KILN_EXPECT_OK(RunText(text, &sch));
  EXPECT_EQ(ToText(sch.trace()),
            R"(# from tvm import tir
def apply_trace(sch: tir.Schedule) -> None:
  b0 = sch.get_block(name="C", func_name="main")
  l1, l2, l3 = sch.get_loops(block=b0)
  v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, decision=[8, 16])
  l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True, disable_predication=False)
  sch.reorder(l1, l6, l3, l7)
  b8 = sch.decompose_reduction(block=b0, loop=l3)
)");
}

TEST(Replay, SamplingAloneLeavesTheModuleUnchanged) {
  Schedule sch(Matmul());
  KILN_ASSERT_OK_AND_ASSIGN(const Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto loops, sch.GetLoops(c));
  KILN_ASSERT_OK_AND_ASSIGN(const auto tiles,
                            sch.SamplePerfectTile(loops[1], 2));
  EXPECT_EQ(sch.Value(tiles[0]) * sch.Value(tiles[1]), 128);
  EXPECT_TRUE(StructurallyEqual(sch.ToModule(), Matmul()));
}

TEST(Replay, PrintedTraceGivesTheSameProgramAgain) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Schedule first(Matmul(), {.seed = seed});
    KILN_EXPECT_OK(RunText(kSpace, &first));
    Schedule second(Matmul(), {.seed = seed + 100});
    KILN_EXPECT_OK(RunText(ToText(first.trace()), &second));
    EXPECT_TRUE(StructurallyEqual(first.ToModule(), second.ToModule())) << seed;
    EXPECT_EQ(ToText(first.trace()), ToText(second.trace()));
  }
}

TEST(Replay, FromASnapshotEqualsFromTheStart) {
  Schedule sch(Matmul(), {.seed = 3});
  KILN_EXPECT_OK(RunText(kSpace, &sch));
  const Trace& trace = sch.trace();
  const size_t count = trace.instructions.size();
  for (size_t k = 0; k <= count; ++k) {
    State state = sch.start();
    const Decisions decisions = GetDecisions(trace);
    KILN_EXPECT_OK(Replay(trace, 0, k, decisions, 0, &state));
    State later = state;
    KILN_EXPECT_OK(Replay(trace, k, count, decisions, 0, &later));
    EXPECT_TRUE(StructurallyEqual(later.ToModule(Matmul()), sch.ToModule()));
  }
}

TEST(Replay, OpenDecisionsDependOnTheSeedAlone) {
  Schedule sch(Matmul());
  KILN_EXPECT_OK(RunText(kSpace, &sch));
  const Decisions open = OpenDecisions(sch.trace());
  std::vector<Decision> seen;
  for (uint64_t seed : {5, 5, 6, 7, 8, 9}) {
    State state = sch.start();
    Decisions made;
    KILN_EXPECT_OK(Replay(sch.trace(), 0, sch.trace().instructions.size(), open,
                          seed, &state, &made));
    seen.push_back(made[2]);
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_NE(std::count(seen.begin(), seen.end(), seen[0]), 6);
}

TEST(Replay, StaleHandleIsNamed) {
  Schedule sch(Matmul());
  const absl::Status status = RunText(
      "def f(sch):\n"
      "  i, j, k = sch.get_loops('C')\n"
      "  a, b = sch.split(j, [None, 16])\n"
      "  sch.parallel(j)\n",
      &sch);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("loop j was split by step 3"));
  EXPECT_THAT(std::string(status.message()), StartsWith("space.py:4:"));
}

TEST(Replay, RefusedStepChangesNothing) {
  Schedule sch(Matmul());
  KILN_ASSERT_OK_AND_ASSIGN(const Rv c, sch.GetBlock("C"));
  KILN_ASSERT_OK_AND_ASSIGN(const auto loops, sch.GetLoops(c));
  const std::string before = ToText(sch.trace());
  EXPECT_EQ(sch.Parallel(loops[2]).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ToText(sch.trace()), before);
  EXPECT_TRUE(StructurallyEqual(sch.ToModule(), Matmul()));
}

TEST(Replay, DeadCodeGoesAndTheProgramStays) {
  Schedule sch(Matmul());
  KILN_EXPECT_OK(
      RunText("def f(sch):\n"
              "  b = sch.get_block('C')\n"
              "  unused = sch.get_block('C')\n"
              "  i, j, k = sch.get_loops(b)\n"
              "  x = sch.sample_categorical([1, 2], [0.5, 0.5])\n"
              "  t = sch.sample_perfect_tile(k, n=2, decision=[32, 4])\n"
              "  ko, ki = sch.split(k, factors=[None, t[1]])\n"
              "  sch.unroll(ki)\n",
              &sch));
  const Trace live = EliminateDeadCode(sch.trace());
  EXPECT_EQ(live.instructions.size(), sch.trace().instructions.size() - 2);
  KILN_ASSERT_OK_AND_ASSIGN(const State state, Replay(live, sch.start()));
  EXPECT_TRUE(StructurallyEqual(state.ToModule(Matmul()), sch.ToModule()));
  KILN_EXPECT_OK(Validate(live));
}

TEST(Replay, NumbersOfATupleAreChosenTogether) {
  Schedule sch(Matmul());
  KILN_EXPECT_OK(
      RunText("def f(sch):\n"
              "  i, j, k = sch.get_loops(sch.get_block('C'))\n"
              "  a, b = sch.sample_tuple([[4, 8], [2, 16]], [0.5, 0.5], "
              "decision=[2, 16])\n"
              "  sch.split(i, factors=[None, a])\n"
              "  sch.split(j, factors=[None, b])\n",
              &sch));
  const std::string text = ToText(sch.trace());
  EXPECT_THAT(text, HasSubstr("v4, v5 = sch.sample_tuple(candidates=[[4, 8], "
                              "[2, 16]], probs=[0.5, 0.5], decision=[2, 16])"));
  EXPECT_EQ(sch.Value(sch.trace().instructions[2].outputs[0]), 2);
  EXPECT_EQ(sch.Value(sch.trace().instructions[2].outputs[1]), 16);
  KILN_ASSERT_OK_AND_ASSIGN(const Trace again, FromProto(ToProto(sch.trace())));
  EXPECT_EQ(ToText(again), text);
  Schedule reread(Matmul());
  KILN_EXPECT_OK(RunText(text, &reread));
  EXPECT_EQ(ToText(reread.trace()), text);
}

TEST(Replay, ATupleThatIsNoneIsRefused) {
  for (const auto& [args, why] :
       std::vector<std::pair<const char*, const char*>>{
           {"[], []", "0 candidates"},
           {"[[1, 2]], [0.5, 0.5]", "1 candidates and 2 probabilities"},
           {"[[1, 2], [3]], [0.5, 0.5]", "as long as each other"},
           {"[1, 2], [0.5, 0.5]", "a list of lists of integers"},
           {"[['x']], [1]", "a list of lists of integers"},
           {"[[1], [2]], [0.5, -1]", "negative"},
           {"[[], []], [0.5, 0.5]", "a list of lists of integers"},
           {"[[1], [2]], [0.5, 0.5], decision=[3]", "[3] is none of"},
           {"[[1, 2], [2, 1]], [0.5, 0.5], decision=[1]", "[1] is none of"}}) {
    Schedule sch(Matmul());
    const absl::Status status = RunText(
        absl::StrCat("def f(sch):\n  x = sch.sample_tuple(", args, ")\n"),
        &sch);
    EXPECT_THAT(std::string(status.message()), HasSubstr(why)) << args;
  }
}

TEST(Replay, ArithmeticOnSampledIntegersIsKept) {
  Schedule sch(Matmul());
  KILN_EXPECT_OK(
      RunText("def f(sch):\n"
              "  i, j, k = sch.get_loops(sch.get_block('C'))\n"
              "  a, b = sch.sample_perfect_tile(i, n=2, decision=[16, 8])\n"
              "  sch.split(i, factors=[None, b * 2])\n",
              &sch));
  EXPECT_THAT(ToText(sch.trace()), HasSubstr("factors=[None, v5 * 2]"));
  KILN_ASSERT_OK_AND_ASSIGN(const Trace again, FromProto(ToProto(sch.trace())));
  EXPECT_EQ(ToText(again), ToText(sch.trace()));
  KILN_ASSERT_OK_AND_ASSIGN(const State state, Replay(again, sch.start()));
  EXPECT_TRUE(StructurallyEqual(state.ToModule(Matmul()), sch.ToModule()));
}

constexpr char kInPlace[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 4), "int32"), B: T.Buffer((8, 4), "int32")):
    for i in range(8):
        with T.block("F"):
            vi = T.axis.opaque(8, i)
            T.reads(A[vi, 0:4])
            T.writes(A[vi, 0:4])
            for j in range(4):
                A[vi, j] = A[vi, j] * 2
    for i in range(8):
        with T.block("G"):
            vi = T.axis.spatial(8, i)
            T.reads(B[vi, 0])
            T.writes(B[vi, 1])
            B[vi, 1] = B[vi, 0]
)";

// Lists of blocks, loops and pairs, as text and as protobuf.
TEST(Replay, StepsOfEveryShapeGoThroughTextAndProto) {
  const Module module = *ParseModule("m.py", kInPlace);
  Schedule sch(module);
  KILN_EXPECT_OK(RunText(
      "def f(sch):\n"
      "  f, g = sch.get_block('F'), sch.get_block('G')\n"
      "  m = sch.merge(sch.get_loops(f)[0], sch.get_loops(g)[0])\n"
      "  a, b = sch.cache_inplace(f, 0, 'local')\n"
      "  sch.annotate_buffer_access(g, 0, 'read', gen_new_ranges=lambda v: "
      "[(v - 1, v + 1), (0, 2)])\n",
      &sch));
  const std::string text = ToText(sch.trace());
  EXPECT_THAT(text, HasSubstr("sch.merge(l2, l3)"));
  EXPECT_THAT(text,
              HasSubstr("gen_new_ranges=lambda v: [(v - 1, v + 1), (0, 2)])"));
  KILN_ASSERT_OK_AND_ASSIGN(const Trace proto, FromProto(ToProto(sch.trace())));
  EXPECT_EQ(ToText(proto), text);
  Schedule again(module);
  KILN_EXPECT_OK(RunText(text, &again));
  EXPECT_EQ(ToText(again.trace()), text);
  EXPECT_TRUE(StructurallyEqual(again.ToModule(), sch.ToModule()));
}

TEST(Serial, RefusesWhatItDoesNotKnow) {
  Schedule sch(Matmul());
  KILN_EXPECT_OK(RunText(kSpace, &sch));
  TraceProto version = ToProto(sch.trace());
  version.set_version(99);
  EXPECT_FALSE(FromProto(version).ok());
  TraceProto name = ToProto(sch.trace());
  name.mutable_instructions(0)->set_name("frobnicate");
  EXPECT_FALSE(FromProto(name).ok());
  TraceProto early = ToProto(sch.trace());
  early.mutable_instructions(1)->mutable_args(0)->set_rv(7);
  EXPECT_FALSE(FromProto(early).ok());
  TraceProto type = ToProto(sch.trace());
  type.mutable_instructions(1)->mutable_args(0)->set_text("C");
  EXPECT_FALSE(FromProto(type).ok());
}

struct BadScript {
  const char* name;
  const char* body;
  const char* message;
};

class BadScripts : public ::testing::TestWithParam<BadScript> {};

TEST_P(BadScripts, AreRefusedWithTheReason) {
  Schedule sch(Matmul());
  const absl::Status status =
      RunText(std::string("def f(sch):\n") + GetParam().body, &sch);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
  EXPECT_THAT(std::string(status.message()), StartsWith("space.py:"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadScripts,
    ::testing::Values(
        BadScript{"Primitive", "  sch.frobnicate()\n", "no primitive"},
        BadScript{"Name", "  sch.get_loops(x)\n", "`x` is not defined"},
        BadScript{"Block", "  sch.get_block('D')\n", "is called `D`"},
        BadScript{"Unpack", "  i, j = sch.get_loops('C')\n", "3 values for 2"},
        BadScript{"Keyword", "  sch.get_loops(blok='C')\n", "blok"},
        BadScript{"Kind", "  sch.split('C', [2, 2])\n", "`loop`"},
        BadScript{"Loop", "  for i in x:\n    pass\n", "straight line"},
        BadScript{"Twice", "  sch.get_loops('C', block='C')\n", "given twice"},
        BadScript{"Missing", "  sch.split(sch.get_loops('C')[0])\n",
                  "needs `factors`"},
        BadScript{"Index", "  x = sch.get_loops('C')[7]\n", "no such element"},
        BadScript{"Decision",
                  "  sch.sample_perfect_tile(sch.get_loops('C')[0], 2, "
                  "decision=[3, 4])\n",
                  "is not 2 factors of 128"},
        BadScript{"RangeCount",
                  "  sch.annotate_buffer_access(sch.get_block('C'), 0, 'read', "
                  "lambda i, j, k: ((i, i + 1),))\n",
                  "annotate_buffer_access: "},
        BadScript{"Ranges",
                  "  sch.annotate_buffer_access(sch.get_block('C'), 0, 'read', "
                  "lambda i, j, k: (i, j))\n",
                  "a list of (begin, end)"},
        BadScript{"Side",
                  "  sch.annotate_buffer_access(sch.get_block('C'), 0, 'both', "
                  "lambda i, j, k: [(i, i + 1), (j, j + 1)])\n",
                  "`both` is no side"},
        BadScript{"Call", "  print(3)\n", "cannot call this"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln
