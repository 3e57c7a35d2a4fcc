#include "kiln/search/measure/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(SampleIndicesTest, HoldsCornersAndBordersOnce) {
  const auto indices = SampleIndices({100, 200, 300}, 40, 1);
  EXPECT_EQ(indices.size(), 40);
  for (int64_t i : {0, 99}) {
    for (int64_t j : {0, 199}) {
      EXPECT_THAT(indices, Contains(std::vector<int64_t>{i, j, 0}));
      EXPECT_THAT(indices, Contains(std::vector<int64_t>{i, j, 299}));
    }
  }
  EXPECT_EQ(SampleIndices({100, 200, 300}, 40, 1), indices);
  EXPECT_NE(SampleIndices({100, 200, 300}, 40, 2), indices);
  EXPECT_EQ(SampleIndices({}, 40, 1).size(), 1);
  EXPECT_EQ(SampleIndices({1, 2}, 40, 1).size(), 2);
  EXPECT_TRUE(SampleIndices({0, 2}, 40, 1).empty());
}

// Inputs of ones, and as outputs what is given.
absl::StatusOr<Samples> CheckOnes(const Function& f, float output,
                                  const SampleOptions& options = {}) {
  KILN_ASSIGN_OR_RETURN(const KernelSignature signature, MakeSignature(f));
  CallContents contents;
  std::vector<std::string> outputs;
  for (const KernelBuffer& buffer : signature.buffers) {
    std::vector<int64_t> shape;
    for (const KernelDim& dim : buffer.shape) shape.push_back(dim.constant());
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(shape, buffer.dtype));
    for (float& x : array.elements<float>()) x = buffer.written ? output : 1;
    if (buffer.written) {
      outputs.emplace_back(array.data_as<char>(), array.bytes());
    }
    contents.buffers.push_back(array);
  }
  const std::vector<Tolerance> exact(outputs.size());
  return CheckSamples(f, signature, contents, outputs, exact, options);
}

TEST(CheckSamplesTest, TakesOutputsThatAreRight) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:512,512,512"));
  KILN_ASSERT_OK_AND_ASSIGN(Samples samples,
                            CheckOnes(module.functions[0], 512));
  EXPECT_EQ(samples.count, 40);
}

TEST(CheckSamplesTest, NamesAnElementThatIsWrong) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:512,512,512"));
  EXPECT_THAT(CheckOnes(module.functions[0], 511),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("511, 511] is 511, expected 512")));
}

TEST(CheckSamplesTest, FewerAreTakenWhereEachIsDear) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:512,512,512"));
  SampleOptions options;
  options.steps = 2000;
  KILN_ASSERT_OK_AND_ASSIGN(Samples samples,
                            CheckOnes(module.functions[0], 512, options));
  EXPECT_EQ(samples.count, 2);
}

TEST(CheckSamplesTest, SaysWhyThereIsNone) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload("gmm:512,512,512"));
  SampleOptions options;
  options.max_steps = 100;
  KILN_ASSERT_OK_AND_ASSIGN(Samples samples,
                            CheckOnes(module.functions[0], 511, options));
  EXPECT_EQ(samples.count, 0);
  EXPECT_THAT(samples.none, HasSubstr("takes more than 100 steps"));
  KILN_ASSERT_OK_AND_ASSIGN(Function scan, ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(15):
        C[i + 1] = C[i] + A[i]
)"));
  KILN_ASSERT_OK_AND_ASSIGN(samples, CheckOnes(scan, 1));
  EXPECT_EQ(samples.count, 0);
  EXPECT_THAT(samples.none, HasSubstr("buffer C may be read before"));
}

}  // namespace
}  // namespace kiln
