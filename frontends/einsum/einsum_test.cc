#include "kiln/frontends/einsum/einsum.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(EinsumTest, SumsOverTheIndicesThatTheLeftSideLacks) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Module m,
      ParseEinsum("C[i,j] += A[i,k] * B[k,j]", {{"i", 4}, {"j", 3}, {"k", 5}}));
  const Function& f = m.functions[0];
  ASSERT_EQ(f.params.size(), 3u);
  EXPECT_EQ(f.params[2].buffer->name, "C");
  EXPECT_TRUE(IsConst(f.params[1].buffer->shape[0], 5));
}

TEST(EinsumTest, TensorsReachAsFarAsTheirIndices) {
  KILN_ASSERT_OK_AND_ASSIGN(
      Module m,
      ParseEinsum("Y[x] += X[2*x + r + 1] * W[r]", {{"x", 10}, {"r", 3}}));
  EXPECT_TRUE(IsConst(m.functions[0].params[0].buffer->shape[0], 22));
}

TEST(EinsumTest, RefusesWhatHasNoMeaning) {
  const std::map<std::string, int64_t> extents = {{"i", 4}, {"k", 5}};
  const std::pair<const char*, const char*> cases[] = {
      {"C[i] += A[i]", "nothing to sum"},
      {"C[i] = A[i,k]", "write += to sum"},
      {"C[i] = A[i,z]", "no extent is given for index `z`"},
      {"C[i] += C[i,k]", "needs a name other"},
      {"C[i] += A[i,k] * A[k]", "`A` has 1 indices here and 2 before"},
      {"C[i+1] += A[i,k]", "has to be a name"},
      {"C[i,i] += A[i,k]", "stands twice"},
      {"C[i] += A[i*k]", "cannot stand in an index"},
      {"C[i] += A[i-k]", "can be negative"},
      {"C[i] += f(A[k])", "known calls"},
      {"C[i] += A[k] ** 2", "`**` is not known"},
      {"C[i] += A[k", "einsum:1"},
      {"", "one assignment"},
      {"x = 1; y = 2", "one assignment"},
      {"C[i] += A[k + 9223372036854775800]", "exceeds 64 bits"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(
        ParseEinsum(text, extents),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)))
        << text;
  }
}

TEST(ExtentsTest, ReadsAndRefuses) {
  KILN_ASSERT_OK_AND_ASSIGN(auto extents, ParseExtents("i=4, k=5"));
  for (const char* bad : {"i", "i=0", "i=x", "=4", "i=4,i=5"}) {
    EXPECT_THAT(ParseExtents(bad), StatusIs(absl::StatusCode::kInvalidArgument,
                                            HasSubstr("shape")))
        << bad;
  }
}

}  // namespace
}  // namespace kiln
