#include "kiln/ir/access/argument_use.h"

#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// The uses of the parameters of a function of A and B, both float32[16], as
// letters: r(ead), w(ritten), u(pdated).
std::string UsesOf(const Function& f) {
  std::string text;
  for (ArgumentUse use : ArgumentUses(f)) {
    text += "rwu"[static_cast<int>(use)];
  }
  return text;
}

std::string Uses(const std::string& body) {
  const auto f = ParseFunction("test", R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
)" + body);
  KILN_EXPECT_OK(f);
  return f.ok() ? UsesOf(*f) : "";
}

TEST(ArgumentUseTest, OutputsOfWorkloadsAreWrittenWhole) {
  for (const char* spec : {"gmm:6,20,7", "c2d:6,6,3,8,3,1,1", "sfm:8,16"}) {
    const absl::StatusOr<Module> module = MakeWorkload(spec);
    KILN_ASSERT_OK(module);
    const std::string uses = UsesOf(module->functions[0]);
    EXPECT_EQ(uses.back(), 'w') << spec;
    EXPECT_EQ(uses.find('u'), uses.npos) << spec;
  }
}

TEST(ArgumentUseTest, WhatReadsItsOldValueIsUpdated) {
  EXPECT_EQ(Uses(R"(
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = B[vi] + A[vi]
)"),
            "ru");
}

TEST(ArgumentUseTest, WhatIsWrittenInPartIsUpdated) {
  EXPECT_EQ(Uses(R"(
    for i in range(14):
        with T.block("B"):
            vi = T.axis.spatial(14, i)
            B[vi + 1] = A[vi] + A[vi + 2]
)"),
            "ru");
  EXPECT_EQ(Uses(R"(
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            T.where(i < 9)
            B[vi] = A[vi]
)"),
            "ru");
  EXPECT_EQ(Uses(R"(
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            if A[vi] > T.float32(0):
                B[vi] = A[vi]
)"),
            "ru");
}

TEST(ArgumentUseTest, ASumOverNothingLeavesItsOutput) {
  EXPECT_EQ(Uses(R"(
    for i, k in T.grid(16, 0):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vk]
)"),
            "ru");
}

TEST(ArgumentUseTest, WhatIsReadAfterItWasWrittenIsWritten) {
  EXPECT_EQ(Uses(R"(
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] * T.float32(2)
    for i in range(16):
        with T.block("again"):
            vi = T.axis.spatial(16, i)
            B[vi] = B[vi] + T.float32(1)
)"),
            "rw");
}

TEST(ArgumentUseTest, AReadAheadOfTheWriteIsAnUpdate) {
  EXPECT_EQ(Uses(R"(
    for i in range(16):
        with T.block("A"):
            vi = T.axis.spatial(16, i)
            A[vi] = B[15 - vi]
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = T.float32(1)
)"),
            "wu");
}

}  // namespace
}  // namespace kiln
