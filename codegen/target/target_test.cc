#include "kiln/codegen/target/target.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(TargetTest, TheHostIsTheDefault) {
  KILN_ASSERT_OK_AND_ASSIGN(Target target, ParseTarget("llvm"));
  EXPECT_EQ(target.ToString(), HostTarget().ToString());
  EXPECT_EQ(target.Fingerprint(), HostTarget().Fingerprint());
  EXPECT_GE(target.vector_bits, 128);
}

TEST(TargetTest, ReadsCpuAndCoresWithOneOrTwoDashes) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Target target, ParseTarget("llvm -mcpu=skylake-avx512 --num-cores=3"));
  EXPECT_EQ(target.cpu, "skylake-avx512");
  EXPECT_EQ(target.num_cores, 3);
  EXPECT_EQ(target.vector_bits, 512);
  KILN_ASSERT_OK_AND_ASSIGN(Target old, ParseTarget("llvm -mcpu=x86-64"));
  EXPECT_EQ(old.vector_bits, 128);
}

TEST(TargetTest, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"", "cuda", "llvm -mcpu=z80", "llvm -num-cores=0",
        "llvm -num-cores=many", "llvm -wings=2", "llvm extra"}) {
    EXPECT_THAT(ParseTarget(text), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("target")))
        << text;
  }
}

}  // namespace
}  // namespace kiln
