#include "kiln/ir/testing/random_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/testing/compare.h"
#include "kiln/ir/verify/verify.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

TEST(RandomProgramTest, ProgramsAreWellFormedAndRunInsideTheirBuffers) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    Function f = RandomProgram(seed);
    ASSERT_TRUE(VerifyFunction(f).ok())
        << "seed " << seed << ": " << VerifyFunction(f);
    std::vector<Tensor> args = RandomInputs(f, seed);
    absl::Status status = Interpret(f, args);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status;
  }
}

TEST(RandomProgramTest, ValuesStayFinite) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Function f = RandomProgram(seed);
    std::vector<Tensor> args = RandomInputs(f, seed);
    KILN_EXPECT_OK(Interpret(f, args));
    const Tensor& last = args.back();
    for (int64_t i = 0; i < last.size(); ++i) {
      ASSERT_LT(std::fabs(last.GetReal(i)), 60000) << "seed " << seed;
    }
  }
}

TEST(RandomProgramTest, ASeedGivesOneProgramAndSeedsDiffer) {
  std::set<std::string> forms;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_TRUE(StructurallyEqual(RandomProgram(seed), RandomProgram(seed)));
    forms.insert(CanonicalForm(RandomProgram(seed)));
  }
  EXPECT_GT(forms.size(), 190);
}

TEST(RandomProgramTest, TypesAndReductionsAllOccur) {
  std::set<std::string> types;
  int with_init = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Function f = RandomProgram(seed);
    types.insert(f.params[0].buffer->dtype.ToString());
    Visit(f.body, [&](const Stmt& s) {
      const auto* realize = s.As<BlockRealizeNode>();
      with_init += realize && realize->block->init;
      return true;
    });
  }
  EXPECT_EQ(types.size(), 8);
  EXPECT_GT(with_init, 100);
}

TEST(CompareTest, TellsTheFirstDifference) {
  Tensor a(DType::Float(32), {2, 3}), b = a;
  KILN_EXPECT_OK(CompareTensors(a, b));
  a.Set(4, 1);
  EXPECT_THAT(CompareTensors(a, b),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("[1, 1] is 1 and should be 0; 1 of 6")));
  a.Set(4, 1e-6);
  KILN_EXPECT_OK(CompareTensors(a, b));
  EXPECT_FALSE(CompareTensors(a, b, {}).ok());
}

TEST(CompareTest, NanAndInfinityEqualThemselvesOnly) {
  const double nan = std::nan(""),
               inf = std::numeric_limits<double>::infinity();
  Tensor a(DType::Float(32), {1}), b = a;
  a.Set(0, nan);
  EXPECT_FALSE(CompareTensors(a, b).ok());
  b.Set(0, nan);
  KILN_EXPECT_OK(CompareTensors(a, b));
  a.Set(0, inf);
  b.Set(0, -inf);
  EXPECT_FALSE(CompareTensors(a, b).ok());
}

TEST(CompareTest, ShapesAndTypesMustAgree) {
  EXPECT_FALSE(
      CompareTensors(Tensor(DType::Int(32), {2}), Tensor(DType::Int(32), {3}))
          .ok());
  EXPECT_FALSE(
      CompareTensors(Tensor(DType::Int(32), {2}), Tensor(DType::Int(64), {2}))
          .ok());
}

}  // namespace
}  // namespace kiln
