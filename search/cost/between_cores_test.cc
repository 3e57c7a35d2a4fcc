// What a thread reads of a buffer that threads made before: all of it, or no
// more than a thread made.
#include "kiln/search/cost/between_cores.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/cost/nest.h"
#include "kiln/search/feature/summary.h"

namespace kiln {
namespace {

constexpr double kThird = 30;  // GB/s
constexpr double kBytes = 4.0 * 512 * 64;

Machine TestMachine() {
  Machine m;
  m.vectors = kAvx512Registers;
  m.gflops = m.all_gflops = 100;
  m.levels = {{{32 << 10, 300, 150, 300, 150},
               {1 << 20, 100, 100, 100, 100},
               {32 << 20, kThird, 20, kThird, 20},
               {0, 15, 10, 15, 10}}};
  return m;
}

// Seconds from other cores, in those of all of P from the third cache: 512
// panels of 64 elements are made in a loop of the kind `made` and used in
// `used`, for 64 rows r each.
double Passed(const std::string& made, const std::string& used,
              int threads = 2) {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((512, 64), "float32"), B: T.Buffer((64, 512, 64), "float32")):
    P = T.alloc_buffer((512, 64))
    for i in $0(512):
        for j in range(64):
            with T.block("P"):
                vi, vj = T.axis.remap("SS", [i, j])
                P[vi, vj] = A[vi, vj] * T.float32(2)
    for $1:
            with T.block("B"):
                vr, vp, vj = T.axis.remap("SSS", [r, p, j])
                B[vr, vp, vj] = P[vp, vj]
)",
                                            made, used);
  const absl::StatusOr<Function> f = ParseFunction("test", text);
  KILN_EXPECT_OK(f.status());
  if (!f.ok()) return 0;
  const ProgramSummary program = Summarize(*f);
  const Machine machine = TestMachine();
  BetweenCores between(machine, threads);
  double seconds = 0;
  for (const StoreSummary& store : program.stores) {
    seconds += between.Pass(MakeNest(program, store, machine, threads));
  }
  return seconds * kThird * 1e9 / kBytes;
}

constexpr char kByPanels[] =
    "p in T.parallel(512):\n        for r, j in T.grid(64, 64)";
constexpr char kByRows[] =
    "r in T.parallel(64):\n        for p, j in T.grid(512, 64)";
constexpr char kByPieces[] =
    "j in T.parallel(64):\n        for r, p in T.grid(64, 512)";
constexpr char kByOneThread[] =
    "r in range(64):\n        for p, j in T.grid(512, 64)";

TEST(BetweenCoresTest, PanelsThatAThreadMadeAreThere) {
  EXPECT_EQ(Passed("T.parallel", kByPanels), 0);
}

TEST(BetweenCoresTest, PiecesOfEachPanelAreNotPanels) {
  EXPECT_NEAR(Passed("T.parallel", kByPieces), 0.25 * 3, 0.1);
}

TEST(BetweenCoresTest, ThoseOfOthersTakeLongerThanTheThirdCache) {
  EXPECT_GT(Passed("T.parallel", kByRows), 0.5 * 2);
  EXPECT_NEAR(Passed("T.parallel", kByRows, 4) / Passed("T.parallel", kByRows),
              0.75 / 0.5, 1e-6);
}

TEST(BetweenCoresTest, WhatOneThreadMadeComesToAllOthers) {
  EXPECT_NEAR(Passed("range", kByRows) / Passed("T.parallel", kByRows), 2,
              1e-6);
}

TEST(BetweenCoresTest, OneThreadGetsThePartsOfTheOthers) {
  EXPECT_NEAR(Passed("T.parallel", kByOneThread, 4), 0.75 * 3, 0.5);
  EXPECT_EQ(Passed("range", kByOneThread), 0);
}

TEST(BetweenCoresTest, ASingleThreadHasAll) {
  EXPECT_EQ(Passed("T.parallel", kByRows, 1), 0);
}

}  // namespace
}  // namespace kiln
