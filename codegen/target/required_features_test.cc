#include "kiln/codegen/target/required_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kiln/base/cpu_features.h"
#include "kiln/base/status_matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace kiln {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Required(const std::string& text) {
  const absl::StatusOr<Target> target = ParseTarget(text);
  KILN_EXPECT_OK(target.status());
  return target.ok() ? RequiredFeatures(*target) : std::vector<std::string>();
}

TEST(RequiredFeaturesTest, TheHostHasWhatItsCodeNeeds) {
  EXPECT_THAT(Required("llvm"), Not(IsEmpty()));
  EXPECT_THAT(MissingCpuFeatures(Required("llvm")), IsEmpty());
}

TEST(RequiredFeaturesTest, ACpuNeedsItsOwn) {
  EXPECT_THAT(Required("llvm -mcpu=haswell"), Contains("fma"));
  EXPECT_THAT(Required("llvm -mcpu=haswell"), Not(Contains("avx512f")));
  EXPECT_THAT(Required("llvm -mcpu=skylake-avx512"), Contains("avx512vl"));
  EXPECT_THAT(Required("llvm -mcpu=haswell -mattr=-fma"), Not(Contains("fma")));
  EXPECT_THAT(Required("llvm -mcpu=x86-64"), IsEmpty());
  EXPECT_THAT(Required("llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"),
              IsEmpty());
}

// What base/cpu_features.h reads by itself, LLVM reads as well, but for whether
// the operating system keeps tiles.
TEST(RequiredFeaturesTest, TheProcessorIsReadAsLlvmReadsIt) {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  for (const std::string& name : KnownCpuFeatures()) {
    const auto found = features.find(name);
    ASSERT_NE(found, features.end()) << name;
    if (name.rfind("amx", 0) == 0 && found->second) continue;
    EXPECT_EQ(MissingCpuFeatures({name}).empty(), found->second) << name;
  }
}

}  // namespace
}  // namespace kiln
