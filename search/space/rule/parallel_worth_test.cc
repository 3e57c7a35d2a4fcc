#include "kiln/search/space/rule/parallel_worth.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

ParallelWorth WorthOfCopy(const std::string& extent) {
  constexpr char kCopy[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (EXTENT,), "float32")
        B = T.match_buffer(b, (EXTENT,), "float32")
        for i in range(EXTENT):
            with T.block("B"):
                vi = T.axis.remap("S", [i])
                B[vi] = A[vi] + T.float32(1)
)";
  const absl::StatusOr<Module> module =
      ParseModule("m.py", absl::StrReplaceAll(kCopy, {{"EXTENT", extent}}));
  return ParallelWorthOf(module->functions[0]);
}

TEST(ParallelWorthTest, GrowsWithTheWork) {
  EXPECT_EQ(WorthOfCopy("96"), ParallelWorth::kNever);
  EXPECT_EQ(WorthOfCopy("8192"), ParallelWorth::kOpen);
  EXPECT_EQ(WorthOfCopy("1000000"), ParallelWorth::kAlways);
}

TEST(ParallelWorthTest, OpenExtentsMayBeLarge) {
  EXPECT_EQ(WorthOfCopy("n"), ParallelWorth::kAlways);
}

}  // namespace
}  // namespace kiln
