#include "kiln/vm/ndarray/ndarray.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(NDArrayTest, IsAlignedAndZeroed) {
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({3, 5}, DType::Int(32)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a.data()) % 64, 0u);
  EXPECT_THAT(a.elements<int32_t>(), Each(0));
  EXPECT_EQ(a.bytes(), 60);
  EXPECT_EQ(a.TypeString(), "int32[3, 5]");
  EXPECT_EQ(NDArray().TypeString(), "null");
}

TEST(NDArrayTest, HasScalarsAndEmptyTensors) {
  EXPECT_EQ(NDArray::Zeros({}, DType::Bool())->num_elements(), 1);
  EXPECT_EQ(NDArray::Zeros({INT64_MAX, 0, INT64_MAX}, DType::Float(64))
                ->num_elements(),
            0);
}

TEST(NDArrayTest, RefusesImpossibleShapesAndTypes) {
  const auto make = [](std::vector<int64_t> shape, DType dtype) {
    return NDArray::Empty(std::move(shape), dtype).status();
  };
  EXPECT_THAT(make({2, -1}, DType::Float(32)),
              StatusIs(kInvalid, HasSubstr("negative extent")));
  EXPECT_THAT(make({1l << 32, 1l << 31}, DType::Float(32)),
              StatusIs(kInvalid, HasSubstr("overflows")));
  EXPECT_THAT(make({2}, DType::Void()), StatusIs(kInvalid, HasSubstr("void")));
  EXPECT_THAT(make({2}, DType::Float(32).WithLanes(4)),
              StatusIs(kInvalid, HasSubstr("float32x4")));
  EXPECT_THAT(
      make({1l << 55}, DType::Int(8)),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("no memory")));
}

TEST(NDArrayTest, CopiesShareAndClonesDoNot) {
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({2}, DType::Float(32)));
  NDArray shared = a;
  KILN_ASSERT_OK_AND_ASSIGN(NDArray clone, a.Clone());
  a.elements<float>()[1] = 7;
  EXPECT_THAT(shared.elements<float>(), ElementsAre(0, 7));
  EXPECT_THAT(clone.elements<float>(), ElementsAre(0, 0));
  KILN_EXPECT_OK(clone.CopyFrom(a));
  EXPECT_THAT(clone.elements<float>(), ElementsAre(0, 7));
  EXPECT_THAT(clone.CopyFrom(*NDArray::Zeros({2}, DType::Int(32))),
              StatusIs(kInvalid, HasSubstr("int32[2] into float32[2]")));
}

TEST(NDArrayTest, ViewsKeepTheirOwnerAlive) {
  auto owner = std::make_shared<std::vector<int16_t>>(4, int16_t{3});
  std::weak_ptr<std::vector<int16_t>> watch = owner;
  {
    KILN_ASSERT_OK_AND_ASSIGN(
        NDArray view, NDArray::View(owner->data(), {4}, DType::Int(16), owner));
    owner.reset();
    EXPECT_THAT(view.elements<int16_t>(), Each(3));
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(NDArray::View(nullptr, {1}, DType::Int(8), nullptr).ok());
}

TEST(NDArrayTest, PassesThroughDlpackWithoutCopy) {
  for (DType dtype : {DType::Float(32), DType::Bool(), DType::BFloat16(),
                      DType::UInt(64), DType::Float(16)}) {
    KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({2, 3}, dtype));
    void* memory = a.data();
    KilnDlManagedTensor* exported = a.ToDlpack();
    a = NDArray();
    KILN_ASSERT_OK_AND_ASSIGN(NDArray b, NDArray::FromDlpack(exported));
    EXPECT_EQ(b.data(), memory);
    EXPECT_EQ(b.dtype(), dtype);
    EXPECT_THAT(b.shape(), ElementsAre(2, 3));
  }
}

struct Foreign {
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  KilnDlManagedTensor managed{};
  int deleted = 0;

  Foreign() {
    managed.tensor = {data,  {KILN_DL_CPU, 0}, 2, {KILN_DL_FLOAT, 32, 1},
                      shape, strides,          4};
    managed.owner = this;
    managed.deleter = [](KilnDlManagedTensor* self) {
      ++static_cast<Foreign*>(self->owner)->deleted;
    };
  }
};

TEST(NDArrayTest, TakesOverForeignTensorsAndDeletesThemOnce) {
  Foreign foreign;
  {
    KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::FromDlpack(&foreign.managed));
    NDArray copy = a;
    EXPECT_THAT(copy.elements<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
  EXPECT_EQ(foreign.deleted, 1);
}

TEST(NDArrayTest, RefusesForeignTensorsThatItCannotUseAndLeavesThemAlone) {
  const struct {
    void (*edit)(Foreign&);
    const char* message;
  } cases[] = {
      {[](Foreign& f) { f.managed.tensor.device.type = KILN_DL_CUDA; },
       "device type 2"},
      {[](Foreign& f) { f.strides[0] = 4; }, "strided"},
      {[](Foreign& f) { f.managed.tensor.dtype.lanes = 4; }, "lanes 4"},
      {[](Foreign& f) { f.managed.tensor.dtype.code = KILN_DL_COMPLEX; },
       "code 5"},
      {[](Foreign& f) { f.managed.tensor.ndim = -1; }, "rank -1"},
      {[](Foreign& f) { f.managed.tensor.ndim = 99; }, "rank 99"},
      {[](Foreign& f) { f.managed.tensor.strides = nullptr, f.shape[0] = -2; },
       "negative"},
      {[](Foreign& f) { f.managed.tensor.data = nullptr; }, "null address"},
  };
  for (const auto& test : cases) {
    Foreign foreign;
    test.edit(foreign);
    EXPECT_THAT(NDArray::FromDlpack(&foreign.managed),
                StatusIs(kInvalid, HasSubstr(test.message)));
    EXPECT_EQ(foreign.deleted, 0);
  }
  EXPECT_FALSE(NDArray::FromDlpack(nullptr).ok());
}

}  // namespace
}  // namespace kiln
