#include "kiln/codegen/lower/guards/split_at_borders.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/guards/partition_loops.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/ir/tensor/dims.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// Adds B[0] to elements of A in tiles of 8, those where `where` holds.
Function Tiles(const std::string& extent, const std::string& where,
               const std::string& kind = "T.unroll",
               const std::string& outer = "range") {
  const std::string text = absl::Substitute(R"(
@T.prim_func
def main(n: T.int64, m: T.int64, A: T.Buffer((200,), "float32"), B: T.Buffer((8,), "float32")):
    for i in $3($0):
        for v in $2(8):
            if $1:
                A[i * 8 + v] = A[i * 8 + v] + B[0]
)",
                                            extent, where, kind, outer);
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  KILN_EXPECT_OK(module.status());
  return module.ok() ? module->functions[0] : Function();
}

// The number of loops over i, after both passes. They compute the same.
int LoopsOf(const Function& f) {
  const absl::StatusOr<Function> apart = PartitionLoops(f);
  KILN_EXPECT_OK(apart.status());
  const absl::StatusOr<Function> out = SplitAtBorders(*apart);
  KILN_EXPECT_OK(out.status());
  for (const int n : {0, 1, 7, 8, 9, 63, 64, 100}) {
    for (const int m : {0, 3, 8, 30}) {
      const VarMap sizes = {{f.params[0].var.get(), Int(n)},
                            {f.params[1].var.get(), Int(m)}};
      KILN_EXPECT_OK(lower::CompareMeaning(SubstituteDims(f, sizes),
                                           SubstituteDims(*out, sizes), 3));
    }
  }
  int loops = 0;
  Visit(out->body, [&](const Stmt& s) {
    const auto* loop = s.As<ForNode>();
    loops += loop && loop->var->name == "i";
    return true;
  });
  return loops;
}

TEST(SplitAtBordersTest, TheInteriorRunsFirstAndAsksForNothing) {
  EXPECT_EQ(LoopsOf(Tiles("(n + 7) // 8", "i * 8 + v < n")), 2);
}

TEST(SplitAtBordersTest, ABorderMayLieOutsideOfTheLoop) {
  EXPECT_EQ(LoopsOf(Tiles("(n + 7) // 8", "i * 8 + v < n + m")), 2);
  EXPECT_EQ(LoopsOf(Tiles("(n + 7) // 8", "i * 8 + v < m - n")), 2);
}

TEST(SplitAtBordersTest, InnermostLoopsOfConstantExtentAreSplitToo) {
  EXPECT_EQ(LoopsOf(Tiles("19", "i * 8 + v < 147")), 2);
  EXPECT_EQ(LoopsOf(Tiles("19", "i * 8 + v < 147", "range")), 1)
      << "there is a loop inside";
}

TEST(SplitAtBordersTest, OfParallelLoopsOneIterationIsSplitOff) {
  const auto loops = [](const std::string& extent, const std::string& kind) {
    return LoopsOf(Tiles(extent, "i * 8 + v < 147", kind, "T.parallel"));
  };
  EXPECT_EQ(loops("19", "T.unroll"), 2);
  EXPECT_EQ(loops("20", "T.unroll"), 1) << "two iterations";
  EXPECT_EQ(loops("19", "range"), 1) << "there is a loop inside";
}

TEST(SplitAtBordersTest, OtherLoopsStayWhole) {
  EXPECT_EQ(LoopsOf(Tiles("20", "i * 8 + v < n")), 1) << "a constant extent";
  EXPECT_EQ(LoopsOf(Tiles("(n + 7) // 8", "n < i * 8 + v")), 1)
      << "the border comes first";
  EXPECT_EQ(LoopsOf(Tiles("(n + 7) // 8", "i * 8 + v < 100 // (m + 1)")), 1)
      << "may divide by 0";
}

}  // namespace
}  // namespace kiln
