#include "kiln/ir/tensor/in_place.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

TEST(InPlacePairsTest, OnlyPairsOfLikeTensorsAreTaken) {
  const auto check = [](const std::string& attribute) {
    const auto module = ParseModule("m.py", R"(
@T.prim_func
def main(A: T.Buffer((8,), "float32"), n: T.int64, B: T.Buffer((9,), "float32"), C: T.Buffer((8,), "float32")):
    T.func_attr({"in_place_buffers": )" + attribute +
                                                R"(})
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi] + B[vi]
)");
    KILN_EXPECT_OK(module.status());
    return InPlacePairs(module->functions[0]).status();
  };
  KILN_EXPECT_OK(check("[[0, 3]]"));
  KILN_EXPECT_OK(check("[]"));
  for (const char* bad :
       {"0", "[0, 3]", "[[0]]", "[[0, \"C\"]]", "[[0, 4]]", "[[-1, 3]]",
        "[[0, 3], [0, 3]]", "[[1, 3]]", "[[2, 3]]", "[[3, 3]]"}) {
    EXPECT_EQ(check(bad).code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(MovedPairsTest, ParametersHaveOtherPlacesOrAreGone) {
  using Moved = std::vector<InPlacePair>;
  const Moved pairs = {{3, 4}, {0, 4}};
  EXPECT_EQ(MovedPairs(pairs, {0, 3, 5, 4}), (Moved{{1, 3}, {0, 3}}));
  EXPECT_EQ(MovedPairs(pairs, {4, 3}), (Moved{{1, 0}}));
  EXPECT_EQ(MovedPairs(pairs, {0, 3}), Moved());
}

}  // namespace
}  // namespace kiln
