#include "kiln/ir/transform/graph/combine_attention.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

// 64 queries, 80 keys, 3 heads.
constexpr char kProducts[] = R"(
@R.function
def main(x: R.Tensor((2, 64, 3, 16), "float32"), k: R.Tensor((2, 80, 3, 16), "float32"), v: R.Tensor((2, 80, 3, 8), "float32"), mask: R.Tensor((2, 1, 1, 80), "float32")):
    with R.dataflow():
        q = R.permute_dims(x, axes=[0, 2, 1, 3])
        h = R.permute_dims(k, axes=[0, 2, 1, 3])
        t = R.permute_dims(h, axes=[0, 1, 3, 2])
        s = R.matmul(q, t)
        c = R.multiply(s, R.const(0.25, "float32"))
        m = R.add(c, mask)
        p = R.nn.softmax(m, axis=-1)
        w = R.permute_dims(v, axes=[0, 2, 1, 3])
        a = R.matmul(p, w)
        y = R.permute_dims(a, axes=[0, 2, 1, 3])
        R.output(y)
    return y
)";

constexpr char kOp[] = R"(
@R.function
def main(x: R.Tensor((2, 64, 3, 16), "float32"), k: R.Tensor((2, 80, 3, 16), "float32"), v: R.Tensor((2, 80, 3, 8), "float32"), mask: R.Tensor((2, 1, 1, 80), "float32")):
    with R.dataflow():
        y = R.nn.attention_bias(x, k, v, mask, scale=0.25)
        R.output(y)
    return y
)";

using Changes = std::vector<std::pair<std::string, std::string>>;

std::string DifferenceFor(const Changes& changes, const std::string& wanted) {
  return DifferenceAfter({"combine_attention"},
                         absl::StrReplaceAll(kProducts, changes), wanted);
}

void ExpectStays(const Changes& changes) {
  const std::string text = absl::StrReplaceAll(kProducts, changes);
  EXPECT_NE(text, kProducts);
  EXPECT_EQ(DifferenceAfter({"combine_attention"}, text, text), "");
}

TEST(CombineAttentionTest, ProductsBetweenPermutationsBecomeOneOp) {
  EXPECT_EQ(DifferenceFor({}, kOp), "");
}

TEST(CombineAttentionTest, ScaleAndMaskStandInSeveralWays) {
  EXPECT_EQ(DifferenceFor({{"R.multiply(s, R.const(0.25, \"float32\"))",
                            "R.divide(s, R.const(4.0, \"float32\"))"}},
                          kOp),
            "");
  EXPECT_EQ(DifferenceFor({{"R.multiply(s, R.const(0.25, \"float32\"))",
                            "R.multiply(R.const(0.25, \"float32\"), s)"},
                           {"R.add(c, mask)", "R.add(mask, c)"},
                           {"axis=-1", "axis=3"}},
                          kOp),
            "");
  EXPECT_EQ(DifferenceFor({{"R.matmul(q, t)", "R.matmul(e, t)"},
                           {"        h = ",
                            "        e = R.multiply(q, R.const(0.5, "
                            "\"float32\"))\n        h = "},
                           {"0.25", "0.5"}},
                          kOp),
            "");
  EXPECT_EQ(DifferenceFor({{"R.permute_dims(h, axes=[0, 1, 3, 2])",
                            "R.permute_dims(k, axes=[0, 2, 3, 1])"}},
                          kOp),
            "");
}

TEST(CombineAttentionTest, WithoutMaskOrScale) {
  EXPECT_EQ(
      DifferenceFor(
          {{"R.nn.softmax(m", "R.nn.softmax(s"},
           {"        c = R.multiply(s, R.const(0.25, \"float32\"))\n", ""},
           {"        m = R.add(c, mask)\n", ""}},
          absl::StrReplaceAll(kOp, {{"attention_bias(x, k, v, mask, scale=0.25",
                                     "attention(x, k, v, scale=1.0"}})),
      "");
}

TEST(CombineAttentionTest, WhatOthersUseIsComputedOnce) {
  ExpectStays({{"R.output(y)", "R.output(y, p)"}, {"return y", "return y, p"}});
  ExpectStays({{"R.output(y)", "R.output(y, s)"}, {"return y", "return y, s"}});
}

TEST(CombineAttentionTest, OtherArrangementsStay) {
  ExpectStays({{"R.permute_dims(a, axes=[0, 2, 1, 3])",
                "R.permute_dims(a, axes=[0, 1, 3, 2])"}});
  ExpectStays({{"axis=-1", "axis=2"}});
  // A number for each head.
  ExpectStays({{"R.const(0.25, \"float32\")", "mask"}});
  ExpectStays({{"float32", "float16"}});
}

TEST(CombineAttentionTest, OpenLengthsOfQueriesAreTakenForMany) {
  const Changes queries = {{"(2, 64", "(2, \"n\""}};
  EXPECT_EQ(DifferenceFor(queries, absl::StrReplaceAll(kOp, queries)), "");
  const Changes both = {{"(2, 64", "(2, \"n\""},
                        {"(2, 80", "(2, \"n\""},
                        {"1, 80)", "1, \"n\")"}};
  EXPECT_EQ(DifferenceFor(both, absl::StrReplaceAll(kOp, both)), "");
  ExpectStays({{"(2, 80", "(2, \"m\""}, {"1, 80)", "1, \"m\")"}});
  ExpectStays({{"(2, 64", "(2, \"n\""},
               {"(2, 80", "(2, \"m\""},
               {"1, 80)", "1, \"m\")"}});
}

TEST(CombineAttentionTest, FewQueriesStay) { ExpectStays({{"64", "1"}}); }

}  // namespace
}  // namespace kiln
