#include "kiln/search/feature/summary.h"

#include <string>

#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

Function Parse(const std::string& text) {
  absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? *f : Function();
}

constexpr char kTiled[] = R"(
@T.prim_func
def main(A: T.Buffer((64, 128), "float32"), B: T.Buffer((128, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    acc = T.alloc_buffer((64, 64), scope="local")
    for i in T.parallel(16):
        for j_0 in range(4):
            for r_init in range(4):
                for v_init in T.vectorized(16):
                    with T.block("C_init"):
                        vi = T.axis.spatial(64, i * 4 + r_init)
                        vj = T.axis.spatial(64, j_0 * 16 + v_init)
                        acc[vi, vj] = T.float32(0)
            for k, r in T.grid(128, 4):
                for v in T.vectorized(16):
                    with T.block("C"):
                        vi = T.axis.spatial(64, i * 4 + r)
                        vj = T.axis.spatial(64, j_0 * 16 + v)
                        vk = T.axis.reduce(128, k)
                        acc[vi, vj] = acc[vi, vj] + A[vi, vk] * B[vk, vj]
            for r, v in T.grid(4, 16):
                with T.block("C_out"):
                    vi = T.axis.spatial(64, i * 4 + r)
                    vj = T.axis.spatial(64, j_0 * 16 + v)
                    C[vi, vj] = acc[vi, vj]
)";

double Op(const StoreSummary& store, OpClass op) {
  return store.ops[static_cast<int>(op)];
}

TEST(SummaryTest, ListsStoresInProgramOrderWithTheirLoops) {
  const ProgramSummary s = Summarize(Parse(kTiled));
  ASSERT_EQ(s.stores.size(), 3u);
  EXPECT_EQ(s.stores[0].loops.size(), 4u);
  EXPECT_EQ(s.stores[1].loops.size(), 5u);
  EXPECT_EQ(s.loops[s.stores[1].loops[0]].kind, ForKind::kParallel);
  EXPECT_EQ(s.loops[s.stores[1].loops[4]].kind, ForKind::kVectorized);
  EXPECT_EQ(s.loops[s.stores[1].loops[2]].extent, 128);
  EXPECT_EQ(s.stores[1].roles[2], LoopRole::kReduce);
  EXPECT_EQ(s.stores[1].roles[0], LoopRole::kSpatial);
}

TEST(SummaryTest, LanesToAddUpAreInLocalBuffersOfAMarkedBlock) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((4, 8), "float32"), C: T.Buffer((4,), "float32")):
    whole = T.alloc_buffer((4, 8))
    first = T.alloc_buffer((4, 8), scope="local")
    second = T.alloc_buffer((4, 8), scope="local")
    for i, v in T.grid(4, 8):
        with T.block("whole"):
            vi, vv = T.axis.remap("SS", [i, v])
            whole[vi, vv] = A[vi, vv]
    for i, v in T.grid(4, 8):
        with T.block("first"):
            vi, vv = T.axis.remap("SS", [i, v])
            first[vi, vv] = whole[vi, vv]
    for i, v in T.grid(4, 8):
        with T.block("second"):
            vi, vv = T.axis.remap("SS", [i, v])
            second[vi, vv] = first[vi, vv]
    for i, v in T.grid(4, 8):
        with T.block("C"):
            vi, vv = T.axis.remap("SR", [i, v])
            T.block_attr({"kiln.lane_sums": True})
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + second[vi, vv]
)";
  const ProgramSummary s = Summarize(Parse(text));
  for (const BufferSummary& buffer : s.buffers) {
    EXPECT_EQ(buffer.holds_lanes, buffer.is_local) << buffer.node->name;
  }
  EXPECT_TRUE(s.stores.back().sums_lanes);
  EXPECT_FALSE(s.stores.front().sums_lanes);
}

TEST(SummaryTest, CountsAMultiplyAddAsOneOperation) {
  const ProgramSummary s = Summarize(Parse(kTiled));
  EXPECT_EQ(Op(s.stores[1], OpClass::kFloatMad), 1);
  EXPECT_EQ(Op(s.stores[1], OpClass::kFloatMul), 0);
  EXPECT_TRUE(s.stores[1].is_reduction);
  EXPECT_FALSE(s.stores[0].is_reduction);
}

TEST(SummaryTest, SeesIndicesThroughBlockBindings) {
  const ProgramSummary s = Summarize(Parse(kTiled));
  const StoreSummary& update = s.stores[1];
  ASSERT_EQ(update.accesses.size(), 3u);
  const AccessSummary& b = update.accesses[2];
  ASSERT_EQ(b.dims[1].terms.size(), 2u);
  EXPECT_EQ(b.dims[1].terms[0].coefficient, 16);
  EXPECT_EQ(b.dims[1].terms[1].coefficient, 1);
  EXPECT_EQ(Span(s, b.dims[1], 0, 64), 64);
  EXPECT_EQ(Span(s, b.dims[1], 2, 64), 16);
}

TEST(SummaryTest, ShrinksIntermediateBuffersToOneIteration) {
  const ProgramSummary s = Summarize(Parse(kTiled));
  const BufferSummary& acc = s.buffers[s.stores[1].accesses[0].buffer];
  EXPECT_TRUE(acc.is_local);
  EXPECT_FALSE(acc.is_param);
  EXPECT_EQ(acc.extents, (std::vector<int64_t>{4, 16}));
  EXPECT_EQ(s.loops[acc.owner_loop].depth, 1);
}

TEST(SummaryTest, DividesFusedLoops) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 8, 16), "float32"), B: T.Buffer((8, 128), "float32")):
    for f in range(64):
        for v in range(16):
            with T.block("B"):
                vi = T.axis.spatial(8, f // 8)
                vj = T.axis.spatial(128, f % 8 * 16 + v)
                B[vi, vj] = A[vi, vj // 16, vj % 16]
)"));
  const AccessSummary& a = s.stores[0].accesses[1];
  EXPECT_EQ(Span(s, a.dims[0], 0, 8), 8);
  EXPECT_EQ(Span(s, a.dims[1], 0, 8), 8);
  EXPECT_EQ(Span(s, a.dims[2], 0, 16), 16);
  EXPECT_EQ(Span(s, a.dims[1], 1, 8), 1);
  EXPECT_EQ(Span(s, a.dims[2], 1, 16), 16);
  EXPECT_EQ(a.dims[2].terms.size(), 1u);
}

// Two panels of 48, each for three rows.
TEST(SummaryTest, QuotientsReachWholeNumbers) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((97,), "float32"), B: T.Buffer((3, 96), "float32")):
    for f in range(6):
        for v in range(48):
            with T.block("B"):
                vi = T.axis.spatial(3, f % 3)
                vj = T.axis.spatial(96, f // 3 * 48 + v)
                B[vi, vj] = A[vj]
)"));
  const ApproximateDim& d = s.stores[0].accesses[1].dims[0];
  ASSERT_EQ(d.terms.size(), 2u);
  EXPECT_EQ(d.terms[0].coefficient, 16);
  EXPECT_EQ(d.terms[0].step, 48);
  EXPECT_EQ(d.terms[0].reach, 48);
}

// Loops go to 32; the iterator, to 28.
TEST(SummaryTest, QuotientsKnowTheDomainsOfIterators) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((2, 28), "float32"), B: T.Buffer((8, 28), "float32")):
    for i, c_0 in T.grid(8, 2):
        for c_1 in range(16):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                vc = T.axis.spatial(28, c_0 * 16 + c_1)
                T.where(c_0 * 16 + c_1 < 28)
                B[vi, vc] = A[(vc * 2 + 1) // 56, (vc + 0) % 28]
)"));
  const AccessSummary& a = s.stores[0].accesses[1];
  EXPECT_TRUE(a.dims[0].terms.empty());
  ASSERT_EQ(a.dims[1].terms.size(), 2u);
  EXPECT_EQ(a.dims[1].terms[1].reach, 15);
}

TEST(SummaryTest, FusedLoopsChooseAPanelAndNothingWithinIt) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((16, 48), "float32"), B: T.Buffer((8, 768), "float32")):
    for f in range(128):
        for u in range(3):
            for v in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(8, f % 8)
                    vj = T.axis.spatial(768, f // 8 * 48 + u * 16 + v)
                    B[vi, vj] = A[vj // 48, vj % 48]
)"));
  const AccessSummary& a = s.stores[0].accesses[1];
  ASSERT_EQ(a.dims[0].terms.size(), 1u);
  EXPECT_EQ(a.dims[0].terms[0].loop, 0);
  ASSERT_EQ(a.dims[1].terms.size(), 2u);
  EXPECT_EQ(a.dims[1].terms[0].loop, 1);
  EXPECT_EQ(a.dims[1].terms[1].coefficient, 1);
  EXPECT_EQ(Span(s, a.dims[1], 1, 48), 48);
}

TEST(SummaryTest, StepsThatCannotCarryDoNotMoveAQuotient) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((256,), "float32")):
    for o in range(16):
        for v in range(16):
            with T.block("B"):
                vi = T.axis.spatial(256, o * 16 + v)
                B[vi] = A[vi // 64]
)"));
  const AccessSummary& a = s.stores[0].accesses[1];
  ASSERT_EQ(a.dims[0].terms.size(), 1u);  // only every fourth o
  EXPECT_EQ(a.dims[0].terms[0].loop, 0);
  EXPECT_EQ(Span(s, a.dims[0], 0, 4), 4);
  EXPECT_EQ(Span(s, a.dims[0], 1, 4), 1);
}

TEST(SummaryTest, StepsThatCanCarryMoveAQuotient) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((5,), "float32"), B: T.Buffer((256,), "float32")):
    for o in range(16):
        for v in range(16):
            with T.block("B"):
                vi = T.axis.spatial(256, o * 16 + v)
                B[vi] = A[(vi + 8) // 64]
)"));
  EXPECT_EQ(s.stores[0].accesses[1].dims[0].terms.size(), 2u);
}

TEST(SummaryTest, MergesAccessesThatDifferInConstants) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((66,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[vi] + A[vi + 1] + A[vi + 2]
)"));
  ASSERT_EQ(s.stores[0].accesses.size(), 2u);
  const AccessSummary& a = s.stores[0].accesses[1];
  EXPECT_EQ(a.count, 3);
  EXPECT_EQ(a.dims[0].width, 3);
  EXPECT_EQ(Span(s, a.dims[0], 0, 66), 66);
}

TEST(SummaryTest, QuadrantsAreFarFromEachOther) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((32, 32), "float32")):
    for i, j in T.grid(32, 32):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi + 32, vj] + A[vi, vj + 1]
)"));
  ASSERT_EQ(s.stores[0].accesses.size(), 3u);
  const AccessSummary& a = s.stores[0].accesses[1];
  EXPECT_EQ(a.count, 2);
  EXPECT_EQ(a.dims[0].width, 1);
  EXPECT_EQ(a.dims[1].width, 2);
}

TEST(SummaryTest, ChoicesThatUnrollingDecidesCountInTheirShares) {
  for (const bool unrolled : {true, false}) {
    const ProgramSummary s = Summarize(Parse(std::string(R"(
@T.prim_func
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((4, 32), "float32")):
    for p in )") + (unrolled ? "T.unroll(4)" : "range(4)") +
                                             R"(:
        for j in range(32):
            with T.block("B"):
                vp, vj = T.axis.remap("SS", [p, j])
                B[vp, vj] = T.if_then_else(vp == 0, A[vj] + T.float32(1), T.if_then_else(vp == 1, A[vj] + T.float32(2), A[vj]))
)"));
    const double adds =
        s.stores[0].ops[static_cast<int>(OpClass::kFloatAddSub)];
    EXPECT_NEAR(adds, unrolled ? 0.5 : 2, 1e-9);
  }
}

TEST(SummaryTest, KnowsWhatPredicatesCutOff) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((100,), "float32"), B: T.Buffer((100,), "float32")):
    for i_0, i_1 in T.grid(7, 16):
        with T.block("B"):
            vi = T.axis.spatial(100, i_0 * 16 + i_1)
            T.where(i_0 * 16 + i_1 < 100)
            B[vi] = T.exp(A[vi])
)"));
  EXPECT_NEAR(s.stores[0].share, 100.0 / 112, 1e-12);
  EXPECT_TRUE(s.stores[0].predicated);
  EXPECT_EQ(Op(s.stores[0], OpClass::kFloatMath), 1);
}

TEST(SummaryTest, BitsAndKnownQuotientsAreNoFunctions) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(W: T.Buffer((8, 64), "int32"), B: T.Buffer((8, 64), "int32")):
    for n, k in T.grid(8, 64):
        with T.block("B"):
            vn, vk = T.axis.remap("SS", [n, k])
            B[vn, vk] = T.bitwise_and(T.shift_right(W[vn, vk], vk % 8), 15) + vk // 6 + T.popcount(W[vn, vk])
)"));
  EXPECT_GE(Op(s.stores[0], OpClass::kIntOther), 3);
  EXPECT_EQ(Op(s.stores[0], OpClass::kIntMul), 1);
  EXPECT_EQ(Op(s.stores[0], OpClass::kIntMath), 1);
  EXPECT_EQ(Op(s.stores[0], OpClass::kIntDivMod), 0);
}

TEST(SummaryTest, KnowsWhichTapsAreOnPadding) {
  // Two loops make the rows; 19 of 21 pairs of a row and a tap are inside, and
  // so are 11 of 12 of a column and a tap two apart.
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((7, 8, 16), "float32"), W: T.Buffer((3, 2, 16), "float32"), B: T.Buffer((7, 6, 16), "float32")):
    for h, w_0, w_1, c, p, q in T.grid(7, 3, 2, 16, 3, 2):
        with T.block("B"):
            vh, vc, vp, vq = T.axis.remap("SSRR", [h, c, p, q])
            vw = T.axis.spatial(6, w_0 * 2 + w_1)
            B[vh, vw, vc] = B[vh, vw, vc] + T.if_then_else(1 <= vh + vp and vh + vp < 8 and 2 <= vw + vq * 2 + 1, A[vh + vp - 1, vw + vq * 2, vc], T.float32(0)) * W[vp, vq, vc]
)"));
  EXPECT_NEAR(s.stores[0].added, 19.0 / 21 * 11 / 12, 1e-12);
  EXPECT_EQ(Op(s.stores[0], OpClass::kSelect), 0);
  EXPECT_EQ(Op(s.stores[0], OpClass::kFloatMad), 1);
}

TEST(SummaryTest, EveryOtherStepOfALoopIsNotLeftOut) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), W: T.Buffer((2,), "float32"), B: T.Buffer((16,), "float32")):
    for h, p in T.grid(16, 2):
        with T.block("B"):
            vh, vp = T.axis.remap("SR", [h, p])
            B[vh] = B[vh] + T.if_then_else((vh + vp) % 2 == 0, A[(vh + vp) // 2], T.float32(0)) * W[vp]
)"));
  EXPECT_EQ(s.stores[0].added, 1);
}

// h = 2 * row + phase, p = 2 * half + q: the phases decide the equation, which
// holds for one of two; padding inside of the other choice counts as well.
TEST(SummaryTest, PhasesLeaveOutWhatTheirEquationsSay) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((9,), "float32"), W: T.Buffer((4,), "float32"), B: T.Buffer((2, 8), "float32")):
    for f, half, q in T.grid(16, 2, 2):
        with T.block("B"):
            T.block_attr({"kiln.phases": True})
            vp = T.axis.spatial(2, f // 8)
            vr = T.axis.spatial(8, f % 8)
            vh, vq = T.axis.remap("RR", [half, q])
            B[vp, vr] = B[vp, vr] + T.if_then_else(vr < 6, T.if_then_else((vr * 2 + vp + vh * 2 + vq + 1) % 2 == 0, A[vr + vh], T.float32(0)), T.float32(0)) * W[vh * 2 + vq]
)"));
  EXPECT_NEAR(s.stores[0].added, 0.75 * 0.5, 1e-12);
  EXPECT_EQ(Op(s.stores[0], OpClass::kSelect), 0);
}

TEST(SummaryTest, ChoicesThatAreNoFactorOfWhatIsAddedCount) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.if_then_else(vi < 4, A[vi], T.float32(0))
)"));
  EXPECT_EQ(s.stores[0].added, 1);
  EXPECT_EQ(Op(s.stores[0], OpClass::kSelect), 1);
}

TEST(SummaryTest, TakesIndicesThatDependOnDataForAnywhere) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((100,), "float32"), I: T.Buffer((8,), "int32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[I[vi]]
)"));
  EXPECT_EQ(Span(s, s.stores[0].accesses[1].dims[0], 0, 100), 100);
}

TEST(SummaryTest, PutsInitialisationsBeforeTheirUpdates) {
  const ProgramSummary s = Summarize(Parse(R"(
@T.prim_func
def main(A: T.Buffer((8, 32), "float32"), B: T.Buffer((8,), "float32")):
    for i, k in T.grid(8, 32):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
)"));
  ASSERT_EQ(s.stores.size(), 2u);
  EXPECT_TRUE(s.stores[0].is_init);
  EXPECT_TRUE(s.stores[1].is_reduction);
  EXPECT_EQ(s.stores[0].block, s.stores[1].block);
}

// All of it exists ahead of the call, however few columns an iteration reads.
TEST(SummaryTest, WhatIsPreparedIsAsLargeAsItsShape) {
  const auto text = [](const std::string& cold) {
    return R"(
@T.prim_func
def main(w: T.Buffer((64, 48), "float32"), y: T.Buffer((48, 64), "float32")):
    T.func_attr({"layout_free_buffers": [0])" +
           cold + R"(})
    t = T.alloc_buffer((48, 64))
    for i, j in T.grid(48, 64):
        with T.block("t"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            t[vi, vj] = w[vj, vi]
    for i, j in T.grid(48, 64):
        with T.block("y"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = t[vi, vj] * T.float32(2)
)";
  };
  const ProgramSummary warm = Summarize(Parse(text("")));
  ASSERT_EQ(warm.stores.size(), 1u);
  ASSERT_EQ(warm.stores[0].accesses.size(), 2u);
  const BufferSummary& t = warm.buffers[warm.stores[0].accesses[1].buffer];
  EXPECT_EQ(t.extents, std::vector<int64_t>({48, 64}));
  EXPECT_FALSE(t.is_cold);
  const ProgramSummary cold =
      Summarize(Parse(text(", \"cold_constants\": True")));
  EXPECT_TRUE(cold.buffers[cold.stores[0].accesses[1].buffer].is_cold);
  EXPECT_FALSE(cold.buffers[cold.stores[0].accesses[0].buffer].is_cold);
}

}  // namespace
}  // namespace kiln
