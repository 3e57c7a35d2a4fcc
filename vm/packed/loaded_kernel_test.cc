#include "kiln/vm/packed/loaded_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <vector>

#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using Kind = KernelParam::Kind;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// y[0:n] = alpha * x[0:n] + bias, in parallel.
struct Axpy {
  const float* x;
  float* y;
  double alpha;
  int64_t bias;
};

int32_t AxpyBody(void* env, int64_t begin, int64_t end) {
  const auto& a = *static_cast<Axpy*>(env);
  for (int64_t i = begin; i < end; ++i) {
    a.y[i] = static_cast<float>(a.alpha * a.x[i] + a.bias);
  }
  return 0;
}

int32_t AxpyKernel(const KilnHost* host, void* const* data,
                   const int64_t* scalars) {
  Axpy env{static_cast<const float*>(data[0]), static_cast<float*>(data[1]),
           std::bit_cast<double>(scalars[0]), scalars[1]};
  return host->parallel_for(host, scalars[2], &AxpyBody, &env);
}

KernelSignature AxpySignature() {
  KernelSignature s;
  s.name = "axpy";
  s.scalars = {{"alpha", DType::Float(32)}, {"bias", DType::Int(8)}, {"n"}};
  const KernelDim n = KernelDim::Symbolic(2);
  s.buffers = {{"x", DType::Float(32), {n}},
               {"y", DType::Float(32), {n}, true, true}};
  s.params = {{Kind::kScalar, 0},
              {Kind::kBuffer, 0},
              {Kind::kBuffer, 1},
              {Kind::kScalar, 1}};
  return s;
}

class LoadedKernelTest : public ::testing::Test {
 protected:
  NDArray Ones(int64_t n) {
    NDArray a = *NDArray::Empty({n}, DType::Float(32));
    for (float& value : a.elements<float>()) value = 1;
    return a;
  }
  absl::Status Call(std::vector<PackedValue> args) {
    return kernel_.Call(host_.abi(), args);
  }

  ThreadPool pool_;
  KernelHost host_{&pool_};
  LoadedKernel kernel_ =
      *LoadedKernel::Create(AxpySignature(), &AxpyKernel, nullptr);
};

TEST_F(LoadedKernelTest, CallsWithTensorsAndScalars) {
  NDArray y = Ones(10);
  KILN_ASSERT_OK(Call({0.5, Ones(10), y, int64_t{-3}}));
  EXPECT_THAT(y.elements<float>(), Each(-2.5f));
  KILN_ASSERT_OK(Call({int64_t{2}, Ones(10), y, int64_t{0}}));
  EXPECT_THAT(y.elements<float>(), Each(2.0f));
}

TEST_F(LoadedKernelTest, TensorsMayLieAtAnyAddress) {
  for (const size_t x_offset : {1, 4, 8, 32, 64}) {
    for (const size_t y_offset : {2, 3, 16, 64}) {
      alignas(64) static char x_bytes[256], y_bytes[256];
      std::memset(y_bytes, 0x5a, sizeof y_bytes);
      const std::vector<float> ones(10, 1);
      std::memcpy(x_bytes + x_offset, ones.data(), 40);
      const auto view = [](char* data) {
        return *NDArray::View(data, {10}, DType::Float(32), nullptr);
      };
      KILN_ASSERT_OK(Call({0.5, view(x_bytes + x_offset),
                           view(y_bytes + y_offset), int64_t{-3}}));
      std::vector<float> y(10);
      std::memcpy(y.data(), y_bytes + y_offset, 40);
      EXPECT_THAT(y, Each(-2.5f));
      EXPECT_EQ(y_bytes[y_offset - 1], 0x5a);
      EXPECT_EQ(y_bytes[y_offset + 40], 0x5a);
      // In place.
      const NDArray both = view(x_bytes + x_offset);
      KILN_ASSERT_OK(Call({2.0, both, both, int64_t{1}}));
      std::memcpy(y.data(), x_bytes + x_offset, 40);
      EXPECT_THAT(y, Each(3.0f));
    }
  }
}

// Whether a call sees a copy of x shows in what x is while the kernel runs.
TEST_F(LoadedKernelTest, TensorsInPlaceAreNotCopied) {
  static const void* seen[2];
  const KilnKernel look = [](const KilnHost*, void* const* data,
                             const int64_t*) {
    std::copy_n(data, 2, seen);
    return int32_t{KILN_KERNEL_OK};
  };
  for (const bool noalias : {false, true}) {
    for (const bool in_place : {false, true}) {
      KernelSignature signature = AxpySignature();
      signature.noalias = noalias;
      if (in_place) signature.buffers[1].in_place_of = {0};
      const LoadedKernel kernel =
          *LoadedKernel::Create(signature, look, nullptr);
      const NDArray both = Ones(10);
      const absl::Status status =
          kernel.Call(host_.abi(), {2.0, both, both, int64_t{1}});
      EXPECT_EQ(status.ok(), in_place || !noalias) << status;
      if (!status.ok()) continue;
      EXPECT_EQ(seen[0] == seen[1], in_place);
    }
  }
}

TEST_F(LoadedKernelTest, RefusesArgumentsThatDoNotFit) {
  const NDArray x = Ones(4);
  EXPECT_THAT(Call({1.0, x, Ones(5), int64_t{0}}),
              StatusIs(kInvalid, HasSubstr("n is set by parameter 1")));
  EXPECT_THAT(Call({1.0, x, x, 0.5}),
              StatusIs(kInvalid, HasSubstr("(bias: int8) of kernel axpy: "
                                           "0.500000 is no value")));
  EXPECT_THAT(Call({1.0, x, x, int64_t{128}}),
              StatusIs(kInvalid, HasSubstr("128 is no value of that type")));
  EXPECT_THAT(Call({x, x, x, int64_t{0}}),
              StatusIs(kInvalid, HasSubstr("expected a scalar")));
  EXPECT_THAT(Call({1.0, 2.0, x, int64_t{0}}),
              StatusIs(kInvalid, HasSubstr("expected a tensor")));
  EXPECT_THAT(Call({1.0, NDArray(), x, int64_t{0}}),
              StatusIs(kInvalid, HasSubstr("null tensor")));
  EXPECT_THAT(Call({1.0, x, x, int64_t{0}, 1.0}),
              StatusIs(kInvalid, HasSubstr("takes 4 arguments, got 5")));
}

TEST_F(LoadedKernelTest, NamesAFailedKernel) {
  const KilnKernel failing = [](const KilnHost*, void* const*,
                                const int64_t*) -> int32_t { return 7; };
  KernelSignature signature;
  signature.name = "sad";
  KILN_ASSERT_OK_AND_ASSIGN(LoadedKernel sad,
                            LoadedKernel::Create(signature, failing, nullptr));
  EXPECT_THAT(sad.Call(host_.abi(), {}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("kernel sad ended with status 7")));
  EXPECT_THAT(KernelStatus(KILN_KERNEL_NESTED_PARALLEL, "k"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("inside another")));
}

TEST_F(LoadedKernelTest, PacksAndKeepsItsCodeAlive) {
  auto code = std::make_shared<int>(0);
  std::weak_ptr<int> watch = code;
  PackedFunction packed =
      LoadedKernel::Create(AxpySignature(), &AxpyKernel, std::move(code))
          ->Pack(host_.abi());
  EXPECT_EQ(packed.name(), "axpy");
  EXPECT_FALSE(watch.expired());
  NDArray y = Ones(3);
  KILN_EXPECT_OK(packed({1.0, y, y, int64_t{1}}));
  EXPECT_THAT(y.elements<float>(), Each(2.0f));
  packed = PackedFunction();
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(packed({}).ok());
}

TEST_F(LoadedKernelTest, RefusesNullEntriesAndCallsOfNothing) {
  EXPECT_FALSE(LoadedKernel::Create(AxpySignature(), nullptr, nullptr).ok());
  EXPECT_FALSE(LoadedKernel().Call(host_.abi(), {}).ok());
}

}  // namespace
}  // namespace kiln
