#include "kiln/codegen/guard/input_ranges.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// Such as "[0, 9] -": one for each parameter.
std::string Ranges(const std::string& params, const std::string& body) {
  const auto f = ParseFunction("test", absl::StrCat(R"(
@T.prim_func
def main()",
                                                    params, "):\n", body));
  KILN_EXPECT_OK(f);
  if (!f.ok()) return "";
  const auto ranges = InputRanges(*f);
  KILN_EXPECT_OK(ranges);
  if (!ranges.ok()) return "";
  std::string text;
  for (const std::optional<ValueRange>& range : *ranges) {
    absl::StrAppend(
        &text, text.empty() ? "" : " ",
        range ? absl::StrCat("[", range->low, ", ", range->high, "]") : "-");
  }
  return text;
}

constexpr char kLookUp[] =
    R"(idx: T.Buffer((4,), "int32"), E: T.Buffer((10, 3), "float32"), O: T.Buffer((4, 3), "float32"))";

// O[i, j] = E[index, j].
std::string LookUp(const std::string& index) {
  return Ranges(kLookUp, absl::StrCat(R"(
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[)",
                                      index, ", vj]\n"));
}

TEST(InputRangesTest, IndicesStayInside) {
  EXPECT_EQ(LookUp("idx[vi]"), "[0, 9] - -");
  EXPECT_EQ(LookUp("idx[vi] + 2"), "[-2, 7] - -");
  EXPECT_EQ(LookUp("idx[vi] - 3"), "[3, 12] - -");
  EXPECT_EQ(LookUp("9 - idx[vi]"), "[0, 9] - -");
  EXPECT_EQ(LookUp("idx[vi] * 3 + vj"), "[0, 2] - -");
}

TEST(InputRangesTest, WhatIsInsideAnywayIsLeftAlone) {
  EXPECT_EQ(LookUp("vi"), "- - -");
  EXPECT_EQ(LookUp("T.max(T.min(idx[vi], 9), 0)"), "- - -");
  EXPECT_EQ(LookUp("idx[vi] % 10"), "- - -");
}

TEST(InputRangesTest, IndicesOfIndices) {
  EXPECT_EQ(LookUp("idx[idx[vi]]"), "[0, 3] - -");
}

TEST(InputRangesTest, TwoThatAddUpShareTheRoom) {
  EXPECT_EQ(
      Ranges(
          R"(a: T.Buffer((4,), "int32"), b: T.Buffer((4,), "int32"), E: T.Buffer((16,), "float32"), O: T.Buffer((4,), "float32"))",
          R"(
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            O[vi] = E[a[vi] + b[vi]]
)"),
      "[0, 8] [0, 7] - -");
}

TEST(InputRangesTest, ThroughAnIntermediateBuffer) {
  EXPECT_EQ(Ranges(kLookUp, R"(
    t = T.alloc_buffer((4,), "int32")
    for i in range(4):
        with T.block("t"):
            vi = T.axis.spatial(4, i)
            t[vi] = idx[vi] * 2
    for i, j in T.grid(4, 3):
        with T.block("O"):
            vi, vj = T.axis.remap("SS", [i, j])
            O[vi, vj] = E[t[vi], vj]
)"),
            "[0, 4] - -");
}

TEST(InputRangesTest, ScattersAndHistograms) {
  EXPECT_EQ(Ranges(kLookUp, R"(
    for i, j in T.grid(4, 3):
        with T.block("E"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.writes(E[0:10, 0:3])
            E[idx[vi], vj] = O[vi, vj]
)"),
            "[0, 9] - -");
  EXPECT_EQ(
      Ranges(R"(idx: T.Buffer((64,), "uint8"), H: T.Buffer((300,), "int32"))",
             R"(
    for i in range(64):
        with T.block("H"):
            vi = T.axis.opaque(64, i)
            H[idx[vi]] = H[idx[vi]] + 1
)"),
      "- -");
  EXPECT_EQ(
      Ranges(R"(idx: T.Buffer((64,), "uint8"), H: T.Buffer((5,), "int32"))",
             R"(
    for i in range(64):
        with T.block("H"):
            vi = T.axis.opaque(64, i)
            H[idx[vi]] = H[idx[vi]] + 1
)"),
      "[0, 4] -");
}

constexpr char kLookUpTwice[] =
    R"(idx: T.Buffer((4,), "int32"), n: T.Buffer((1,), "int32"), E: T.Buffer((10,), "float32"), O: T.Buffer((4,), "float32"))";

TEST(InputRangesTest, AConditionEndsWithTheNextStore) {
  EXPECT_EQ(Ranges(kLookUpTwice, R"(
    for i in range(4):
        with T.block("O"):
            vi = T.axis.opaque(4, i)
            if n[0] < 10:
                n[0] = idx[vi]
                O[vi] = E[n[0]]
)"),
            "[0, 9] [0, 9] - -");
  EXPECT_EQ(Ranges(kLookUpTwice, R"(
    with T.block("O"):
        if n[0] < 10:
            for i in range(4):
                O[i] = E[n[0]]
                n[0] = idx[i]
)"),
            "[0, 9] [0, 9] - -");
}

TEST(InputRangesTest, AConditionHoldsPastStoresToOtherBuffers) {
  EXPECT_EQ(Ranges(kLookUpTwice, R"(
    for i in range(4):
        with T.block("O"):
            vi = T.axis.opaque(4, i)
            if idx[vi] >= 0 and idx[vi] < 10:
                O[vi] = T.float32(0)
                O[vi] = O[vi] + E[idx[vi]]
)"),
            "- - - -");
}

TEST(InputRangesTest, FloatsThatBecomeIndices) {
  EXPECT_EQ(
      Ranges(
          R"(x: T.Buffer((4,), "float32"), E: T.Buffer((10,), "float32"), O: T.Buffer((4,), "float32"))",
          R"(
    for i in range(4):
        with T.block("O"):
            vi = T.axis.spatial(4, i)
            O[vi] = E[T.Cast("int64", x[vi])]
)"),
      "[0, 9] - -");
}

TEST(InputRangesTest, PageTables) {
  EXPECT_EQ(
      Ranges(
          R"(page: T.Buffer((2, 4), "int32"), K: T.Buffer((96, 8), "float32"), O: T.Buffer((2, 64, 8), "float32"))",
          R"(
    for b, t, d in T.grid(2, 64, 8):
        with T.block("O"):
            vb, vt, vd = T.axis.remap("SSS", [b, t, d])
            O[vb, vt, vd] = K[page[vb, vt // 16] * 16 + vt % 16, vd]
)"),
      "[0, 5] - -");
}

TEST(InputRangesTest, NarrowTypesDoNotWrap) {
  const auto ranges = [](const char* dtype, const char* index) {
    return Ranges(
        absl::StrCat(
            R"(a: T.Buffer((64,), "int16"), b: T.Buffer((32,), ")", dtype,
            R"("), E: T.Buffer((1000,), "float16"), O: T.Buffer((64,), "float16"))"),
        absl::StrCat(R"(
    for i in range(64):
        with T.block("O"):
            vi = T.axis.spatial(64, i)
            O[vi] = E[)",
                     index, "]\n"));
  };
  EXPECT_EQ(ranges("uint8", "b[a[vi]] * 4 + 3"), "[0, 31] [0, 255] - -");
  EXPECT_EQ(ranges("int8", "b[a[vi]] * 4 + 3"), "[0, 31] [0, 31] - -");
  EXPECT_EQ(ranges("int64", "b[a[vi]] * 4 + 3"), "[0, 31] [0, 249] - -");
  EXPECT_EQ(ranges("int16", "T.Select(b[a[vi]] < 900, b[a[vi]] + 1, 0)"),
            "[0, 31] [-1, 998] - -");
}

TEST(InputRangesTest, AnIndexThatNothingKeepsInsideHasNoRange) {
  EXPECT_EQ(LookUp("idx[vi] + 1000"), "- - -");
}

}  // namespace
}  // namespace kiln
