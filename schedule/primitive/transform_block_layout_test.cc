#include "kiln/schedule/primitive/transform_block_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/equivalence.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr auto kRefused = absl::StatusCode::kFailedPrecondition;

constexpr char kMatmul[] = R"(
@T.prim_func
def main(A: T.Buffer((6, 12), "float32"), B: T.Buffer((12, 8), "float32"), C: T.Buffer((6, 8), "float32")):
    for i, j, k in T.grid(6, 8, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

const Var i("i"), j("j"), k("k");

IndexMap Map(std::vector<Expr> outputs) { return {{i, j, k}, outputs}; }

TEST(TransformBlockLayout, FusesSplitsAndReordersIterators) {
  const Function f = ParseProgram(kMatmul);
  const Expr fused = Add(Mul(i, Int(8)), j);
  for (const IndexMap& map :
       {Map({i, j, k}), Map({k, j, i}), Map({fused, k}),
        Map({FloorDiv(j, Int(4)), i, FloorMod(j, Int(4)), k}),
        Map({Int(0), FloorDiv(k, Int(3)), fused, FloorMod(k, Int(3))})}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              TransformBlockLayout(f, BlockNamed(f, "C"), map));
    EXPECT_EQ(BlockNamed(g, "C"), BlockNamed(f, "C"));
    EXPECT_EQ(LoopsOf(g, "C").size(), map.outputs.size());
    KILN_EXPECT_OK(CheckSameResults(f, g, 1));
  }
}

TEST(TransformBlockLayout, ConditionsGoOnInTermsOfTheNewLoops) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((50, 3), "float32"), C: T.Buffer((8, 3), "float32")):
    for c, k, r in T.grid(3, 7, 8):
        with T.block("C"):
            vr, vc, vk = T.axis.remap("SSR", [r, c, k])
            T.where(k * 8 + r < 50)
            with T.init():
                C[vr, vc] = T.float32(0)
            C[vr, vc] = C[vr, vc] + A[vk * 8 + vr, vc]
)");
  const Var row("row"), column("column");
  const IndexMap map{{row, column, k},
                     {Add(Mul(row, Int(3)), column), Expr(k)}};
  KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                            TransformBlockLayout(f, BlockNamed(f, "C"), map));
  EXPECT_THAT(PrintFunction(g), HasSubstr("T.where(ax1 * 8 + ax0 // 3 < 50)"));
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

// The fuzzer's pair 701199: the last column of which the value is above 1.
TEST(TransformBlockLayout, KeepsTheOrderOfWhatIsNoSum) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((2, 15), "int32"), I: T.Buffer((2,), "int32")):
    for i, j in T.grid(2, 15):
        with T.block("I"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                I[vi] = -1
            I[vi] = T.Select(1 >= A[vi, vj], I[vi], T.Cast("int32", vj))
)");
  const BlockId block = BlockNamed(f, "I");
  const Expr outer = FloorDiv(j, Int(5)), inner = FloorMod(j, Int(5));
  for (const std::vector<Expr>& outputs :
       {std::vector<Expr>{i, j}, {j, i}, {outer, i, inner}}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Function g,
        TransformBlockLayout(f, block, IndexMap{{i, j}, outputs}));
    KILN_EXPECT_OK(CheckSameResults(f, g, 3));
  }
  for (const std::vector<Expr>& outputs :
       {std::vector<Expr>{i, inner, outer}, {i, Sub(Int(14), j)}}) {
    EXPECT_FALSE(
        TransformBlockLayout(f, block, IndexMap{{i, j}, outputs}).ok());
  }
}

// What a fused iterator is taken apart into, an index puts together again.
TEST(TransformBlockLayout, IndicesOfFusedIteratorsAreSimple) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((192,), "float32"), C: T.Buffer((192,), "float32")):
    for i, j, k in T.grid(2, 8, 12):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vi * 96 + vj * 12 + vk] = A[vi * 96 + vj * 12 + vk]
)");
  const Expr fused = Add(Mul(Add(Mul(i, Int(8)), j), Int(12)), k);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g,
      TransformBlockLayout(f, BlockNamed(f, "C"), Map({fused})));
  const BlockNode& block = *RealizeNamed(g, "C").block;
  const auto* store = block.body.As<StoreNode>();
  EXPECT_EQ(store->indices[0], block.iters[0].var);
  EXPECT_EQ(store->value.As<LoadNode>()->indices[0], block.iters[0].var);
  KILN_EXPECT_OK(CheckSameResults(f, g, 1));
}

TEST(TransformBlockLayout, IteratorsKeepTheirKind) {
  const Function f = ParseProgram(kMatmul);
  KILN_ASSERT_OK_AND_ASSIGN(
      const Function g,
      TransformBlockLayout(f, BlockNamed(f, "C"), Map({Int(0), k, i, j})));
  const auto& iters = RealizeNamed(g, "C").block->iters;
  EXPECT_EQ(iters[0].type, IterType::kSpatial);
  EXPECT_EQ(iters[1].type, IterType::kReduce);
  EXPECT_EQ(iters[2].type, IterType::kSpatial);
}

TEST(TransformBlockLayout, RefusesMapsThatAreNotOneToOneOntoABox) {
  const Function f = ParseProgram(kMatmul);
  for (const IndexMap& map :
       {Map({Add(i, j), k}), Map({i, k}), Map({i, j, FloorDiv(k, Int(2))}),
        Map({i, FloorDiv(j, Int(3)), FloorMod(j, Int(3)), k}),
        Map({i, j, Sub(k, Int(1))}), Map({Mul(i, Int(2)), j, k})}) {
    EXPECT_THAT(TransformBlockLayout(f, BlockNamed(f, "C"), map),
                StatusIs(kRefused, HasSubstr("transform_block_layout")));
  }
}

TEST(TransformBlockLayout, RefusesToMixKindsOfIterators) {
  const Function f = ParseProgram(kMatmul);
  EXPECT_THAT(TransformBlockLayout(f, BlockNamed(f, "C"),
                                   Map({i, Add(Mul(j, Int(12)), k)})),
              StatusIs(kRefused, HasSubstr("mixes")));
}

TEST(TransformBlockLayout, RefusesTheWrongNumberOfIterators) {
  const Function f = ParseProgram(kMatmul);
  EXPECT_THAT(
      TransformBlockLayout(f, BlockNamed(f, "C"), IndexMap{{i, j}, {i, j}}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes 2")));
}

TEST(TransformBlockLayout, RefusesLoopsThatAreSplitOrHaveAKind) {
  const Function f = ParseProgram(kMatmul);
  const BlockId block = BlockNamed(f, "C");
  KILN_ASSERT_OK_AND_ASSIGN(const auto split,
                            Split(f, LoopsOf(f, "C")[0], {2, 3}));
  EXPECT_THAT(TransformBlockLayout(split.function, block, Map({k, j, i})),
              StatusIs(kRefused, HasSubstr("loop of its own")));
  KILN_ASSERT_OK_AND_ASSIGN(const Function parallel,
                            Parallel(f, LoopsOf(f, "C")[0]));
  EXPECT_THAT(TransformBlockLayout(parallel, block, Map({k, j, i})),
              StatusIs(kRefused, HasSubstr("parallel")));
}

TEST(TransformBlockLayout, RefusesBlocksThatChangeWhatTheyFind) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 4, 4), "float32")):
    for i, j, k in T.grid(4, 4, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            A[vi, vj, vk] = A[vk, vj, vi]
)");
  EXPECT_THAT(TransformBlockLayout(f, BlockNamed(f, "C"), Map({k, j, i})),
              StatusIs(kRefused, HasSubstr("neither complete")));
}

TEST(TransformBlockLayout, RefusesALoopOverSeveralBlocks) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(A: T.Buffer((4, 4), "float32"), B: T.Buffer((4, 4), "float32")):
    M = T.alloc_buffer((4, 4))
    for i in range(4):
        for j in range(4):
            with T.block("M"):
                vi, vj = T.axis.remap("SS", [i, j])
                M[vi, vj] = A[vi, vj]
        for j in range(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = M[vi, 3 - vj]
)");
  EXPECT_THAT(
      TransformBlockLayout(f, BlockNamed(f, "B"), IndexMap{{i, j}, {j, i}}),
      StatusIs(kRefused, HasSubstr("no other block")));
}

TEST(TransformBlockLayout, SymbolicAndUnitExtents) {
  const Function f = ParseProgram(R"(
@T.prim_func
def main(a: T.handle, c: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (1, n, 4), "float32")
    C = T.match_buffer(c, (4, n), "float32")
    for i, j, k in T.grid(1, n, 4):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            C[vk, vj] = A[vi, vj, vk]
)");
  for (const IndexMap& map :
       {Map({k, j}), Map({Int(0), j, k}), Map({Add(Mul(j, Int(4)), k)})}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function g,
                              TransformBlockLayout(f, BlockNamed(f, "C"), map));
    KILN_EXPECT_OK(CheckSameResults(f, g, 2));
  }
}

}  // namespace
}  // namespace kiln
