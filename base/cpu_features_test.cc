#include "kiln/base/cpu_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the kernel calls those that it names otherwise.
const std::map<std::string, std::string>& KernelNames() {
  static const auto* names = new std::map<std::string, std::string>{
      {"sse3", "pni"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"lzcnt", "abm"},
      {"bmi", "bmi1"},
      {"avxvnni", "avx_vnni"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avx512vp2intersect", "avx512_vp2intersect"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512bf16", "avx512_bf16"},
      {"amx-tile", "amx_tile"},
      {"amx-int8", "amx_int8"},
      {"amx-bf16", "amx_bf16"}};
  return *names;
}

// The first line "flags" of /proc/cpuinfo.
std::set<std::string> KernelFlags() {
  std::ifstream info("/proc/cpuinfo");
  std::string line;
  while (std::getline(info, line) && line.rfind("flags", 0) != 0) {
  }
  std::istringstream words(line);
  std::set<std::string> flags;
  while (words >> line) flags.insert(line);
  return flags;
}

TEST(CpuFeaturesTest, AgreesWithTheKernel) {
  const std::set<std::string> flags = KernelFlags();
  if (flags.empty()) GTEST_SKIP() << "no flags in /proc/cpuinfo";
  for (const std::string& name : KnownCpuFeatures()) {
    const auto other = KernelNames().find(name);
    const std::string flag =
        other == KernelNames().end() ? name : other->second;
    if (flags.count(flag)) {
      // The kernel may still keep no tiles.
      if (name.rfind("amx", 0) == 0) continue;
      EXPECT_THAT(MissingCpuFeatures({name}), IsEmpty()) << name;
    } else if (other != KernelNames().end() || name.rfind("avx512", 0) == 0 ||
               name == "avx2" || name == "fma") {
      EXPECT_THAT(MissingCpuFeatures({name}), ElementsAre(name));
    }
  }
}

TEST(CpuFeaturesTest, WhatIsUnknownIsMissing) {
  EXPECT_THAT(MissingCpuFeatures({}), IsEmpty());
  EXPECT_THAT(MissingCpuFeatures({"", "avx9000"}), ElementsAre("", "avx9000"));
}

}  // namespace
}  // namespace kiln
