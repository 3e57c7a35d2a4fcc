#include "kiln/schedule/analysis/index_order.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/schedule/analysis/reducer.h"
#include "kiln/schedule/testing/program.h"

namespace kiln {
namespace {

// argmax over k0 of 4 and k1 of 8, whose index is INDEX and begins with INIT.
bool Grow(const std::string& index, const std::string& init = "-1") {
  const Function f = ParseProgram(absl::StrReplaceAll(
      R"(
@T.prim_func
def main(A: T.Buffer((16, 32), "float32"), I: T.Buffer((16,), "int32"), V: T.Buffer((16,), "float32")):
    for i, k0, k1 in T.grid(16, 4, 8):
        with T.block("M"):
            vi = T.axis.spatial(16, i)
            vk = T.axis.reduce(32, INDEX)
            with T.init():
                I[vi] = INIT
                V[vi] = T.min_value("float32")
            v_i: T.int32 = T.Select(V[vi] >= A[vi, vk], I[vi], vk)
            v_v: T.float32 = T.Select(V[vi] >= A[vi, vk], V[vi], A[vi, vk])
            I[vi] = v_i
            V[vi] = v_v
)",
      {{"INDEX", index}, {"INIT", init}}));
  const BlockRealizeNode& realize = RealizeNamed(f, "M");
  const absl::StatusOr<Reducer> reducer = MatchReducer(*realize.block);
  KILN_EXPECT_OK(reducer.status());
  if (!reducer.ok()) return false;
  std::vector<const ForNode*> loops;
  for (LoopId id : LoopsOf(f, "M")) loops.push_back(&LoopById(f, id));
  return IndicesGrow(*reducer, realize, loops);
}

TEST(IndexOrderTest, TheOrderOfLoopsDecides) {
  EXPECT_TRUE(Grow("k0 * 8 + k1"));
  EXPECT_FALSE(Grow("k1 * 4 + k0"));
  EXPECT_FALSE(Grow("31 - (k0 * 8 + k1)"));
}

TEST(IndexOrderTest, NoIndexIsBelowTheFirst) {
  EXPECT_TRUE(Grow("k0 * 8 + k1", "0"));
  EXPECT_FALSE(Grow("k0 * 8 + k1", "5"));
}

}  // namespace
}  // namespace kiln
