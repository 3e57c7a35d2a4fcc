// The choices for products and convolutions of known sizes, a letter for each:
// which operands are packed, where, and in which order, for several register
// files and caches.
#include "kiln/search/space/rule/tiling_choice.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using testing::ElementsAre;

// One letter for each choice: d(irect), p(acked), s(treamed), n(ear), and
// t(ogether near and streamed).
std::string Kinds(const std::string& workload, bool layout_free = false,
                  const std::string& block = "Z",
                  int64_t near_bytes = 1 << 20) {
  Module module = *MakeWorkload(workload);
  if (layout_free) SetLayoutFree(&module.functions[0], {1});
  const auto info = DescribeBlock(module.functions[0], block);
  const auto axes = ChooseTileAxes(*info);
  std::string kinds;
  for (const TilingChoice& c :
       TilingChoices(*info, *axes, kAvx512Registers, near_bytes)) {
    kinds += c.near ? (c.streamed ? 't' : 'n')
                    : (c.streamed ? 's'
                       : c.packed ? 'p'
                                  : 'd');
  }
  return kinds;
}

TEST(TilingChoicesTest, SmallOperandsAreReadInPlaceOrPacked) {
  EXPECT_EQ(Kinds("gmm:128,128,128"), "dpp");
}

TEST(TilingChoicesTest, LargeOperandsOfFewRowsAreNotPacked) {
  EXPECT_EQ(Kinds("gmm:8,1024,1024"), "d");
}

TEST(TilingChoicesTest, LargeMatricesArePackedInWidePanels) {
  EXPECT_EQ(Kinds("gmm:1024,1024,1024"), "ppnn");
  EXPECT_EQ(Kinds("gmm:1024,24,65536"), "pt") << "no three vectors wide";
}

TEST(TilingChoicesTest, LargeMatricesOfSomeRowsMayBePackedOrStreamed) {
  EXPECT_EQ(Kinds("gmm:64,1024,1024"), "ntnt") << "rows 4 KiB apart";
  EXPECT_EQ(Kinds("gmm:128,1024,1024"), "ppntnt");
  EXPECT_EQ(Kinds("gmm:256,1024,1024"), "ppnn") << "used often";
  EXPECT_EQ(Kinds("gmm:64,1000,1024"), "dnn");
}

TEST(TilingChoicesTest, PanelsThatAreTooHighComeInBlocks) {
  EXPECT_EQ(Kinds("gmm:64,512,9000"), "tts");
  EXPECT_EQ(Kinds("c2d:7,7,512,512,3,1,1", false, "conv2d_nhwc"), "dtt");
}

TEST(TilingChoicesTest, TapsThatStayInACacheAreReadInPlace) {
  EXPECT_EQ(Kinds("c2d:14,14,256,192,3,1,1", false, "conv2d_nhwc"), "dpp");
}

// 2304 rows 1 KiB apart fill the sixteenth of the sets that they share.
TEST(TilingChoicesTest, TapsThatKeepEachOtherOutAreNot) {
  EXPECT_EQ(Kinds("c2d:14,14,256,256,3,1,1", false, "conv2d_nhwc"), "dpt");
}

// Second-level caches of 2 MiB, 1 MiB, 512 KiB and 256 KiB, half of which may
// hold operands.
TEST(TilingChoicesTest, WhatMayWaitDependsOnTheCache) {
  const auto product = [](int64_t near_bytes) {
    return Kinds("gmm:64,1024,1024", false, "Z", near_bytes);
  };
  EXPECT_EQ(product(1 << 20), "ntnt");
  EXPECT_EQ(product(512 << 10), "ntnt");
  EXPECT_EQ(product(256 << 10), "ntnt") << "panels of up to 256 KiB";
  EXPECT_EQ(product(128 << 10), "tts");
  const auto taps = [](int64_t near_bytes) {
    return Kinds("c2d:14,14,256,192,3,1,1", false, "conv2d_nhwc", near_bytes);
  };
  EXPECT_EQ(taps(1 << 20), "dpp");
  EXPECT_EQ(taps(256 << 10), "dpptt");
}

TEST(TilingChoicesTest, ConstantOperandsLieInPanels) {
  EXPECT_EQ(Kinds("gmm:64,1024,1024", /*layout_free=*/true), "pp");
}

TEST(TilingChoicesTest, ConstantPanelsThatCrowdRowsOutComeInBlocks) {
  const auto product = [](const std::string& workload, int64_t near_bytes) {
    return Kinds(workload, /*layout_free=*/true, "Z", near_bytes);
  };
  EXPECT_EQ(product("gmm:128,768,3072", 1 << 20), "ss");
  EXPECT_EQ(product("gmm:128,768,3072", 4 << 20), "pp") << "of a larger cache";
  EXPECT_EQ(product("gmm:16,768,3072", 1 << 20), "p") << "few rows";
  EXPECT_EQ(product("gmm:192,768,3072", 1 << 20), "psps") << "used often";
  EXPECT_EQ(product("gmm:192,768,2048", 1 << 20), "pp") << "which find room";
  EXPECT_EQ(product("gmm:192,1024,4096", 1 << 20), "pss") << "and which do not";
  EXPECT_EQ(product("gmm:180,320,1280", 1 << 20), "ppsps")
      << "four panels of three vectors fit, and two of more";
  EXPECT_EQ(product("gmm:128,3072,768", 512 << 10), "psps");
}

// In equal parts, two of which find room.
TEST(TilingChoicesTest, BlocksAreAsTallAsTheCacheAllows) {
  const auto tallest = [](const std::string& workload, int64_t near_bytes) {
    Module module = *MakeWorkload(workload);
    SetLayoutFree(&module.functions[0], {1});
    const auto info = DescribeBlock(module.functions[0], "Z");
    std::vector<int64_t> rows;
    for (const TilingChoice& c : TilingChoices(*info, *ChooseTileAxes(*info),
                                               kAvx512Registers, near_bytes)) {
      if (c.streamed && c.vectors == 4) rows.push_back(c.tallest);
    }
    return rows;
  };
  EXPECT_THAT(tallest("gmm:384,1024,4096", 1 << 20), ElementsAre(2048));
  EXPECT_THAT(tallest("gmm:384,1024,4096", 512 << 10), ElementsAre(1024));
  EXPECT_THAT(tallest("gmm:384,1024,5000", 1 << 20), ElementsAre(1668));
}

// A tile reads several panels of whole lines at once.
TEST(TilingChoicesTest, ConstantMatricesOfOneRowComeAsAFewStreams) {
  Module module = *MakeWorkload("gmm:1,1024,1024");
  SetLayoutFree(&module.functions[0], {1});
  const auto info = DescribeBlock(module.functions[0], "Z");
  const auto axes = ChooseTileAxes(*info);
  const auto streams = [&](const VectorRegisters& file) {
    const auto choices = TilingChoices(*info, *axes, file, 1 << 20);
    EXPECT_EQ(choices.size(), 1);
    EXPECT_TRUE(choices[0].packed.has_value());
    return std::pair(choices[0].vectors, choices[0].panels);
  };
  EXPECT_EQ(streams(kAvx512Registers), std::pair(1, 4));
  EXPECT_EQ(streams(kAvxRegisters), std::pair(2, 4));
  EXPECT_EQ(streams(kSseRegisters), std::pair(4, 3)) << "of 16 registers";
  EXPECT_EQ(Kinds("gmm:1,1024,1024", /*layout_free=*/false), "d");
  EXPECT_EQ(Kinds("gmm:1,128,128", /*layout_free=*/true), "d") << "in a cache";
}

// Twelve matrices, each multiplied with a row of its own; and as many products
// of elements as there are in a matrix, added up by columns.
TEST(TilingChoicesTest, EachOfABatchOfMatricesMayHaveOneRow) {
  const auto panels = [](const std::string& shape, const std::string& product) {
    const auto f = ParseFunction("test", absl::Substitute(R"(
@T.prim_func
def main(A: T.Buffer((12, 768, $0), "float32"), B: T.Buffer((12, 768, 1024), "float32"), C: T.Buffer((12, 1024), "float32")):
    T.func_attr({"layout_free_buffers": [1]})
    for b, j, k in T.grid(12, 1024, 768):
        with T.block("C"):
            vb, vj, vk = T.axis.remap("SSR", [b, j, k])
            with T.init():
                C[vb, vj] = T.float32(0)
            C[vb, vj] = C[vb, vj] + $1 * B[vb, vk, vj]
)",
                                                          shape, product));
    KILN_EXPECT_OK(f.status());
    const auto info = DescribeBlock(*f, "C");
    return TilingChoices(*info, *ChooseTileAxes(*info), kAvxRegisters, 1 << 20)
        .front()
        .panels;
  };
  EXPECT_EQ(panels("1", "A[vb, vk, 0]"), 4);
  EXPECT_EQ(panels("1024", "A[vb, vk, vj]"), 1);
}

// Nobody could ask for the next panel of 9 x 512 rows.
TEST(TilingChoicesTest, ConstantOperandsOfSeveralReductionsMayComeInBlocks) {
  EXPECT_EQ(Kinds("c2d:7,7,512,512,3,1,1", true, "conv2d_nhwc"), "psps");
  EXPECT_EQ(Kinds("c2d:7,7,1024,512,1,1,0", true, "conv2d_nhwc"), "p");
}

TEST(TilingChoicesTest, WhatEachLaneUsesAloneIsReadAsItLies) {
  EXPECT_EQ(Kinds("dep:112,112,64,3,2,1", false, "depth_conv2d_nhwc"), "dd");
  EXPECT_EQ(Kinds("dep:7,7,1024,3,1,1", true, "depth_conv2d_nhwc"), "dd");
}

TEST(ChooseTileAxesTest, RowsAreNextToTheColumns) {
  const Module module = *MakeWorkload("gmm:128,64,32");
  const auto info = DescribeBlock(module.functions[0], "Z");
  const auto axes = ChooseTileAxes(*info);
  ASSERT_TRUE(axes);
  EXPECT_EQ(axes->row, 1);
  EXPECT_EQ(axes->column, 2);
  EXPECT_EQ(axes->unroll, 3);
  const TileSpace space = TileSpaceOf(*info, *axes);
  EXPECT_EQ(space.rows, 128);
  EXPECT_EQ(space.columns, 64);
}

TEST(ChooseTileAxesTest, RowsOfAnImageOfOneChannelAreTheColumns) {
  const auto column = [](const char* workload) {
    const Module module = *MakeWorkload(workload);
    const auto axes =
        ChooseTileAxes(*DescribeBlock(module.functions[0], "conv2d_nhwc"));
    return axes ? axes->column : -1;
  };
  EXPECT_EQ(column("c2d:9,20,1,1,3,1,0"), 2);
  EXPECT_EQ(column("c2d:9,20,1,16,3,1,0"), 3);
  EXPECT_EQ(column("c2d:9,20,5,1,3,1,0"), -1) << "pixels are apart";
}

TEST(ChooseTileAxesTest, VectorsAreNoWiderThanTheColumns) {
  EXPECT_EQ(LanesFor(7, kAvx512Registers), 7);
  EXPECT_EQ(LanesFor(16, kAvx512Registers), 16);
  EXPECT_EQ(LanesFor(100, kAvx512Registers), 16);
  EXPECT_EQ(LanesFor(7, kNeonRegisters), 4);
  EXPECT_EQ(LanesFor(3, kSseRegisters), 2);
}

}  // namespace
}  // namespace kiln
