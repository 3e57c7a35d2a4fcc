#include "kiln/schedule/primitive/transform_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/primitive/compute_inline.h"
#include "kiln/schedule/primitive/reverse_compute_inline.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// C = A @ B for 8 x `n` x 6.
Function Matmul(int64_t n) {
  return *ParseFunction(
      "mm", absl::StrCat(
                "@T.prim_func\ndef main(A: T.Buffer((8, 6), \"float32\"), "
                "B: T.Buffer((6, ",
                n, "), \"float32\"), C: T.Buffer((8, ", n,
                "), \"float32\")):\n    for i, j, k in T.grid(8, ", n, R"(, 6):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)"));
}

BlockId Named(const Function& f, const char* name) {
  return BlocksNamed(f, name).at(0);
}

// lambda k, j: (j // tile, k, j % tile)
IndexMap Pack(int64_t tile) {
  Var k("k"), j("j");
  return {{k, j}, {FloorDiv(j, Int(tile)), k, FloorMod(j, Int(tile))}};
}

IndexMap Tiles(int64_t tile) {
  Var i("i");
  return {{i}, {FloorDiv(i, Int(tile)), FloorMod(i, Int(tile))}};
}

TransformLayoutOptions PadWith(Expr value);

TEST(TransformLayout, PaddingOfBoolsReadsBackAsItIsPrinted) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(M: T.Buffer((3,), "bool"), X: T.Buffer((3,), "float32")):
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            X[vi] = T.Select(M[vi], T.float32(1), T.float32(2))
)");
  for (const Expr& value : {Bool(true), Bool(false), Int(3)}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function g,
        TransformLayout(f, Named(f, "B"), 0, /*is_write=*/false, Tiles(2),
                        PadWith(value)));
    const auto read =
        ParseFunction("g.py", PrintFunction(g, {.header = false}));
    KILN_ASSERT_OK(read.status());
    EXPECT_TRUE(StructurallyEqual(*read, g));
  }
}

TEST(TransformLayout, PaddingFitsTheTypeOfTheTensor) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((3,), "int8"), X: T.Buffer((3,), "int8")):
    for i in range(3):
        with T.block("B"):
            vi = T.axis.spatial(3, i)
            X[vi] = A[vi]
)");
  const auto padded = [&](int64_t value) {
    return TransformLayout(f, Named(f, "B"), 0, /*is_write=*/false, Tiles(2),
                           PadWith(Int(value)))
        .status();
  };
  KILN_EXPECT_OK(padded(-128));
  EXPECT_THAT(padded(128), StatusIs(absl::StatusCode::kInvalidArgument,
                                    HasSubstr("does not fit")));
}

TransformLayoutOptions PadWith(Expr value) {
  return {IndexMap{{}, {std::move(value)}}};
}

// The matmul with a copy of B in tiles of columns.
absl::StatusOr<Function> Packed(const Function& f, int64_t tile,
                                const TransformLayoutOptions& options = {}) {
  auto cached = CacheRead(f, Named(f, "C"), 1, "global", {});
  if (!cached.ok()) return cached.status();
  return TransformLayout(cached->function, cached->cache_block, 0, true,
                         Pack(tile), options);
}

std::vector<int64_t> ShapeOf(const Buffer& buffer) {
  std::vector<int64_t> shape;
  for (const Expr& e : buffer->shape) shape.push_back(*AsInt(e));
  return shape;
}

void ExpectRefusal(const absl::StatusOr<Function>& result, const char* reason) {
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(std::string(result.status().message()), HasSubstr(reason));
}

TEST(TransformLayoutTest, PacksAnOperandInTiles) {
  const Function f = Matmul(12);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Packed(f, 4));
  EXPECT_EQ(ShapeOf(g.root().alloc_buffers.at(0)),
            (std::vector<int64_t>{3, 6, 4}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(TransformLayoutTest, WritesThePaddingOfAPackedOperand) {
  const Function f = Matmul(10);
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            Packed(f, 4, PadWith(Float(0.0))));
  EXPECT_EQ(ShapeOf(g.root().alloc_buffers.at(0)),
            (std::vector<int64_t>{3, 6, 4}));
  const Path pack = *FindBlock(g, Named(g, "B_global"));
  std::vector<int64_t> extents;
  for (const ForNode* loop : LoopsAbove(pack)) {
    extents.push_back(*AsInt(loop->extent));
  }
  EXPECT_EQ(extents, (std::vector<int64_t>{3, 6, 4}));
  KILN_EXPECT_OK(CheckSameResults(f, g, 2));
}

TEST(TransformLayoutTest, PaddingByAnExpressionOfIndicesTakesTheTensorsType) {
  const auto padded = [](const std::string& dtype) {
    const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((14,), ")" + dtype +
                                    R"("), C: T.Buffer((14,), ")" + dtype +
                                    R"(")):
    B = T.alloc_buffer((14,), ")" + dtype +
                                    R"(")
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)");
    const Var tile("o"), inner("i");
    TransformLayoutOptions options;
    options.pad_value =
        IndexMap{{tile, inner}, {Add(Mul(tile, Int(4)), inner)}};
    auto g = TransformLayout(f, Named(f, "B"), 0, true, Tiles(4), options);
    if (g.ok()) KILN_EXPECT_OK(CheckSameResults(f, *g, 1));
    return g;
  };
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, padded("int32"));
  EXPECT_THAT(PrintFunction(g, {.header = false}),
              HasSubstr("T.Cast(\"int32\", v_axis0 * 4 + v_axis1)"));
  KILN_EXPECT_OK(padded("int64"));
  ExpectRefusal(padded("int8"), "not of the type");
  ExpectRefusal(padded("float32"), "not of the type");
}

TEST(TransformLayoutTest, RefusesPaddingWithoutAValue) {
  ExpectRefusal(Packed(Matmul(10), 4), "give a pad_value");
}

TEST(TransformLayoutTest, LeavesPaddingUnwrittenWhereThatIsAllowed) {
  const Function f = Matmul(10);
  TransformLayoutOptions options;
  options.assume_injective_transform = true;
  KILN_ASSERT_OK_AND_ASSIGN(const Function g, Packed(f, 4, options));
  KILN_EXPECT_OK(CheckSameResults(f, g, 3));
}

TEST(TransformLayoutTest, RefusesMapsThatLoseIndicesWhateverIsAssumed) {
  const Function f = Matmul(12);
  KILN_ASSERT_OK_AND_ASSIGN(const CacheResult cached,
                            CacheRead(f, Named(f, "C"), 1, "global", {}));
  Var k("k"), j("j");
  TransformLayoutOptions options;
  options.assume_injective_transform = true;
  for (const Expr& lossy : {FloorDiv(j, Int(2)), FloorMod(j, Int(5))}) {
    ExpectRefusal(TransformLayout(cached.function, cached.cache_block, 0, true,
                                  {{k, j}, {lossy, k}}, options),
                  "cannot be shown");
  }
}

TEST(TransformLayoutTest, ChangesTheShapeOfAParameter) {
  const Function f = Matmul(12);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g, TransformLayout(f, Named(f, "C"), 1, false, Pack(4)));
  EXPECT_EQ(ShapeOf(g.params[1].buffer), (std::vector<int64_t>{3, 6, 4}));
}

TEST(TransformLayoutTest, WritesPaddingApartWhereTheWriterDoesMore) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,))
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
            C[vi] = A[vi] + T.float32(1)
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = C[vi] + B[13 - vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformLayout(f, Named(f, "B"), 0, true, Tiles(4),
                                            PadWith(Float(7.0))));
  EXPECT_EQ(BlocksNamed(g, "buffer_B_padding").size(), 1u);
  KILN_EXPECT_OK(CheckSameResults(f, g, 4));
}

TEST(TransformLayoutTest, ABlockThatFillsPaddingSaysThatItWritesIt) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,))
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformLayout(f, Named(f, "B"), 0, true, Tiles(4),
                                            PadWith(Float(7.0))));
  const BlockNode& b = *RealizeNamed(g, "B").block;
  ASSERT_EQ(b.writes.size(), 1u);
  for (size_t d = 0; d < 2; ++d) {
    EXPECT_TRUE(b.writes[0].region[d].min == b.iters[d].var);
    EXPECT_TRUE(IsOne(b.writes[0].region[d].extent));
  }
  KILN_EXPECT_OK(CheckSameResults(f, g, 6));
}

// The fuzzer's pairs 1010047885 and 1010054023: a copy of what the outer block
// declares was too small for a nest that fills the padding, too.
TEST(TransformLayoutTest, ABlockWithinAnotherLeavesPaddingToABlockOfItsOwn) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,))
    with T.block("outer"):
        T.reads(A[0:14])
        T.writes(B[0:14])
        for i in range(14):
            with T.block("B"):
                vi = T.axis.spatial(14, i)
                B[vi] = A[vi]
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformLayout(f, Named(f, "B"), 0, true, Tiles(4),
                                            PadWith(Float(7.0))));
  EXPECT_FALSE(BlocksNamed(g, "buffer_B_padding").empty());
  KILN_EXPECT_OK(CheckSameResults(f, g, 7));
}

TEST(TransformLayoutTest, RunsAReductionOverPaddingToo) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((14, 3), "float32"), C: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,))
    for i, k in T.grid(14, 3):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vk]
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformLayout(f, Named(f, "B"), 0, true, Tiles(4),
                                            PadWith(Float(0.0))));
  EXPECT_TRUE(BlocksNamed(g, "buffer_B_padding").empty());
  KILN_EXPECT_OK(CheckSameResults(f, g, 5));
}

// For padding, F has no element that could tell how often a loop runs.
TEST(TransformLayoutTest,
     ALoopInABlockThatDependsOnThePlaceIsNotRunForPadding) {
  const Function f = *ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((14,), "float32"), C: T.Buffer((14,), "float32")):
    B = T.alloc_buffer((14,))
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi] = A[vi]
            for k in range(vi % 3):
                B[vi] = B[vi] + T.float32(2)
    for i in range(14):
        with T.block("C"):
            vi = T.axis.spatial(14, i)
            C[vi] = B[vi]
)");
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformLayout(f, Named(f, "B"), 0, true, Tiles(4),
                                            PadWith(Float(0.0))));
  KILN_EXPECT_OK(CheckSameResults(f, g, 5));
}

TEST(TransformLayoutTest, RefusesArgumentsThatMakeNoSense) {
  const Function f = Matmul(12);
  const BlockId c = Named(f, "C");
  ExpectRefusal(TransformLayout(f, c, 2, false, Pack(4)), "no number 2");
  ExpectRefusal(TransformLayout(f, c, 0, true, Tiles(4)), "takes 1 indices");
  ExpectRefusal(TransformLayout(f, 9999, 0, true, Pack(4)), "9999");
  ExpectRefusal(TransformLayout(f, c, 1, false, Pack(5), PadWith(Str("zero"))),
                "pad_value");
}

// --- Random chains of steps that move no sums.

Expr PadOf(const Buffer& buffer) { return Constant(3, buffer->dtype); }

absl::StatusOr<Function> RandomLayout(const Function& f, const BlockNode& block,
                                      std::mt19937_64& random) {
  const bool is_write = random() % 2;
  const auto& regions = is_write ? block.writes : block.reads;
  if (regions.empty()) return absl::NotFoundError("no tensor");
  const int index = static_cast<int>(random() % regions.size());
  const Buffer& buffer = regions[index].buffer;
  for (const Param& param : f.params) {
    if (param.buffer == buffer) return absl::NotFoundError("a parameter");
  }
  IndexMap map;
  for (size_t d = 0; d < buffer->shape.size(); ++d) {
    const Expr x = map.inputs.emplace_back("i");
    const Expr tile = Int(1 + random() % 6), shift = Int(random() % 3);
    if (random() % 3 == 0) {
      map.outputs.push_back(x);
      continue;
    }
    map.outputs.push_back(FloorDiv(Add(x, shift), tile));
    map.outputs.push_back(FloorMod(Add(x, shift), tile));
  }
  if (map.outputs.empty()) return absl::NotFoundError("a scalar");
  std::shuffle(map.outputs.begin(), map.outputs.end(), random);
  return TransformLayout(f, block.id, index, is_write, map,
                         PadWith(PadOf(buffer)));
}

absl::StatusOr<Function> RandomStep(const Function& f,
                                    std::mt19937_64& random) {
  std::vector<BlockId> ids;
  ForEachBlock(f.root().body, [&](const BlockRealizeNode& realize) {
    ids.push_back(realize.block->id);
  });
  const BlockId id = ids[random() % ids.size()];
  const Path path = *FindBlock(f, id);
  const BlockNode& block = *path.realize()->block;
  switch (random() % 4) {
    case 0:
      return ComputeInline(f, id);
    case 1:
      return ReverseComputeInline(f, id);
    default:
      return RandomLayout(f, block, random);
  }
}

TEST(TransformLayoutTest, KeepsRowsOfAScatterApartWhereLoopsRunSideBySide) {
  for (const char* kind : {"T.parallel", "T.serial"}) {
    const Function f = *ParseFunction("scatter", absl::StrCat(R"(
@T.prim_func
def main(X: T.Buffer((4, 6), "int32"), S: T.Buffer((6,), "int32")):
    for i in )",
                                                              kind, R"((4):
        for j in range(6):
            with T.block("X"):
                vi, vj = T.axis.remap("SS", [i, j])
                X[vi, S[vj]] = 2
)"));
    const BlockId x = Named(f, "X");
    const Var i("i"), j("j");
    KILN_EXPECT_OK(TransformLayout(
        f, x, 0, true,
        IndexMap{{i, j}, {FloorDiv(j, Int(2)), i, FloorMod(j, Int(2))}}));
    const auto flat = TransformLayout(
        f, x, 0, true, IndexMap{{i, j}, {Add(Mul(i, Int(6)), j)}});
    if (std::string(kind) == "T.serial") {
      KILN_EXPECT_OK(flat);
    } else {
      ExpectRefusal(flat, "may touch the same elements of `X`");
    }
  }
}

// The fuzzer's pair 3687: each element needs the one before it.
TEST(TransformLayoutTest, KeepsTheOrderOfAScan) {
  const Function f = *ParseFunction("scan", R"(
@T.prim_func
def main(A: T.Buffer((3, 9), "int32"), C: T.Buffer((3, 9), "int32")):
    X = T.alloc_buffer((3, 9), "int32")
    for i, j in T.grid(3, 9):
        with T.block("X"):
            vi, vj = T.axis.remap("SS", [i, j])
            X[vi, vj] = T.if_then_else(0 < vj, X[vi, vj - 1], 0) + A[vi, vj]
    for i, j in T.grid(3, 9):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = X[vi, vj]
)");
  Var i("i"), j("j");
  const IndexMap map = {{i, j}, {FloorMod(j, Int(4)), FloorDiv(j, Int(4)), i}};
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g,
      TransformLayout(f, Named(f, "X"), 0, true, map, PadWith(Int(3))));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(TransformLayoutTest, RandomInliningAndLayoutsKeepResults) {
  RandomProgramOptions options;
  options.max_stages = 5;
  options.max_extent = 8;
  options.max_work = 1 << 9;
  int applied = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Function f = RandomProgram(seed, options);
    Function g = f;
    for (int step = 0; step < 5; ++step) {
      absl::StatusOr<Function> next = RandomStep(g, random);
      if (!next.ok()) continue;
      g = *std::move(next);
      ++applied;
    }
    KILN_ASSERT_OK(CheckSameResults(f, g, seed));
  }
  EXPECT_GT(applied, 300);
}

}  // namespace
}  // namespace kiln
