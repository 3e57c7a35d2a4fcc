#include "kiln/search/space/rule/register_tiles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace kiln {
namespace {

using ::testing::Contains;

TEST(RegisterTilesTest, TilesLeaveRegistersForOperands) {
  for (int64_t rows : {1, 7, 49, 512}) {
    for (int64_t columns : {3, 16, 50, 512}) {
      double total = 0;
      for (const RegisterTile& t :
           ChooseRegisterTiles({1, rows, columns}, kAvx512Registers, 8)) {
        EXPECT_LE(t.rows * t.vectors + t.vectors + 1, 32);
        EXPECT_LE(t.rows, rows);
        EXPECT_GT(t.weight, 0);
        total += t.weight;
      }
      EXPECT_LT(std::abs(total - 1), 1e-9) << rows << " x " << columns;
    }
  }
}

TEST(RegisterTilesTest, RowsThatDivideTheOutputComeFirst) {
  const RegisterTile best =
      ChooseRegisterTiles({1, 49, 512}, kAvx512Registers, 1).at(0);
  EXPECT_EQ(best.rows, 7);
  const RegisterTile narrow =
      ChooseRegisterTiles({1, 14, 32}, kAvx512Registers, 1).at(0);
  EXPECT_EQ(narrow.rows, 14);
  EXPECT_EQ(narrow.vectors, 2);
}

// Nine taps stay in registers beside the sums of 2 x 7 elements; wider tiles
// read theirs anew, and there are some of each width.
TEST(RegisterTilesTest, LanesWithOperandsOfTheirOwnHaveTilesOfAllWidths) {
  const std::vector<RegisterTile> tiles =
      ChooseRegisterTiles({14, 14, 64, /*taps=*/9}, kAvx512Registers, 8);
  ASSERT_EQ(tiles.size(), 8u);
  EXPECT_EQ(tiles[0].vectors, 1);
  EXPECT_EQ(tiles[0].outer_rows, 2);
  std::map<int, int> of_width;
  for (const RegisterTile& t : tiles) {
    ++of_width[t.vectors];
    EXPECT_LE(t.outer_rows, 2);
    EXPECT_LE(t.outer_rows * t.rows * t.vectors + 2, 32);
  }
  EXPECT_EQ(of_width, (std::map<int, int>{{1, 2}, {2, 2}, {3, 2}, {4, 2}}));
}

TEST(RegisterTilesTest, LinesOfASmallImageShareATile) {
  const RegisterTile best =
      ChooseRegisterTiles({8, 4, 32}, kAvx512Registers, 1).at(0);
  EXPECT_EQ(best.rows, 4);
  EXPECT_GE(best.outer_rows, 2);
  for (const RegisterTile& t :
       ChooseRegisterTiles({8, 20, 512}, kAvx512Registers, 20)) {
    EXPECT_TRUE(t.outer_rows == 1 || t.rows == 20);
  }
}

TEST(RegisterTilesTest, FewRegistersGiveSmallTiles) {
  const VectorRegisters avx2 = kAvxRegisters;
  const RegisterTile best = ChooseRegisterTiles({1, 600, 640}, avx2, 1).at(0);
  EXPECT_LE(best.rows * best.vectors, 14);
  EXPECT_GE(best.rows * best.vectors, 10);
}

TEST(PanelTilesTest, WidthsDifferAndTilesOfOneAreAlike) {
  const TileSpace space{1, 128, 768};
  const std::vector<int> widths = PanelWidths(space, kAvx512Registers);
  ASSERT_GE(widths.size(), 2u);
  for (int vectors : widths) {
    EXPECT_GT(vectors, 1);
    double total = 0;
    for (const RegisterTile& t :
         ChoosePanelTiles(space, kAvx512Registers, vectors, 3)) {
      EXPECT_EQ(t.vectors, vectors);
      EXPECT_LE(t.rows * t.vectors + t.vectors + 1, 32);
      EXPECT_GE(t.rows, 4) << "a vector of a panel is used for few rows";
      total += t.weight;
    }
    EXPECT_NEAR(total, 1, 1e-6);
  }
}

TEST(PanelTilesTest, NarrowOutputsHaveOneVector) {
  EXPECT_EQ(PanelWidths({1, 49, 16}, kAvx512Registers), std::vector<int>{1});
}

TEST(PanelTilesTest, ColumnsThatNothingWiderDividesHaveWiderPanelsToo) {
  for (const int64_t vectors : {5, 7}) {
    const std::vector<int> widths =
        PanelWidths({1, 784, 8 * vectors}, kAvxRegisters);
    EXPECT_GT(*std::max_element(widths.begin(), widths.end()), 1) << vectors;
  }
  EXPECT_THAT(PanelWidths({1, 784, 40}, kAvxRegisters), Contains(5));
}

// Two ends that are cut short, over padding, are more copies than there may be.
TEST(RegisterTilesTest, TilesOfLanesDivideRowsWhereColumnsAreCutShort) {
  for (const RegisterTile& tile :
       ChooseRegisterTiles({28, 28, 9, /*taps=*/9}, kAvxRegisters, 8)) {
    EXPECT_EQ(28 % tile.rows, 0);
    EXPECT_EQ(28 % tile.outer_rows, 0);
  }
  EXPECT_FALSE(
      ChooseRegisterTiles({1, 13, 9, /*taps=*/9}, kAvxRegisters, 8).empty());
}

}  // namespace
}  // namespace kiln
