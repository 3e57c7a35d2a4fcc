// Functions whose body is not in one block come from C++ only: the reader adds
// the root. Every step on them is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/schedule/primitive/add_unit_loop.h"
#include "kiln/schedule/primitive/annotate.h"
#include "kiln/schedule/primitive/cache.h"
#include "kiln/schedule/primitive/compute_at.h"
#include "kiln/schedule/primitive/compute_inline.h"
#include "kiln/schedule/primitive/decompose_reduction.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/fuse.h"
#include "kiln/schedule/primitive/lookup.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/schedule/primitive/sample.h"
#include "kiln/schedule/primitive/split.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

constexpr char kRowSums[] = R"(
@T.prim_func
def main(A: T.Buffer((7, 13), "float32"), C: T.Buffer((7,), "float32")):
    for i, k in T.grid(7, 13):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] = C[vi] + A[vi, vk]
)";

class NoRootTest : public ::testing::Test {
 protected:
  NoRootTest() : f_(ParseProgram(kRowSums)) {
    block_ = BlockNamed(f_, "C");
    loops_ = LoopsOf(f_, "C");
    f_.body = f_.body.As<BlockRealizeNode>()->block->body;
  }

  template <typename Result>
  void ExpectRefused(const Result& result) {
    EXPECT_THAT(result, StatusIs(absl::StatusCode::kFailedPrecondition,
                                 HasSubstr("is not in one block")));
  }

  Function f_;
  BlockId block_;
  std::vector<LoopId> loops_;
};

TEST_F(NoRootTest, StepsOnLoopsAreRefused) {
  const LoopId loop = loops_[0];
  ExpectRefused(Split(f_, loop, {std::nullopt, 2}));
  ExpectRefused(Fuse(f_, loops_));
  ExpectRefused(Reorder(f_, {loops_[1], loop}));
  ExpectRefused(Parallel(f_, loop));
  ExpectRefused(Vectorize(f_, loop));
  ExpectRefused(Unroll(f_, loop));
  ExpectRefused(Bind(f_, loop, "threadIdx.x"));
  ExpectRefused(AddUnitLoopAboveLoop(f_, loop));
  ExpectRefused(AnnotateLoop(f_, loop, "key", Attr(Int(1))));
  ExpectRefused(UnannotateLoop(f_, loop, "key"));
  ExpectRefused(GetChildBlocksOfLoop(f_, loop));
  ExpectRefused(CheckPerfectTile(f_, loop, 2, 8, {7, 1}));
}

TEST_F(NoRootTest, StepsOnBlocksAreRefused) {
  ExpectRefused(GetLoops(f_, block_));
  ExpectRefused(GetProducers(f_, block_));
  ExpectRefused(GetConsumers(f_, block_));
  ExpectRefused(AddUnitLoopAboveBlock(f_, block_));
  ExpectRefused(DecomposeReduction(f_, block_, loops_[1]));
  ExpectRefused(CacheRead(f_, block_, 0, "global", {}));
  ExpectRefused(CacheWrite(f_, block_, 0, "global", {}));
  ExpectRefused(ComputeInline(f_, block_));
  ExpectRefused(ComputeAt(f_, block_, loops_[0]));
  ExpectRefused(ComputeLocations(f_, block_));
}

}  // namespace
}  // namespace kiln
