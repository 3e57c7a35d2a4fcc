// Programs whose traffic is known by counting: a few loops over arrays that fit
// a level of memory, or do not, by their sizes and by the sets that their rows
// fall into. What a level serves is compared with the bytes touched.
#include "kiln/search/cost/transfer.h"

#include <string>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/analytic.h"
#include "kiln/search/cost/nest.h"

namespace kiln {
namespace {

// What a level serves because the one before it is too small.
constexpr int kL2 = 1;
constexpr int kL3 = 2;

// The first level has 8 ways of 4 KiB.
Machine TestMachine() {
  Machine m;
  m.vectors = kAvx512Registers;
  m.l1_ways = 8;
  m.gflops = m.all_gflops = 100;
  m.levels = {{{32 << 10, 300, 150, 300, 150},
               {1 << 20, 100, 100, 100, 100},
               {32 << 20, 30, 20, 30, 20},
               {0, 15, 10, 15, 10}}};
  return m;
}

// Bytes from the second level for C[rows, 48] += A[rows, 3072] * B[3072, 48].
// Rows of A are 12 KiB apart: all in the same sets of the first level.
double BytesFromL2(int rows) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer(($0, 3072), "float32"), B: T.Buffer((3072, 48), "float32"), C: T.Buffer(($0, 48), "float32")):
    for k in range(3072):
        for i in T.unroll($0):
            for j_0 in T.unroll(3):
                for j_1 in T.vectorized(16):
                    with T.block("C"):
                        vi = T.axis.spatial($0, i)
                        vj = T.axis.spatial(48, j_0 * 16 + j_1)
                        vk = T.axis.reduce(3072, k)
                        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                                            rows);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const TimeEstimate e = EstimateTime(Summarize(*f), TestMachine(), 1);
  return e.stores[0].transfer[kL2] * 100e9;
}

double BytesTouched(int rows) {
  return 4.0 * (rows * 3072 + 3072 * 48 + 2 * rows * 48);
}

// Rows of A leave room for little else, but what C is added up in stays in
// registers, and the line of a row is still there for the next k.
TEST(TransferTest, WhatTheNextStepUsesAgainMovesOnce) {
  EXPECT_NEAR(BytesFromL2(4) / BytesTouched(4), 1, 0.05);
  EXPECT_NEAR(BytesFromL2(6) / BytesTouched(6), 1, 0.05);
}

TEST(TransferTest, MoreRowsInTheSameSetsThanThereAreWaysPushEachOtherOut) {
  EXPECT_GT(BytesFromL2(9), 3 * BytesTouched(9));
}

// Seven parts of 16 KiB, in the same sets, are read for two sums of each
// element, which are next to each other.
TEST(TransferTest, WhatAnUnrolledLoopDoesNotMoveIsReadOnce) {
  const absl::StatusOr<Function> f = ParseFunction("test", R"(
@T.prim_func
def main(P: T.Buffer((7, 64, 64), "float32"), C: T.Buffer((64, 128), "float32")):
    for i in range(64):
        for j_0 in range(4):
            for q in T.unroll(2):
                for j_1 in T.vectorized(16):
                    with T.block("C"):
                        vi = T.axis.spatial(64, i)
                        vq = T.axis.spatial(2, q)
                        vj = T.axis.spatial(64, j_0 * 16 + j_1)
                        C[vi, vq * 64 + vj] = P[0, vi, vj] + P[1, vi, vj] + P[2, vi, vj] + P[3, vi, vj] + P[4, vi, vj] + P[5, vi, vj] + P[6, vi, vj]
)");
  KILN_ASSERT_OK(f.status());
  const TimeEstimate e = EstimateTime(Summarize(*f), TestMachine(), 1);
  const double touched = 4.0 * (7 * 64 * 64 + 64 * 128);
  EXPECT_LT(e.stores[0].transfer[kL2] * 100e9 / touched, 1.5);
}

// A panel of 256 rows of 16 columns, 16 KiB, read for each of 32 tiles of rows.
double PanelSecondsFromL2(int columns) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((128, 256), "float32"), B: T.Buffer((256, $0), "float32"), C: T.Buffer((128, $0), "float32")):
    for j_0, i_0, k in T.grid($1, 32, 256):
        for i_1 in T.unroll(4):
            for j_1 in T.vectorized(16):
                with T.block("C"):
                    vi = T.axis.spatial(128, i_0 * 4 + i_1)
                    vj = T.axis.spatial($0, j_0 * 16 + j_1)
                    vk = T.axis.reduce(256, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)",
                                            columns, columns / 16);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), TestMachine(), 1).stores[0].transfer[kL2] /
         columns;
}

// Rows of 3 KiB fall into 4 of the 64 sets; those of 3 KiB and 64 bytes do not.
TEST(TransferTest, PanelsWhoseRowsMeetInFewSetsCostMoreThanTheirBytes) {
  EXPECT_GT(PanelSecondsFromL2(768), 10 * PanelSecondsFromL2(784));
}

// Rows of 3,168 bytes begin in the middle of a line every other time, so that
// 64 bytes of them lie in one and a half lines.
TEST(TransferTest, RowsThatBeginWithinALineTouchMoreOfThem) {
  EXPECT_GT(PanelSecondsFromL2(792), 1.3 * PanelSecondsFromL2(784));
}

// A copy of 512 rows of 512 columns, some at a time, as `loops` go over them.
double CopySecondsFromL2(const std::string& loops, const std::string& row,
                         const std::string& column, int lanes = 16) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((512, 512), "float32"), B: T.Buffer((512, 512), "float32")):
    $0
        for lane in T.vectorized($3):
            with T.block("B"):
                vi = T.axis.spatial(512, $1)
                vj = T.axis.spatial(512, $2 + lane)
                B[vi, vj] = A[vi, vj]
)",
                                            loops, row, column, lanes);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), TestMachine(), 1).stores[0].transfer[kL2];
}

TEST(TransferTest, LinesOfOtherRowsBetweenThoseOfARowTakeLonger) {
  const double rows =
      CopySecondsFromL2("for i, j in T.grid(512, 32):", "i", "j * 16");
  const double columns =
      CopySecondsFromL2("for j, i in T.grid(32, 512):", "i", "j * 16");
  EXPECT_NEAR(columns / rows, 1.25, 0.01);
}

// The same of one loop, and of rows that come in long pieces.
TEST(TransferTest, AFusedLoopLeavesRowsWhereItsRowsChangeMoreOften) {
  const std::string loop = "for f in T.parallel(16384):";
  const double rows = CopySecondsFromL2(loop, "f // 32", "f % 32 * 16");
  EXPECT_NEAR(CopySecondsFromL2(loop, "f % 512", "f // 512 * 16") / rows, 1.25,
              0.01);
  const double pieces = CopySecondsFromL2(
      "for j, i, p in T.grid(2, 512, 16):", "i", "(j * 16 + p) * 16");
  EXPECT_NEAR(pieces / rows, 1, 0.01);
}

// Half a line each from 512 rows, which is twice what the first level holds.
TEST(TransferTest, LinesOfWhichPartsComeLaterComeAgain) {
  const double rows =
      CopySecondsFromL2("for i, j in T.grid(512, 32):", "i", "j * 16");
  EXPECT_NEAR(CopySecondsFromL2("for f in T.parallel(32768):", "f % 512",
                                "f // 512 * 8", 8) /
                  rows,
              2 * 1.25, 0.01);
  EXPECT_NEAR(CopySecondsFromL2("for h, j, i in T.grid(128, 64, 4):",
                                "h * 4 + i", "j * 8", 8) /
                  rows,
              1.25, 0.01)
      << "four rows are still there";
}

// Each iteration of p reads one half of B, 768 KiB: `half` of p tells which.
double LinesOfHalves(const std::string& half) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((64, 192), "float32"), B: T.Buffer((2, 192, 1024), "float32"), C: T.Buffer((64, 1024), "float32")):
    for p, j_0, k in T.grid(64, 64, 192):
        for j_1 in T.vectorized(16):
            with T.block("C"):
                vp = T.axis.spatial(64, p)
                vj = T.axis.spatial(1024, j_0 * 16 + j_1)
                vk = T.axis.reduce(192, k)
                C[vp, vj] = C[vp, vj] + A[vp, vk] * B[$0, vk, vj]
)",
                                            half);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const TimeEstimate e = EstimateTime(Summarize(*f), TestMachine(), 1);
  return e.stores[0].transfer[kL3] * 30e9 / (192 * 1024 * 4);
}

TEST(TransferTest, HalvesThatTakeTurnsPushEachOtherOut) {
  EXPECT_LT(LinesOfHalves("vp // 32"), 4);
  EXPECT_GT(LinesOfHalves("vp % 2"), 60);
}

// Seconds for which C[128, 768] += A[128, 768] * w[768, 768] waits for w, by
// its outer loops, in which `i` and `j` are blocks of 4 rows and of 16 columns;
// `head` is the function's attributes.
double Waits(const std::string& loops, const std::string& extents,
             const std::string& head, const std::string& i = "i_0",
             const std::string& j = "j_0") {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((128, 768), "float32"), w: T.Buffer((768, 768), "float32"), C: T.Buffer((128, 768), "float32")):
    T.func_attr({$1})
    packed = T.alloc_buffer((48, 768, 16))
    for j_0, k, j_1 in T.grid(48, 768, 16):
        with T.block("packed"):
            vj, vk, vl = T.axis.remap("SSS", [j_0, k, j_1])
            T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
            packed[vj, vk, vl] = w[vk, vj * 16 + vl]
    for $0, k in T.grid($2, 768):
        for i_1 in T.unroll(4):
            for j_1 in T.vectorized(16):
                with T.block("C"):
                    vi = T.axis.spatial(128, ($3) * 4 + i_1)
                    vj = T.axis.spatial(768, ($4) * 16 + j_1)
                    vk = T.axis.reduce(768, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * packed[vj // 16, vk, vj % 16]
)",
                                            loops, head, extents, i, j);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  return EstimateTime(Summarize(*f), TestMachine(), 1).stores[0].cold;
}

TEST(TransferTest, ColdConstantsAreWaitedForWhereAFirstPassReadsThemAll) {
  const std::string cold =
      "\"layout_free_buffers\": [1], \"cold_constants\": True";
  const double all = 768 * 768 * 4 / 15e9;
  EXPECT_GT(Waits("i_0, j_0", "32, 48", cold) / all, 0.5);
  EXPECT_NEAR(Waits("j_0, i_0", "48, 32", cold) / all, 0.1, 0.01);
  EXPECT_EQ(Waits("i_0, j_0", "32, 48", "\"layout_free_buffers\": [1]"), 0);
  // Blocks of rows around halves of the columns, as one loop.
  EXPECT_GT(Waits("f, j_0", "64, 24", cold, "f // 2", "f % 2 * 24 + j_0") / all,
            0.5);
}

// One row needs little arithmetic, and all of w.
TEST(TransferTest, NoCallIsFasterThanItsColdConstantsCome) {
  const absl::StatusOr<Function> f = ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((1, 768), "float32"), w: T.Buffer((768, 768), "float32"), C: T.Buffer((1, 768), "float32")):
    T.func_attr({"layout_free_buffers": [1], "cold_constants": True})
    for j_0, k in T.grid(6, 768):
        for j_1 in T.unroll(8):
            for j_2 in T.vectorized(16):
                with T.block("C"):
                    vj = T.axis.spatial(768, j_0 * 128 + j_1 * 16 + j_2)
                    vk = T.axis.reduce(768, k)
                    C[0, vj] = C[0, vj] + A[0, vk] * w[vk, vj]
)");
  KILN_ASSERT_OK(f);
  EXPECT_GE(EstimateTime(Summarize(*f), TestMachine(), 1).seconds,
            768 * 768 * 4 / 15e9);
}

// C[32, 4096] += A[32, 1024] * w[4096 / 16, 1024, 16] by loops over 256 panels
// of 64 KiB and 8 blocks of rows: the share of what comes from memory that
// comes all the time. Called f, both are one loop.
double SteadyShare(const std::string& loops, const std::string& extents,
                   const std::string& i, const std::string& j) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((32, 1024), "float32"), w: T.Buffer((256, 1024, 16), "float32"), C: T.Buffer((32, 4096), "float32")):
    for $0, k in T.grid($1, 1024):
        for i_1 in T.unroll(4):
            for j_1 in T.vectorized(16):
                with T.block("C"):
                    vi = T.axis.spatial(32, $2 * 4 + i_1)
                    vj = T.axis.spatial(4096, $3 * 16 + j_1)
                    vk = T.axis.reduce(1024, k)
                    C[vi, vj] = C[vi, vj] + A[vi, vk] * w[vj // 16, vk, vj % 16]
)",
                                            loops, extents, i, j);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return -1;
  Machine machine = TestMachine();
  machine.levels[kL3].bytes = 4 << 20;
  const ProgramSummary program = Summarize(*f);
  const Nest nest = MakeNest(program, program.stores[0], machine, 1);
  const Transfer transfer = TransferOf(nest, machine, MemoryLevelId::kMemory);
  EXPECT_GE(transfer.seconds, 256 * 64 * 1024 / 15e9);
  return transfer.steady / transfer.seconds;
}

TEST(TransferTest, PanelsAreAskedForWhileLoopsPassOverTheOneBefore) {
  EXPECT_GT(SteadyShare("j, i", "256, 8", "i", "j"), 0.9);
  EXPECT_LT(SteadyShare("i, j", "8, 256", "i", "j"), 0.1) << "all are";
  EXPECT_GT(SteadyShare("f", "2048", "f % 8", "f // 8"), 0.9)
      << "the passes are fused with the panels";
}

// Of a transpose of rows 12 KiB apart, over the bytes read: 8 lines of one set
// at a time.
double TransposeBytesFromL2(bool marked) {
  const std::string text =
      absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((256, 3072), "float32"), B: T.Buffer((3072, 256), "float32")):
    for i_0, k_0 in T.grid(32, 384):
        for k_1 in T.unroll(8):
            for i_1 in T.vectorized(8):
                with T.block("B"):
                    vk = T.axis.spatial(3072, k_0 * 8 + k_1)
                    vi = T.axis.spatial(256, i_0 * 8 + i_1)
                    T.block_attr({"$0": True})
                    B[vk, vi] = A[vi, vk]
)",
                       marked ? "kiln.transposed_copy" : "other");
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const TimeEstimate e = EstimateTime(Summarize(*f), TestMachine(), 1);
  return e.stores[0].transfer[kL2] * 100e9 / (256 * 3072 * 4);
}

TEST(TransferTest, SquaresThatAreTurnedInRegistersAreReadRowByRow) {
  EXPECT_GT(TransposeBytesFromL2(/*marked=*/false), 16);
  EXPECT_LT(TransposeBytesFromL2(/*marked=*/true), 12);
}

// Of the sums of the columns of a matrix of 64 MiB, with `height` rows in turns
// and so many of their columns before the next rows.
double ColumnSums(int height, int columns,
                  const Machine& machine = TestMachine(),
                  MemoryLevelId from = MemoryLevelId::kMemory) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((4096, 4096), "float32"), C: T.Buffer((4096,), "float32")):
    for p, k_0, j, k_1 in T.grid($3, $1, $4, $0):
        for v in T.vectorized(16):
            with T.block("C"):
                vj = T.axis.spatial(4096, p * $2 + j * 16 + v)
                vk = T.axis.reduce(4096, k_0 * $0 + k_1)
                C[vj] = C[vj] + A[vk, vj]
)",
                                            height, 4096 / height, columns,
                                            4096 / columns, columns / 16);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const ProgramSummary program = Summarize(*f);
  const Nest nest = MakeNest(program, program.stores[0], machine, 1);
  return TransferOf(nest, machine, from).seconds;
}

TEST(TransferTest, AFewRowsAreReadFastestUpToTheirEnds) {
  const double rows = ColumnSums(8, 4096);
  EXPECT_GE(rows, 4096 * 4096 * 4 / 15e9);
  EXPECT_GT(ColumnSums(64, 4096), 1.5 * rows) << "too many";
  EXPECT_GT(ColumnSums(2, 4096), 1.1 * rows) << "too few";
  EXPECT_GT(ColumnSums(8, 512), 1.3 * rows) << "parts of them";
}

TEST(TransferTest, ASlowThirdCacheIsLikeMemory) {
  Machine machine = TestMachine();
  MemoryLevel& last = machine.levels[static_cast<int>(MemoryLevelId::kL3)];
  last.bytes = 512 << 20;
  machine.l3_held_bytes = 512 << 20;
  const double memory = machine.level(MemoryLevelId::kMemory).read_gbs;
  const auto seconds = [&](int columns) {
    return ColumnSums(8, columns, machine, MemoryLevelId::kL3);
  };
  last.read_gbs = 1.5 * memory;
  EXPECT_GT(seconds(512), 1.3 * seconds(4096));
  last.read_gbs = 4 * memory;
  EXPECT_LT(seconds(512), 1.05 * seconds(4096));
}

TEST(TransferTest, WhatTheLastCacheDoesNotHoldComesFromMemory) {
  const absl::StatusOr<Function> f = ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((1048576,), "float32"), B: T.Buffer((1048576,), "float32")):
    for i_0 in range(65536):
        for i_1 in T.vectorized(16):
            with T.block("B"):
                vi = T.axis.spatial(1048576, i_0 * 16 + i_1)
                B[vi] = A[vi] + T.float32(1)
)");
  KILN_ASSERT_OK(f.status());
  const ProgramSummary program = Summarize(*f);
  Machine machine = TestMachine();
  const auto from_memory = [&] {
    const Nest nest = MakeNest(program, program.stores[0], machine, 1);
    return TransferOf(nest, machine, MemoryLevelId::kMemory).seconds;
  };
  EXPECT_EQ(from_memory(), 0);
  machine.l3_held_bytes = 4 << 20;
  EXPECT_GE(from_memory(), 8 * 1048576 / 15e9);
}

// Of what is read once of `rows` rows of 256 numbers, each `pitch` numbers
// behind the one before, the share that comes from beyond the second level.
double ShareFromL3(int rows, int pitch) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(B: T.Buffer(($0, $1), "float32"), C: T.Buffer((256,), "float32")):
    for k in range($0):
        for j_0 in T.unroll(16):
            for j_1 in T.vectorized(16):
                with T.block("C"):
                    vk = T.axis.reduce($0, k)
                    vj = T.axis.spatial(256, j_0 * 16 + j_1)
                    C[vj] = C[vj] + B[vk, vj]
)",
                                            rows, pitch);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const TimeEstimate e = EstimateTime(Summarize(*f), TestMachine(), 1);
  return e.stores[0].transfer[kL3] * 30e9 / (rows * 1024.0);
}

TEST(TransferTest, TheSecondLevelHoldsAPartOfWhatIsALittleLarger) {
  EXPECT_EQ(ShareFromL3(700, 256), 0);
  EXPECT_NEAR(ShareFromL3(1024, 256), 1.0 / 3, 0.02);
  EXPECT_NEAR(ShareFromL3(1280, 256), 2.0 / 3, 0.02);
  EXPECT_NEAR(ShareFromL3(2048, 256), 1, 0.02);
}

TEST(TransferTest, PiecesOfRowsTakeMoreOfTheSecondLevel) {
  EXPECT_GT(ShareFromL3(700, 300), 0.2);
  EXPECT_NEAR(ShareFromL3(1024, 512), 1, 0.02) << "in half of the sets";
}

}  // namespace
}  // namespace kiln
