// Tiles as text, and the stores whose lines are asked for before their work:
//
//   Y[c * 16:c * 16 + 16] = S[0:16]
//   Y[c * 16 + 127:c * 16 + 143] = S[16:32]     Y[c * 16] Y[c * 16 + 127]
#include "kiln/codegen/lower/auto/ragged_stores.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/arith/index_normalizer.h"
#include "kiln/ir/arith/linear.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::lower {
namespace {

// Of the first sequence of a function of a far Y and near A and S: "work 0:
// Y[c * 16] Y[c * 16 + 127]" for each tile.
std::string Tiles(const std::string& body, int64_t most_work = 1 << 20) {
  const auto f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), S: T.Buffer((512,), "float32"), Y: T.Buffer((65536,), "float32"), n: T.int64):
)" + body);
  KILN_EXPECT_OK(f.status());
  const SeqNode* seq = nullptr;
  if (f.ok()) {
    Visit(f->body, [&](const Stmt& s) {
      if (!seq) seq = s.As<SeqNode>();
      return !seq;
    });
  }
  if (!seq) return "no sequence";
  std::string text;
  for (const RaggedStores& tile : FindRaggedStores(
           *seq, 64, most_work,
           [](const Buffer& buffer) { return buffer->name == "Y"; })) {
    absl::StrAppend(&text, "work ", tile.work, ":");
    for (const LateAccess& store : tile.stores) {
      Linear first = ToLinear(store.first);
      absl::StrAppend(&text, " Y[",
                      PrintExpr(ToExpr(&first, store.first.dtype())), "]");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

// Two pixels of `channels`, of 16 lanes each, that store `terms` sums before.
std::string Pixels(int channels, int terms = 2) {
  std::string body = "\n    for c in range(7):\n";
  for (int k = 0; k < terms; ++k) {
    for (int at : {0, 16}) {
      absl::SubstituteAndAppend(&body, R"(
        S[$0:$1] = S[$0:$1] + A[c * 16 + $2:c * 16 + $3])",
                                at, at + 16, at + k, at + k + 16);
    }
  }
  absl::SubstituteAndAppend(&body, R"(
        Y[c * 16:c * 16 + 16] = S[0:16]
        Y[c * 16 + $0:c * 16 + $0 + 16] = S[16:32]
)",
                            channels);
  return body;
}

TEST(RaggedStoresTest, TilesWhoseResultsCrossLines) {
  EXPECT_EQ(Tiles(Pixels(127)), "work 0: Y[c * 16] Y[c * 16 + 127]\n");
  EXPECT_EQ(Tiles(Pixels(120)), "work 0: Y[c * 16] Y[c * 16 + 120]\n");
  EXPECT_EQ(Tiles(Pixels(128)), "") << "whole lines";
  EXPECT_EQ(Tiles(Pixels(16)), "") << "one after the other";
  EXPECT_EQ(Tiles(Pixels(127, 1)), "") << "moved, not computed";
}

// Two rows of `pixels` with 15 channels each.
TEST(RaggedStoresTest, NotWhereMostFollowTheOneBefore) {
  const auto rows = [](int pixels) {
    std::string body = R"(
    for c in range(8):
        S[0:512] = A[0:512]
        S[0:512] = S[0:512] * S[0:512]
        for h in range(2):
            for w in range($0):
                Y[c * 8192 + h * 420 + w * 15:c * 8192 + h * 420 + w * 15 + 15] = S[0:15]
)";
    return Tiles(absl::Substitute(body, pixels));
  };
  EXPECT_NE(rows(3), "");
  EXPECT_EQ(rows(4), "");
}

TEST(RaggedStoresTest, StoresInLoopsAndUnderConditions) {
  EXPECT_EQ(Tiles(R"(
    for c in range(8):
        for k in range(9):
            S[0:64] = S[0:64] + A[k * 64:k * 64 + 64]
        for h in range(2):
            if c < 7:
                for w in range(2):
                    Y[h * 3556 + w * 127 + c * 16:h * 3556 + w * 127 + c * 16 + 16] = S[h * 32 + w * 16:h * 32 + w * 16 + 16]
            else:
                for w in range(2):
                    Y[h * 3556 + w * 127 + 112:h * 3556 + w * 127 + 127] = S[h * 32 + w * 16:h * 32 + w * 16 + 15]
)"),
            "work 0: Y[c * 16] Y[c * 16 + 127] Y[c * 16 + 3556] "
            "Y[c * 16 + 3683]\n");
}

TEST(RaggedStoresTest, EachTileOfASequenceAndNoneBehindLongWork) {
  const std::string tile = R"(
        S[0:64] = A[0:64]
        S[0:64] = S[0:64] * S[0:64]
        Y[c * 16 + $0:c * 16 + $0 + 16] = S[0:16]
        Y[c * 16 + $0 + 127:c * 16 + $0 + 143] = S[16:32]
)";
  const std::string two =
      absl::StrCat("\n    for c in range(8):\n", absl::Substitute(tile, 0),
                   absl::Substitute(tile, 1024));
  EXPECT_EQ(Tiles(two),
            "work 0: Y[c * 16] Y[c * 16 + 127]\n"
            "work 4: Y[c * 16 + 1024] Y[c * 16 + 1151]\n");
  EXPECT_EQ(Tiles(two, 256), "");
}

TEST(RaggedStoresTest, NotOfExtentsThatAreUnknownNorOfScatteredLanes) {
  const std::string work = R"(
    for c in range(8):
        S[0:64] = A[0:64]
        S[0:64] = S[0:64] * S[0:64]
)";
  EXPECT_EQ(Tiles(work + R"(
        for w in range(n):
            Y[w * 127:w * 127 + 16] = S[0:16]
)"),
            "");
  EXPECT_EQ(Tiles(work + R"(
        Y[T.Ramp(c, 127, 16)] = S[0:16]
        Y[T.Ramp(c + 1, 127, 16)] = S[0:16]
)"),
            "");
  EXPECT_EQ(Tiles(work + R"(
        Y[c] = S[0]
        Y[c + 127] = S[1]
)"),
            "")
      << "a few bytes";
}

}  // namespace
}  // namespace kiln::lower
