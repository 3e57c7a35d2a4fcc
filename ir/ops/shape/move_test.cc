// Elements under other indices: reshaped, stretched, repeated, laid out anew.
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/testing/run_op.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

const char kMatrix[] = "x: R.Tensor((\"n\", 3), \"float32\")";

std::map<std::string, Tensor> Matrix() {
  return {{"x", Numbers({2, 3}, {1, 2, 3, 4, 5, 6})}};
}

TEST(MoveTest, ReshapesKeepTheOrder) {
  for (const char* call :
       {"reshape(x, (3, n))", "reshape(x, (-1,))", "flatten(x)",
        "reshape(x, (1, n, 1, 3))", "expand_dims(x, axis=[0, -1])",
        "nn.batch_flatten(x)"}) {
    EXPECT_THAT(ValuesOfOp(kMatrix, call, Matrix()),
                IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6)))
        << call;
  }
  const Tensor x = Numbers({1, 2, 1}, {7, 8}, DType::Int(32));
  EXPECT_THAT(ValuesOfOp("x: R.Tensor((1, \"n\", 1), \"int32\")",
                         "squeeze(x, axis=[0, 2])", {{"x", x}}),
              IsOkAndHolds(ElementsAre(7, 8)));
  EXPECT_THAT(
      ValuesOfOp("x: R.Tensor((1, 2, 1), \"int32\")", "squeeze(x)", {{"x", x}}),
      IsOkAndHolds(ElementsAre(7, 8)));
}

TEST(MoveTest, ReshapesOfOtherSizesAreRefused) {
  const std::string param = "x: R.Tensor((2, 3), \"float32\")";
  EXPECT_THAT(LegalizedCall(param, "reshape(x, (4, 2))").status().message(),
              HasSubstr("another number of elements"));
  EXPECT_FALSE(LegalizedCall(param, "reshape(x, (-1, -1))").ok());
  EXPECT_FALSE(LegalizedCall(param, "reshape(x, (-1, 0))").ok());
  EXPECT_FALSE(LegalizedCall(param, "reshape(x, (-2, -3))").ok());
  EXPECT_FALSE(LegalizedCall(param, "expand_dims(x, axis=[0, 0])").ok());
  EXPECT_FALSE(LegalizedCall(param, "squeeze(x, axis=[2])").ok());
}

TEST(MoveTest, StretchedAndSummedBack) {
  const Tensor x = Numbers({2, 1}, {1, 2});
  EXPECT_THAT(ValuesOfOp("x: R.Tensor((\"n\", 1), \"float32\")",
                         "broadcast_to(x, (2, n, 3))", {{"x", x}}),
              IsOkAndHolds(ElementsAre(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2)));
  const Tensor y = Numbers({2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_THAT(ValuesOfOp("y: R.Tensor((\"b\", \"n\", 3), \"float32\")",
                         "collapse_sum_to(y, (n, 1))", {{"y", y}}),
              IsOkAndHolds(ElementsAre(1 + 2 + 3 + 7 + 8 + 9,
                                       4 + 5 + 6 + 10 + 11 + 12)));
  EXPECT_THAT(ValuesOfOp("y: R.Tensor((2, 2, 3), \"float32\"), "
                         "z: R.Tensor((3,), \"float32\")",
                         "collapse_sum_like(y, z)",
                         {{"y", y}, {"z", Numbers({3}, {})}}),
              IsOkAndHolds(ElementsAre(22, 26, 30)));
}

TEST(MoveTest, RepeatedTiledAndReversed) {
  EXPECT_THAT(ValuesOfOp(kMatrix, "repeat(x, repeats=2, axis=0)", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6)));
  EXPECT_THAT(ValuesOfOp(kMatrix, "repeat(x, repeats=2)", Matrix()),
              IsOkAndHolds(ElementsAre(1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6)));
  EXPECT_THAT(ValuesOfOp(kMatrix, "tile(x, repeats=[2])", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6)));
  EXPECT_THAT(ValuesOfOp(kMatrix, "tile(x, repeats=[2, 1, 1])", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6)));
  EXPECT_THAT(ValuesOfOp(kMatrix, "flip(x, axis=0)", Matrix()),
              IsOkAndHolds(ElementsAre(4, 5, 6, 1, 2, 3)));
  EXPECT_THAT(ValuesOfOp(kMatrix, "flip(x, axis=-1)", Matrix()),
              IsOkAndHolds(ElementsAre(3, 2, 1, 6, 5, 4)));
  EXPECT_FALSE(LegalizedCall(kMatrix, "tile(x, repeats=[-1])").ok());
  EXPECT_FALSE(LegalizedCall(kMatrix, "repeat(x, repeats=-1, axis=0)").ok());
  EXPECT_THAT(ValuesOfOp(kMatrix, "repeat(x, repeats=0, axis=0)", Matrix()),
              IsOkAndHolds(ElementsAre()));
}

TEST(MoveTest, OnlyTheSequencesAreReversed) {
  std::map<std::string, Tensor> tensors = Matrix();
  tensors["s"] = Numbers({2}, {2, 9}, DType::Int(64));
  EXPECT_THAT(
      ValuesOfOp(std::string(kMatrix) + ", s: R.Tensor((\"n\",), \"int64\")",
                 "reverse_sequence(x, s, seq_axis=1, batch_axis=0)", tensors),
      IsOkAndHolds(ElementsAre(2, 1, 3, 6, 5, 4)));
}

TEST(MoveTest, IndexMapsMoveElementsAndPadWhatIsNotThere) {
  const std::string blocked =
      "layout_transform(x, index_map=T.index_map(lambda i, j: (j // 2, i, j % "
      "2)), pad_value=";
  EXPECT_THAT(ValuesOfOp(kMatrix, blocked + "9.0)", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 4, 5, 3, 9, 6, 9)));
  EXPECT_THAT(ValuesOfOp(kMatrix, blocked + "None)", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 4, 5, 3, 0, 6, 0)));
  EXPECT_THAT(ValuesOfOp("x: R.Tensor((2, \"n\"), \"float32\")",
                         blocked + "9.0)", Matrix()),
              IsOkAndHolds(ElementsAre(1, 2, 4, 5, 3, 9, 6, 9)));
  EXPECT_THAT(ValuesOfOp(kMatrix,
                         "layout_transform(x, index_map=T.index_map(lambda i, "
                         "j: (j, i)))",
                         Matrix()),
              IsOkAndHolds(ElementsAre(1, 4, 2, 5, 3, 6)));
}

}  // namespace
}  // namespace kiln
