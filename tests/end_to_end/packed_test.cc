// Operands whose elements serve several iterations: packed numbers with their
// scales, in each layout that is in use, and inputs of depthwise convolutions
// with a multiplier. Machine code computes what the interpreter computes.
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

// Y[i, n] is the sum of X[i, k] * D[n, k] over k: eight numbers of four bits in
// each element of W, and a scale for so many of them in each of S.
constexpr char kProduct[] = R"(
@T.prim_func
def main(X: T.Buffer(($rows, 96), "float32"), W: T.Buffer($packed, "uint32"), S: T.Buffer($scales, "float32"), Y: T.Buffer(($rows, 72), "float32")):
    D = T.alloc_buffer((72, 96))
    for n, k in T.grid(72, 96):
        with T.block("D"):
            vn, vk = T.axis.remap("SS", [n, k])
            D[vn, vk] = (T.Cast("float32", T.bitwise_and(T.shift_right(W[$w], T.Cast("uint32", $along % 8 * 4)), T.uint32(15))) - T.float32(7)) * S[$s]
    for i, n, k in T.grid($rows, 72, 96):
        with T.block("Y"):
            vi, vn, vk = T.axis.remap("SSR", [i, n, k])
            with T.init():
                Y[vi, vn] = T.float32(0)
            Y[vi, vn] = Y[vi, vn] + X[vi, vk] * D[vn, vk]
)";

struct Layout {
  absl::string_view packed, scales, w, along, s;
};

constexpr Layout kLayouts[] = {
    {"(72, 12)", "(72, 3)", "vn, vk // 8", "vk", "vn, vk // 32"},
    {"(12, 72)", "(3, 72)", "vk // 8, vn", "vk", "vk // 32, vn"},
    {"(96, 9)", "(3, 72)", "vk, vn // 8", "vn", "vk // 32, vn"},
    {"(72, 12)", "(9, 96)", "vn, vk // 8", "vk", "vn // 8, vk"},
};

// Each column reads an input that $m of them share.
constexpr char kDepthwise[] = R"(
@T.prim_func
def main(A: T.Buffer((7, 9, $c), "$type"), W: T.Buffer((3, 3, $n), "$type"), Y: T.Buffer((5, 7, $n), "$type")):
    for h, w, c, y, x in T.grid(5, 7, $n, 3, 3):
        with T.block("Y"):
            vh, vw, vc, vy, vx = T.axis.remap("SSSRR", [h, w, c, y, x])
            with T.init():
                Y[vh, vw, vc] = T.$type(0)
            Y[vh, vw, vc] = Y[vh, vw, vc] + A[vh + vy, vw + vx, vc // $m] * W[vy, vx, vc]
)";

using PackedTest = EveryTargetTest;

TEST_P(PackedTest, ProductsOfPackedNumbers) {
  for (const int rows : {1, 3, 4, 9, 64}) {
    for (const Layout& layout : kLayouts) {
      const std::string text =
          absl::StrReplaceAll(kProduct, {{"$rows", absl::StrCat(rows)},
                                         {"$packed", layout.packed},
                                         {"$scales", layout.scales},
                                         {"$w", layout.w},
                                         {"$along", layout.along},
                                         {"$s", layout.s}});
      const absl::Status same = CheckByDefault(text);
      EXPECT_TRUE(same.ok()) << text << same;
    }
  }
}

TEST_P(PackedTest, DepthwiseConvolutionsWithAMultiplier) {
  for (const int multiplier : {2, 3, 4, 8, 20}) {
    for (const int channels : {1, 4, 10}) {
      for (const char* type : {"float32", "float64", "int32"}) {
        const std::string text = absl::StrReplaceAll(
            kDepthwise, {{"$m", absl::StrCat(multiplier)},
                         {"$c", absl::StrCat(channels)},
                         {"$n", absl::StrCat(channels * multiplier)},
                         {"$type", type}});
        const absl::Status same = CheckByDefault(text);
        EXPECT_TRUE(same.ok()) << text << same;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, PackedTest, ::testing::ValuesIn(kX86Targets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
