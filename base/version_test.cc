#include "kiln/base/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace kiln {
namespace {

TEST(VersionTest, IsThatOfTheModule) {
  std::ifstream file("MODULE.bazel");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(),
              ::testing::HasSubstr("name = \"kiln\",\n    version = \"" +
                                   std::string(kVersion) + "\""));
}

}  // namespace
}  // namespace kiln
