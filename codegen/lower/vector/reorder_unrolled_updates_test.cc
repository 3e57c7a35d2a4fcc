#include "kiln/codegen/lower/vector/reorder_unrolled_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "kiln/base/machine.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/sample_programs.h"
#include "kiln/codegen/lower/vector/unroll_loops.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Sums in S, of up to 6 vectors, what `body` adds in unrolled loops r and w,
// for each i; what the lines of the result add to S.
std::vector<std::string> TermsOf(const std::string& body) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((4096,), "float32"), W: T.Buffer((128,), "float32"),
         C: T.Buffer((256,), "float32")):
    S = T.decl_buffer((24,), scope="local")
    for i in range(8):
        S[0:24] = T.Broadcast(T.float32(0), 24)
        for r in T.unroll(2):
            for w in T.unroll(3):
                )" + body + R"(
        C[i * 24:i * 24 + 24] = S[0:24]
)";
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const absl::StatusOr<Function> unrolled = UnrollLoops(module->functions[0]);
  EXPECT_TRUE(unrolled.ok());
  const absl::StatusOr<Function> ordered =
      ReorderUnrolledUpdates(*unrolled, Machine());
  EXPECT_TRUE(ordered.ok());
  KILN_EXPECT_OK(lower::CompareMeaning(*unrolled, *ordered, 5));
  Module printed;
  printed.functions.push_back(*ordered);
  std::vector<std::string> lines;
  for (const auto line : absl::StrSplit(PrintModule(printed), '\n')) {
    const size_t at = line.find("= S[");
    if (at != line.npos && line.find("+", at) != line.npos) {
      lines.emplace_back(line.substr(at + 2));
    }
  }
  return lines;
}

TEST(ReorderUnrolledUpdatesTest, TermsComeAsTheOperandReadInMorePlaces) {
  const std::vector<std::string> ordered = {
      "S[0:4] + A[i * 8:i * 8 + 4] * W[0:4]",
      "S[4:8] + A[i * 8 + 4:i * 8 + 4 + 4] * W[0:4]",
      "S[0:4] + A[i * 8 + 4:i * 8 + 4 + 4] * W[4:8]",
      "S[8:12] + A[i * 8 + 8:i * 8 + 8 + 4] * W[0:4]",
      "S[4:8] + A[i * 8 + 8:i * 8 + 8 + 4] * W[4:8]",
      "S[8:12] + A[i * 8 + 12:i * 8 + 12 + 4] * W[4:8]"};
  EXPECT_THAT(TermsOf("S[w * 4:w * 4 + 4] = S[w * 4:w * 4 + 4] + "
                      "A[i * 8 + (w + r) * 4:i * 8 + (w + r) * 4 + 4] * "
                      "W[r * 4:r * 4 + 4]"),
              ElementsAreArray(ordered));
}

TEST(ReorderUnrolledUpdatesTest, ABroadcastLeavesTheLoopsTheirOrder) {
  EXPECT_THAT(TermsOf("S[w * 4:w * 4 + 4] = S[w * 4:w * 4 + 4] + "
                      "T.Broadcast(A[i + w], 4) * W[r * 4:r * 4 + 4]"),
              ElementsAre(HasSubstr("A[i]"), HasSubstr("A[i + 1]"),
                          HasSubstr("A[i + 2]"), HasSubstr("A[i]"),
                          HasSubstr("A[i + 1]"), HasSubstr("A[i + 2]")));
}

// Two channels of vectors: three sums and two weights of each.
TEST(ReorderUnrolledUpdatesTest, WhatSharesNothingComesApart) {
  const std::string body =
      "for v in T.unroll(2):\n                    "
      "S[w * 8 + v * 4:w * 8 + v * 4 + 4] = S[w * 8 + v * 4:w * 8 + v * 4 + 4]"
      " + A[i + (w + r) * $ + v * 4:i + (w + r) * $ + v * 4 + 4] * "
      "W[r * 8 + v * 4:r * 8 + v * 4 + 4]";
  const auto channels = [&](const std::string& apart) {
    std::string found;
    for (const std::string& term :
         TermsOf(absl::StrReplaceAll(body, {{"$", apart}}))) {
      const int64_t lane = std::atoi(term.c_str() + 2);
      found += lane % 8 == 0 ? '0' : '1';
    }
    return found;
  };
  EXPECT_EQ(channels("8"), "000000111111");
  EXPECT_EQ(channels("24"), "000000111111");
  // Pixels 2 KiB apart push each other out of the first cache meanwhile.
  EXPECT_EQ(channels("512"), "010011001101");
}

// Each sum is put where a later one reads.
TEST(ReorderUnrolledUpdatesTest, StoresToAnOperandStayBetweenItsReads) {
  const std::string body =
      "S[w * 4:w * 4 + 4] = S[w * 4:w * 4 + 4] + "
      "C[(w + r) * 4:(w + r) * 4 + 4] * W[r * 4:r * 4 + 4]\n"
      "                C[(w + r) * 4:(w + r) * 4 + 4] = S[w * 4:w * 4 + 4]";
  EXPECT_THAT(TermsOf(body), SizeIs(6));
}

}  // namespace
}  // namespace kiln
