#include "kiln/ir/testing/random_nests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/testing/scalar_args.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(RandomNestsTest, ProgramsAreWellFormedAndRunInsideTheirBuffers) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    NestProgram program = RandomNests(seed);
    ASSERT_EQ(VerifyFunction(program.function), absl::OkStatus())
        << "seed " << seed << "\n"
        << program.text;
    ASSERT_EQ(InterpretWithScalars(program.function, program.inputs),
              absl::OkStatus())
        << "seed " << seed << "\n"
        << program.text;
  }
}

TEST(RandomNestsTest, ASeedGivesOneProgramAndSeedsDiffer) {
  std::set<std::string> forms;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const NestProgram a = RandomNests(seed), b = RandomNests(seed);
    EXPECT_TRUE(StructurallyEqual(a.function, b.function));
    EXPECT_EQ(a.inputs.back().bytes, b.inputs.back().bytes);
    forms.insert(CanonicalForm(a.function));
  }
  EXPECT_GT(forms.size(), 190);
}

TEST(RandomNestsTest, EveryKindOfAccessOccurs) {
  std::string all;
  for (uint64_t seed = 0; seed < 400; ++seed) all += RandomNests(seed).text;
  for (const char* part :
       {"T.if_then_else", "T.where",       "T.axis.opaque", "T.axis.reduce",
        "T.init",         "T.parallel",    "T.vectorized",  "T.unroll",
        "T.match_buffer", "n = T.int64()", "\"int8\"",      "\"float16\"",
        "\"uint8\"",      "vj // 2",       "else:",         "T.Cast",
        "\"bool\"",       "\"bfloat16\"",  "\"uint16\"",    "T.alloc_buffer",
        "offset_factor",  "at: T.int64",   "bitwise_xor",   ": T.uint8",
        "i <= j"}) {
    EXPECT_THAT(all, HasSubstr(part));
  }
}

}  // namespace
}  // namespace kiln
