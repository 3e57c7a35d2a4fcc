#include "kiln/codegen/lower/vector/reorder_unrolled_updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
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

// Sums in S, of 3 vectors, what `body` adds in unrolled loops r and w, for each
// i; what the lines of the result add to S.
std::vector<std::string> TermsOf(const std::string& body) {
  const std::string text = R"(
@T.prim_func
def main(A: T.Buffer((128,), "float32"), W: T.Buffer((128,), "float32"),
         C: T.Buffer((128,), "float32")):
    S = T.decl_buffer((12,), scope="local")
    for i in range(8):
        S[0:12] = T.Broadcast(T.float32(0), 12)
        for r in T.unroll(2):
            for w in T.unroll(3):
                )" + body + R"(
        C[i * 12:i * 12 + 12] = S[0:12]
)";
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const absl::StatusOr<Function> unrolled = UnrollLoops(module->functions[0]);
  EXPECT_TRUE(unrolled.ok());
  const absl::StatusOr<Function> ordered = ReorderUnrolledUpdates(*unrolled);
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
