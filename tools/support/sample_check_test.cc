#include "kiln/tools/support/sample_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/host/signature.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// C = 2 * A for a million elements, and what a call left in C.
class SampleCheckTest : public ::testing::Test {
 protected:
  static constexpr int64_t kSize = 1 << 20;

  void SetUp() override {
    absl::StatusOr<Function> f = ParseFunction("f.py", R"(
@T.prim_func
def main(A: T.Buffer((1024, 1024), "float32"),
         C: T.Buffer((1024, 1024), "float32")):
    for i, j in T.grid(1024, 1024):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] * T.float32(2)
)");
    KILN_ASSERT_OK(f.status());
    f_ = *std::move(f);
    auto signature = MakeSignature(f_);
    KILN_ASSERT_OK(signature.status());
    signature_ = *std::move(signature);
    for (NDArray* array : {&a_, &start_, &c_}) {
      auto made = NDArray::Empty({1024, 1024}, DType::Float(32));
      KILN_ASSERT_OK(made.status());
      *array = *std::move(made);
    }
    for (int64_t i = 0; i < kSize; ++i) {
      At(a_)[i] = static_cast<float>(i % 97);
      At(start_)[i] = 0;
      At(c_)[i] = At(a_)[i] * 2;
    }
  }

  static float* At(const NDArray& array) {
    return static_cast<float*>(array.data());
  }
  absl::Status Check() {
    const std::vector<PackedValue> before = {a_, start_}, after = {a_, c_};
    return CheckOnSamples(f_, signature_, before, after);
  }

  Function f_;
  KernelSignature signature_;
  NDArray a_, start_, c_;
};

TEST_F(SampleCheckTest, WhatIsRightPasses) { KILN_EXPECT_OK(Check()); }

TEST_F(SampleCheckTest, AWrongCornerIsRefusedByName) {
  At(c_)[kSize - 1] += 1;
  EXPECT_THAT(Check(),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("by its default schedule disagrees with its "
                                 "interpretation: C[1023, 1023]")));
}

TEST_F(SampleCheckTest, RowsThatWereLeftOutAreRefused) {
  for (int64_t i = 512 * 1024; i < kSize; ++i) At(c_)[i] = 0;
  EXPECT_THAT(Check(), StatusIs(absl::StatusCode::kInternal,
                                HasSubstr("without --schedule default")));
}

}  // namespace
}  // namespace kiln
