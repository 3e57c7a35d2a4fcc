#include "kiln/ir/transform/graph/expand_attention.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

constexpr char kOp[] = R"(
@R.function
def main(x: R.Tensor((2, 70, 3, 16), "float32"), k: R.Tensor((2, "m", 3, 16), "float32"), v: R.Tensor((2, "m", 3, 8), "float32"), bias: R.Tensor((2, 1, 1, "m"), "float32")):
    with R.dataflow():
        y = R.nn.attention_bias(x, k, v, bias, scale=0.5)
        R.output(y)
    return y
)";

constexpr char kProducts[] = R"(
@R.function
def main(x: R.Tensor((2, 70, 3, 16), "float32"), k: R.Tensor((2, "m", 3, 16), "float32"), v: R.Tensor((2, "m", 3, 8), "float32"), bias: R.Tensor((2, 1, 1, "m"), "float32")):
    with R.dataflow():
        q = R.permute_dims(x, axes=[0, 2, 1, 3])
        t = R.permute_dims(k, axes=[0, 2, 3, 1])
        s = R.matmul(q, t)
        c = R.multiply(s, R.const(0.5, "float32"))
        b = R.add(c, bias)
        p = R.nn.softmax(b, axis=-1)
        w = R.permute_dims(v, axes=[0, 2, 1, 3])
        a = R.matmul(p, w)
        y = R.permute_dims(a, axes=[0, 2, 1, 3])
        R.output(y)
    return y
)";

std::string Changed(const char* text, const std::string& from,
                    const std::string& to) {
  EXPECT_NE(std::string(text).find(from), std::string::npos) << from;
  return absl::StrReplaceAll(text, {{from, to}});
}

TEST(ExpandAttentionTest, OpenLengthsOfKeysBecomeProducts) {
  EXPECT_EQ(DifferenceAfter({"expand_attention"}, kOp, kProducts), "");
}

TEST(ExpandAttentionTest, OpenLengthsOfEachBecomeProducts) {
  const std::string from = "(2, 70", to = "(2, \"n\"";
  EXPECT_EQ(DifferenceAfter({"expand_attention"}, Changed(kOp, from, to),
                            Changed(kProducts, from, to)),
            "");
}

TEST(ExpandAttentionTest, TheScaleIsTheRootOfTheSizeUnlessItIsGiven) {
  const std::string products =
      absl::StrReplaceAll(kProducts, {{"const(0.5", "const(0.25"},
                                      {"        b = R.add(c, bias)\n", ""},
                                      {"softmax(b", "softmax(c"}});
  EXPECT_EQ(DifferenceAfter({"expand_attention"},
                            Changed(kOp,
                                    "attention_bias(x, k, v, bias, "
                                    "scale=0.5)",
                                    "attention(x, k, v)"),
                            products),
            "");
}

void ExpectStays(const std::string& text) {
  EXPECT_EQ(DifferenceAfter({"expand_attention"}, text, text), "");
}

TEST(ExpandAttentionTest, KnownAndEqualLengthsAndMasksStay) {
  ExpectStays(absl::StrReplaceAll(kOp, {{"\"m\"", "80"}}));
  ExpectStays(Changed(kOp, "(2, 70", "(2, \"m\""));
  ExpectStays(Changed(kOp, "scale=0.5", "scale=0.5, causal_mask=\"TopLeft\""));
  ExpectStays(Changed(kOp, "70, 3", "70, 6"));
  ExpectStays(Changed(kOp, "float32", "float16"));
}

}  // namespace
}  // namespace kiln
