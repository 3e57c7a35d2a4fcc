#include "kiln/search/cost/analytic.h"

#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/testing/random_trace.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/search/cost/hopeless.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// 100 GFLOP/s a core: a vector multiply-add each 0.32 ns.
Machine TestMachine() {
  Machine m;
  m.cores = 2;
  m.vectors = kAvx512Registers;
  m.gflops = 100;
  m.all_gflops = 200;
  m.levels = {{{32 << 10, 300, 150, 600, 300},
               {1 << 20, 100, 50, 200, 100},
               {32 << 20, 30, 20, 60, 40},
               {0, 15, 10, 20, 15}}};
  return m;
}

TimeEstimate Estimate(const std::string& text, int threads = 1,
                      const Machine& machine = TestMachine()) {
  absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  return f.ok() ? EstimateTime(Summarize(*f), machine, threads)
                : TimeEstimate();
}

// C[256, 256] += A[256, 256] * B[256, 256] in tiles of `rows` x `vectors`.
std::string Matmul(int rows, int vectors, const std::string& outer = "T.serial",
                   int size = 256) {
  return absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($4, $4), "float32"), B: T.Buffer(($4, $4), "float32"), C: T.Buffer(($4, $4), "float32")):
    for i_0 in $2($0):
        for j_0, k in T.grid($1, $4):
            for i_1 in T.unroll($3):
                for j_1 in T.unroll($5):
                    for v in T.vectorized(16):
                        with T.block("C"):
                            vi = T.axis.spatial($4, i_0 * $3 + i_1)
                            vj = T.axis.spatial($4, j_0 * $6 + j_1 * 16 + v)
                            vk = T.axis.reduce($4, k)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
      size / rows, size / (16 * vectors), outer, rows, size, vectors,
      16 * vectors);
}

TEST(AnalyticTest, ArithmeticBoundsAGoodTile) {
  const TimeEstimate e = Estimate(Matmul(8, 2));
  const double ideal = 2.0 * 256 * 256 * 256 / 100e9;
  EXPECT_NEAR(e.stores[0].arithmetic / ideal, 1, 0.01);
  EXPECT_GT(e.seconds, ideal);
  EXPECT_LT(e.seconds, 2 * ideal);
}

TEST(AnalyticTest, CountsTheRegistersOfTheTile) {
  // 8 x 2 accumulators and two operands that the rows share; the other operand
  // is read from memory by the operation.
  EXPECT_EQ(Estimate(Matmul(8, 2)).stores[0].registers, 18);
  EXPECT_EQ(Estimate(Matmul(4, 4)).stores[0].registers, 20);
}

TEST(AnalyticTest, SpilledTilesAreSlower) {
  EXPECT_GT(Estimate(Matmul(16, 4)).seconds,
            1.5 * Estimate(Matmul(8, 2)).seconds);
}

// 6 x 4 vectors of accumulators, and `unrolled` steps of k in straight code.
std::string Unrolled(int unrolled) {
  return absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer((192, 192), "float32"), B: T.Buffer((192, 192), "float32"), C: T.Buffer((192, 192), "float32")):
    for i_0, j_0, k_0 in T.grid(32, 3, $0):
        for k_1 in T.unroll($1):
            for i_1 in T.unroll(6):
                for j_1 in T.unroll(4):
                    for v in T.vectorized(16):
                        with T.block("C"):
                            vi = T.axis.spatial(192, i_0 * 6 + i_1)
                            vj = T.axis.spatial(192, j_0 * 64 + j_1 * 16 + v)
                            vk = T.axis.reduce(192, k_0 * $1 + k_1)
                            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
      192 / unrolled, unrolled);
}

// Code generation keeps steps apart (codegen/llvm/separate_steps.h).
TEST(AnalyticTest, StepsThatAreUnrolledShareTheRegistersOfTheirOperands) {
  EXPECT_LT(Estimate(Unrolled(2)).seconds, Estimate(Unrolled(1)).seconds);
  EXPECT_LT(Estimate(Unrolled(4)).seconds, Estimate(Unrolled(2)).seconds);
}

// 30 sums of a convolution with 3 taps along x, in a loop of `kind`.
std::string Taps(const std::string& kind) {
  return absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer((92, 960), "float32"), B: T.Buffer((3, 960), "float32"), C: T.Buffer((90, 960), "float32")):
    for x_0, c_0 in T.grid(3, 60):
        for t in $0(3):
            for x_1 in T.unroll(30):
                for v in T.vectorized(16):
                    with T.block("C"):
                        vx = T.axis.spatial(90, x_0 * 30 + x_1)
                        vc = T.axis.spatial(960, c_0 * 16 + v)
                        vt = T.axis.reduce(3, t)
                        C[vx, vc] = C[vx, vc] + A[vx + vt, vc] * B[vt, vc]
)",
      kind);
}

TEST(AnalyticTest, ElementsThatSeveralTapsReadTakeNoRegistersFromSums) {
  const StoreEstimate unrolled = Estimate(Taps("T.unroll")).stores[0];
  const StoreEstimate serial = Estimate(Taps("T.serial")).stores[0];
  EXPECT_LE(unrolled.registers, 32);
  EXPECT_LE(unrolled.arithmetic, serial.arithmetic);
}

// Seconds of loads of a row of depthwise sums: 3 taps at 7 pixels, `step`
// apart.
double SecondsOfWindows(int step) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((1024, 16), "float32"), W: T.Buffer((3, 16), "float32"), C: T.Buffer((280, 16), "float32")):
    for x_0 in range(40):
        for r in T.unroll(3):
            for x_1 in T.unroll(7):
                for lane in T.vectorized(16):
                    with T.block("C"):
                        vx = T.axis.spatial(280, x_0 * 7 + x_1)
                        vc = T.axis.spatial(16, lane)
                        vr = T.axis.reduce(3, r)
                        C[vx, vc] = C[vx, vc] + A[vx * $0 + vr, vc] * W[vr, vc]
)",
                                            step);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), TestMachine(), 1).stores[0].transfer[0];
}

// 9 places of A, or 15, or 21 where no pixel shares one with another; beside
// them 3 of W, and sums that are loaded, and stored at half the speed.
TEST(AnalyticTest, PlacesThatWindowsShareAreLoadedOnce) {
  constexpr double kOthers = 3 + 7 + 2 * 7;
  const double apart = SecondsOfWindows(3);
  EXPECT_NEAR(SecondsOfWindows(1) / apart, (9 + kOthers) / (21 + kOthers),
              0.001);
  EXPECT_NEAR(SecondsOfWindows(2) / apart, (15 + kOthers) / (21 + kOthers),
              0.001);
}

// Seconds of the first cache for 300 vectors that go through a buffer of one,
// `inner` of them in a loop that is unrolled unasked.
double NearSecondsThroughBuffer(int inner) {
  const absl::StatusOr<Function> f =
      ParseFunction("test", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((4800,), "float32"), Y: T.Buffer((4800,), "float32")):
    B = T.alloc_buffer((4800,), "float32", scope="local")
    for i in range($0):
        for j in range($1):
            for lane in T.vectorized(16):
                with T.block("B"):
                    v = T.axis.spatial(4800, (i * $1 + j) * 16 + lane)
                    B[v] = A[v] + A[v]
            for lane in T.vectorized(16):
                with T.block("Y"):
                    v = T.axis.spatial(4800, (i * $1 + j) * 16 + lane)
                    Y[v] = B[v] * B[v]
)",
                                             300 / inner, inner));
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), TestMachine(), 1).stores[0].transfer[0];
}

TEST(AnalyticTest, ABufferWithinASmallLoopIsAnotherOneEachTime) {
  EXPECT_NEAR(NearSecondsThroughBuffer(3) / NearSecondsThroughBuffer(1), 1,
              0.001);
}

// Seconds of the first cache, which gives half a vector in the time of a load;
// rows of A have as many elements.
double NearSeconds(int rows, int vectors, int row_of_a, int row_of_b = 256) {
  Machine machine = TestMachine();
  machine.levels[0].read_gbs = 100;
  const absl::StatusOr<Function> f = ParseFunction(
      "test", absl::StrReplaceAll(
                  Matmul(rows, vectors),
                  {{"A: T.Buffer((256, 256)",
                    absl::StrCat("A: T.Buffer((256, ", row_of_a, ")")},
                   {"B: T.Buffer((256, 256)",
                    absl::StrCat("B: T.Buffer((256, ", row_of_b, ")")}}));
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), machine, 1).stores[0].transfer[0];
}

TEST(AnalyticTest, NumbersForAllLanesCostALoadEachNotAVector) {
  // 8 numbers and 2 vectors for 16 operations; 4 and 4 for as many.
  EXPECT_LT(NearSeconds(8, 2, 260), 1.1 * NearSeconds(4, 4, 260));
}

// Arithmetic of a tile of `rows` x 16 elements with the registers of SSE.
double SseSeconds(int rows, bool broadcasts,
                  const std::string& dtype = "float32") {
  Machine machine = TestMachine();
  machine.vectors = kSseRegisters;
  machine.vectors.broadcasts = broadcasts;
  const absl::StatusOr<Function> f = ParseFunction(
      "test", absl::StrReplaceAll(Matmul(rows, 1), {{"float32", dtype}}));
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), machine, 1).stores[0].arithmetic;
}

// One more for each number, beside the multiplications and additions of 4
// registers.
TEST(AnalyticTest, NumbersForAllLanesAreShuffledWhereLoadsDoNotGiveThem) {
  EXPECT_GT(SseSeconds(2, false) / SseSeconds(2, true), 1.1);
  EXPECT_EQ(SseSeconds(2, false, "float64"), SseSeconds(2, true, "float64"));
}

// Reads 4800 elements, `buffer` and `index` of A, in vectors of 16.
double SecondsOfRow(const std::string& shape, const std::string& index) {
  return Estimate(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer($0, "float32"), B: T.Buffer((4800,), "float32")):
    for i in range(300):
        for v in T.vectorized(16):
            with T.block("B"):
                vi = T.axis.spatial(4800, i * 16 + v)
                B[vi] = A[$1] * T.float32(2)
)",
                                   shape, index))
      .seconds;
}

TEST(AnalyticTest, AQuotientAndItsRemainderGoOnByOne) {
  const double flat = SecondsOfRow("(4800,)", "vi");
  EXPECT_NEAR(SecondsOfRow("(48, 100)", "vi // 100, vi % 100") / flat, 1, 0.05);
  EXPECT_GT(SecondsOfRow("(9600,)", "vi * 2"), 1.2 * flat);
}

// Of dots of 64 rows, lanes of which are folded and then added up in a block
// with the mark `mark`.
TimeEstimate DotsOfRows(const std::string& mark) {
  return Estimate(absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((64, 8), "float32"), C: T.Buffer((64,), "float32")):
    lanes = T.alloc_buffer((64, 8), scope="local")
    for i_0 in range(16):
        for i_1 in T.unroll(4):
            for v in T.vectorized(8):
                with T.block("lanes"):
                    vi = T.axis.spatial(64, i_0 * 4 + i_1)
                    vv = T.axis.spatial(8, v)
                    lanes[vi, vv] = A[vi, vv] * A[vi, vv]
        for i_1 in T.unroll(4):
            for v in T.unroll(8):
                with T.block("C"):
                    vi = T.axis.spatial(64, i_0 * 4 + i_1)
                    vv = T.axis.reduce(8, v)
                    T.block_attr({"$0": True})
                    with T.init():
                        C[vi] = T.float32(0)
                    C[vi] = C[vi] + lanes[vi, vv]
)",
                                   mark));
}

TEST(AnalyticTest, LanesThatAreAddedUpTogetherStayInRegisters) {
  const TimeEstimate apart = DotsOfRows("other");
  const TimeEstimate together = DotsOfRows("kiln.lane_sums");
  EXPECT_LT(together.seconds, 0.9 * apart.seconds);
}

TEST(AnalyticTest, VectorsOfRowsThatBeginWithinALineLieInTwo) {
  EXPECT_GT(NearSeconds(4, 4, 260, 257), 1.5 * NearSeconds(4, 4, 260));
  EXPECT_EQ(NearSeconds(4, 4, 260, 272), NearSeconds(4, 4, 260));
}

// A copy of 64 rows of 64 columns into panels of `steps` rows side by side.
double SecondsOfPanels(const std::string& dtype, int steps) {
  return Estimate(absl::Substitute(
                      R"(
@T.prim_func
def main(B: T.Buffer((64, 64), "$0"), P: T.Buffer((4096,), "$0")):
    for k in range(64 // $1):
        for v in T.vectorized(64 * $1):
            with T.block("P"):
                vk = T.axis.spatial(64 // $1, k)
                vv = T.axis.spatial(64 * $1, v)
                P[vk * 64 * $1 + vv] = B[vk * $1 + vv % $1, vv // $1]
)",
                      dtype, steps))
      .stores[0]
      .transfer[0];
}

TEST(AnalyticTest, BytesOfSomeRowsInTurnsAreLoadedRowByRow) {
  EXPECT_LT(SecondsOfPanels("int8", 4), 8 * SecondsOfPanels("int8", 1));
  EXPECT_LT(SecondsOfPanels("int8", 2), SecondsOfPanels("int8", 4));
}

TEST(AnalyticTest, NumbersAtTheSamePlaceInTheirLinesWaitForOneBank) {
  EXPECT_GT(NearSeconds(8, 2, 256), 1.1 * NearSeconds(8, 2, 260));
}

// Seconds of arithmetic of a convolution of three taps over rows of `width`
// pixels and 16 channels, in tiles of `rows` pixels.
double TapsSeconds(int width, int rows) {
  const TimeEstimate e = Estimate(absl::Substitute(
      R"(
@T.prim_func
def main(x: T.Buffer(($0, 64), "float32"), w: T.Buffer((3, 64, 16), "float32"), y: T.Buffer(($0, 16), "float32")):
    for i_0, tap, k in T.grid($2, 3, 64):
        for i_1 in T.unroll($1):
            for v in T.vectorized(16):
                with T.block("y"):
                    vi = T.axis.spatial($0, i_0 * $1 + i_1)
                    vv = T.axis.spatial(16, v)
                    vt = T.axis.reduce(3, tap)
                    vk = T.axis.reduce(64, k)
                    T.where(i_0 * $1 + i_1 < $0)
                    y[vi, vv] = y[vi, vv] + T.if_then_else(1 <= vi + vt and vi + vt < $0 + 1, x[vi + vt - 1, vk], T.float32(0)) * w[vt, vk, vv]
)",
      width, rows, (width + rows - 1) / rows));
  return e.stores.at(0).arithmetic;
}

// Of 40 rows in tiles of 12 the last four wait for themselves; in tiles of 14
// twelve are left, which do not.
TEST(AnalyticTest, FewRowsInTheLastTileWaitForThemselves) {
  EXPECT_GT(TapsSeconds(40, 12), 1.05 * TapsSeconds(40, 14));
  EXPECT_NEAR(TapsSeconds(40, 14) / TapsSeconds(40, 10), 1, 0.02);
}

// Seconds of arithmetic of `rows` rows in three tiles of six.
double ThreeTilesSeconds(int rows) {
  const TimeEstimate e = Estimate(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($0, 64), "float32"), B: T.Buffer((64, 32), "float32"), C: T.Buffer(($0, 32), "float32")):
    for i_0, k in T.grid(3, 64):
        for i_1 in T.unroll(6):
            for v in T.vectorized(32):
                with T.block("C"):
                    vi = T.axis.spatial($0, i_0 * 6 + i_1)
                    vv = T.axis.spatial(32, v)
                    vk = T.axis.reduce(64, k)
                    T.where(i_0 * 6 + i_1 < $0)
                    C[vi, vv] = C[vi, vv] + A[vi, vk] * B[vk, vv]
)",
      rows));
  return e.stores.at(0).arithmetic;
}

TEST(AnalyticTest, TilesWithoutARowTakeNoTime) {
  EXPECT_NEAR(ThreeTilesSeconds(1) / ThreeTilesSeconds(18), 1.0 / 3, 0.01);
  EXPECT_NEAR(ThreeTilesSeconds(13) / ThreeTilesSeconds(18), 1, 0.01);
}

TEST(AnalyticTest, ATileOfOneVectorWaitsForItself) {
  EXPECT_GT(Estimate(Matmul(1, 1)).seconds, 3 * Estimate(Matmul(8, 2)).seconds);
}

TEST(AnalyticTest, PrunesTilesFarBeyondTheRegisters) {
  std::string why;
  EXPECT_TRUE(IsHopeless(Estimate(Matmul(32, 4)), 0, 8, &why));
  EXPECT_THAT(why, HasSubstr("register"));
  EXPECT_FALSE(IsHopeless(Estimate(Matmul(8, 2)), 0, 8, &why));
  EXPECT_EQ(why, "");
}

TEST(AnalyticTest, PrunesWhatIsFarBehindTheBest) {
  const TimeEstimate e = Estimate(Matmul(1, 1));
  std::string why;
  EXPECT_TRUE(IsHopeless(e, e.seconds / 10, 8, &why));
  EXPECT_THAT(why, HasSubstr("times the best"));
  EXPECT_FALSE(IsHopeless(e, e.seconds / 4, 8));
}

TEST(AnalyticTest, ParallelLoopsDivideByThreads) {
  const TimeEstimate serial = Estimate(Matmul(8, 2), 2);
  const TimeEstimate parallel = Estimate(Matmul(8, 2, "T.parallel"), 2);
  EXPECT_NEAR(parallel.stores[0].busy_threads, 2, 1e-9);
  EXPECT_LT(parallel.seconds, 0.6 * serial.seconds);
  EXPECT_GT(parallel.seconds, 0.4 * serial.seconds);
}

TEST(AnalyticTest, StoresOfOneParallelLoopShareItsLaunch) {
  const TimeEstimate estimate = Estimate(R"(
@T.prim_func
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
    for i in T.parallel(4):
        for j in T.vectorized(16):
            with T.block("B"):
                v = T.axis.spatial(64, i * 16 + j)
                B[v] = A[v]
        for j in T.vectorized(16):
            with T.block("C"):
                v = T.axis.spatial(64, i * 16 + j)
                C[v] = A[v]
)",
                                         2);
  ASSERT_EQ(estimate.stores.size(), 2u);
  EXPECT_GT(estimate.stores[0].overhead, 10 * estimate.stores[1].overhead);
}

TEST(AnalyticTest, UnevenSharesOfAParallelLoopIdle) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((3, 65536), "float32"), B: T.Buffer((3, 65536), "float32")):
    for i in T.parallel(3):
        for j_0 in range(4096):
            for j_1 in T.vectorized(16):
                with T.block("B"):
                    vi = T.axis.spatial(3, i)
                    vj = T.axis.spatial(65536, j_0 * 16 + j_1)
                    B[vi, vj] = A[vi, vj] + T.float32(1)
)";
  EXPECT_NEAR(Estimate(text, 2).stores[0].busy_threads, 1.5, 1e-9);
  EXPECT_NEAR(Estimate(text, 4).stores[0].busy_threads, 3, 1e-9);
}

TEST(AnalyticTest, TailsWasteLanes) {
  const auto text = [](int lanes) {
    return absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((1024, $0), "float32"), B: T.Buffer((1024, $0), "float32")):
    for i in range(1024):
        for j in T.vectorized($0):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
)",
                            lanes);
  };
  EXPECT_EQ(Estimate(text(32)).stores[0].lane_use, 1);
  EXPECT_NEAR(Estimate(text(17)).stores[0].lane_use, 17.0 / 32, 1e-9);
  EXPECT_NEAR(Estimate(text(4)).stores[0].lane_use, 4.0 / 16, 1e-9);
}

TEST(AnalyticTest, BytesOverBandwidthBoundACopy) {
  // 64 MiB in, 64 MiB out: both come from the memory.
  const TimeEstimate e = Estimate(R"(
@T.prim_func
def main(A: T.Buffer((1048576, 16), "float32"), B: T.Buffer((1048576, 16), "float32")):
    for i in range(1048576):
        for j in T.vectorized(16):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
)");
  const double bytes = 64.0 * 1048576;
  const double ideal = bytes / 15e9 + bytes / 10e9;
  EXPECT_NEAR(e.stores[0].transfer[3] / ideal, 1, 0.01);
  EXPECT_GT(e.seconds, ideal);
}

TEST(AnalyticTest, WhatFitsACacheIsNotFetchedAgain) {
  const TimeEstimate e = Estimate(Matmul(8, 2, "T.serial", 64));
  EXPECT_EQ(e.stores[0].transfer[2], 0);
  EXPECT_EQ(e.stores[0].transfer[3], 0);
}

TEST(AnalyticTest, ColumnsOfPowerOfTwoRowsFallIntoFewSets) {
  // A column of 64 lines, read 16 times: with rows of 4096 bytes its lines are
  // in one set of the first cache, with rows of 4160 in all.
  const auto text = [](int row) {
    return absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((64, $0), "float32"), B: T.Buffer((16, 64), "float32")):
    for j in range(16):
        for i in range(64):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vj, vi] = A[vi, vj]
)",
                            row);
  };
  EXPECT_GT(Estimate(text(1024)).stores[0].transfer[1], 0);
  EXPECT_EQ(Estimate(text(1040)).stores[0].transfer[1], 0);
}

TEST(AnalyticTest, IsPositiveAndFiniteForEveryWorkload) {
  for (const WorkloadInfo& info : Workloads()) {
    KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(info.name));
    const TimeEstimate e =
        EstimateTime(Summarize(module.functions[0]), TestMachine(), 2);
    EXPECT_GT(e.seconds, 0) << info.name;
    EXPECT_TRUE(std::isfinite(e.seconds)) << info.name;
  }
}

TEST(AnalyticTest, IsPositiveAndFiniteForRandomSchedules) {
  StepCounts counts;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    KILN_ASSERT_OK_AND_ASSIGN(
        Schedule sch, RandomSchedule(RandomProgram(seed), seed, &counts));
    const Function f = sch.ToModule().functions[0];
    const TimeEstimate e = EstimateTime(Summarize(f), TestMachine(), 2);
    ASSERT_GT(e.seconds, 0);
    ASSERT_TRUE(std::isfinite(e.seconds));
    EXPECT_EQ(EstimateTime(Summarize(f), TestMachine(), 2).seconds, e.seconds);
  }
}

// Sums of 32 x 32 over 2048 bytes, `mark` on the loop over tiles.
std::string Tiles(const std::string& mark) {
  return absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((32, 32, 64), "int8"), B: T.Buffer((32, 2, 16, 16, 4), "int8"), C: T.Buffer((2, 2, 16, 16), "int32")):
    for k in T.serial(32, annotations={"$0": True}):
        for i, j, kg, ks, ir in T.grid(2, 2, 16, 4, 16):
            for jr in T.vectorized(16):
                with T.block("C"):
                    v = T.axis.spatial(32, i * 16 + ir)
                    w = T.axis.spatial(32, j * 16 + jr)
                    u = T.axis.reduce(2048, k * 64 + kg * 4 + ks)
                    C[v // 16, w // 16, v % 16, w % 16] = C[v // 16, w // 16, v % 16, w % 16] + T.Cast("int32", A[u // 64, v, u % 64]) * T.Cast("int32", B[u // 64, w // 16, u % 64 // 4, w % 16, u % 4])
)",
                          mark);
}

TEST(Analytic, ProductsOfTilesTakeSixteenCycles) {
  Machine machine = TestMachine();
  machine.vectors.tiles.bytes = true;
  const StoreEstimate tiles =
      Estimate(Tiles("kiln.tile_product"), 1, machine).stores[0];
  // 128 of them, of 32 multiply-adds of vectors each.
  EXPECT_NEAR(tiles.arithmetic, 128 * 32 * 0.32e-9, 1e-9);
  EXPECT_LT(tiles.transfer[0], tiles.arithmetic);
  const StoreEstimate unmarked = Estimate(Tiles("note"), 1, machine).stores[0];
  EXPECT_GT(unmarked.seconds, 10 * tiles.seconds);
  const StoreEstimate elsewhere =
      Estimate(Tiles("kiln.tile_product")).stores[0];
  EXPECT_DOUBLE_EQ(elsewhere.seconds, unmarked.seconds);
}

}  // namespace
}  // namespace kiln
