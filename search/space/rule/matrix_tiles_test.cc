// Products by tiles of matrices: what becomes one, in which form, and that all
// designs compute what the program computes. Windows of an image of few
// channels, for one:
//
//   X_reindex_pad (3, 3, 1, 32, 64): strips of 32 windows, 3 rows of each, and
//   the 9 elements of a row in a tile of 64 bytes
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/trace/print.h"
#include "kiln/search/space/rule/rule_log.h"
#include "kiln/search/space/rule/rules.h"
#include "kiln/search/space/rule/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

RuleContext WithTiles() {
  RuleContext context;
  context.registers.tiles = {.bytes = true, .bf16 = true};
  return context;
}

// A of rows x steps times B of steps x columns, and twice each element.
struct Product {
  std::string a = "int8", b = "int8", sum = "int32";
  int rows = 64, columns = 64, steps = 128;
};

Module Program(const Product& p) {
  return ParseProgram(absl::Substitute(
      R"(
@T.prim_func
def main(A: T.Buffer(($3, $5), "$0"), B: T.Buffer(($5, $4), "$1"),
         Y: T.Buffer(($3, $4), "$2")):
    C = T.alloc_buffer(($3, $4), "$2")
    for i, j, k in T.grid($3, $4, $5):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.Cast("$2", 0)
            C[vi, vj] = C[vi, vj] + T.Cast("$2", A[vi, vk]) * T.Cast("$2", B[vk, vj])
    for i, j in T.grid($3, $4):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = C[vi, vj] + C[vi, vj]
)",
      p.a, p.b, p.sum, p.rows, p.columns, p.steps));
}

constexpr char kConvolution[] = R"(
@T.prim_func
def main(X: T.Buffer((2, 8, 9, 32), "uint8"), W: T.Buffer((3, 3, 32, 24), "int8"),
         Y: T.Buffer((2, 6, 7, 24), "int32")):
    for n, h, w, f, r, s, c in T.grid(2, 6, 7, 24, 3, 3, 32):
        with T.block("C"):
            vn, vh, vw, vf, vr, vs, vc = T.axis.remap("SSSSRRR", [n, h, w, f, r, s, c])
            with T.init():
                Y[vn, vh, vw, vf] = 0
            Y[vn, vh, vw, vf] = Y[vn, vh, vw, vf] + T.Cast("int32", X[vn, vh + vr, vw + vs, vc]) * T.Cast("int32", W[vr, vs, vc, vf])
)";

constexpr char kBatch[] = R"(
@T.prim_func
def main(A: T.Buffer((3, 20, 40), "int8"), B: T.Buffer((3, 33, 40), "int8"),
         Y: T.Buffer((3, 20, 33), "int32")):
    for b, i, j, k in T.grid(3, 20, 33, 40):
        with T.block("C"):
            vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
            with T.init():
                Y[vb, vi, vj] = 0
            Y[vb, vi, vj] = Y[vb, vi, vj] + T.Cast("int32", A[vb, vi, vk]) * T.Cast("int32", B[vb, vj, vk])
)";

// The designs with tiles; what steps refuse fails the test.
std::vector<Schedule> Tiled(const Module& module, RuleContext context) {
  RuleLog log;
  context.log = &log;
  std::vector<Schedule> made = ApplyRule(MatrixTiles, module, "C", context);
  for (const RuleRefusal& refusal : log.refusals()) {
    ADD_FAILURE() << ToLine(refusal);
  }
  if (!made.empty()) made.pop_back();  // the program as it was
  return made;
}

void ExpectTiles(const Module& module) {
  const std::vector<Schedule> made = Tiled(module, WithTiles());
  EXPECT_THAT(made, SizeIs(2));
  for (const Function& f : ExpectSameMeaning(module, made)) {
    EXPECT_EQ(CountLoops(f, ForKind::kParallel), 2);
  }
  for (const Schedule& sch : made) {
    EXPECT_THAT(ToText(sch.trace()), HasSubstr("kiln.tile_product"));
  }
}

TEST(MatrixTiles, TakesProductsOfAnySize) {
  ExpectTiles(Program({}));
  ExpectTiles(Program({.rows = 50, .columns = 70, .steps = 100}));
  ExpectTiles(Program({.a = "uint8", .rows = 5, .columns = 130}));
  ExpectTiles(Program({.b = "uint8", .rows = 130, .columns = 5, .steps = 7}));
}

TEST(MatrixTiles, TakesConvolutionsAndBatches) {
  ExpectTiles(ParseProgram(kConvolution));
  ExpectTiles(ParseProgram(kBatch));
}

// Images of 3 channels: a vector copies 9 elements of a row and padding.
TEST(MatrixTiles, CopiesWindowsRowByRow) {
  const Module module = ParseProgram(absl::StrReplaceAll(
      kConvolution,
      {{"9, 32)", "9, 3)"}, {"3, 32,", "3, 3,"}, {"3, 3, 32)", "3, 3, 3)"}}));
  ExpectTiles(module);
  for (const Schedule& sch : Tiled(module, WithTiles())) {
    EXPECT_THAT(PrintFunction(*sch.state().functions[0]),
                HasSubstr("X_reindex_pad = T.alloc_buffer((3, 3, 1, 32, 64)"));
  }
}

// Of 3 channels two pixels apart runs of 3 would become 64, 9 for each of 1.
TEST(MatrixTiles, PixelsThatLieApartAreNoRuns) {
  const Module module = ParseProgram(absl::StrReplaceAll(
      kConvolution, {{"8, 9, 32)", "10, 11, 3)"},
                     {"3, 32,", "3, 3,"},
                     {"3, 3, 32)", "3, 3, 3)"},
                     {"vh + vr, vw + vs", "vh + vr * 2, vw + vs * 2"}}));
  ExpectTiles(module);
  for (const Schedule& sch : Tiled(module, WithTiles())) {
    EXPECT_THAT(PrintFunction(*sch.state().functions[0]),
                HasSubstr("X_reindex_pad = T.alloc_buffer((3, 1, 32, 64)"));
  }
}

TEST(MatrixTiles, TakesBfloat16) {
  ExpectTiles(Program({.a = "bfloat16", .b = "bfloat16", .sum = "float32"}));
}

TEST(MatrixTiles, TakesNothingElse) {
  EXPECT_THAT(Tiled(Program({}), RuleContext()), IsEmpty());
  EXPECT_THAT(Tiled(Program({.a = "int16"}), WithTiles()), IsEmpty());
  RuleContext only_bytes;
  only_bytes.registers.tiles.bytes = true;
  EXPECT_THAT(
      Tiled(Program({.a = "bfloat16", .b = "bfloat16", .sum = "float32"}),
            only_bytes),
      IsEmpty());
}

}  // namespace
}  // namespace kiln
