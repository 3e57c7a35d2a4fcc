#include "kiln/vm/machine/observed_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/vm/library/kernel_dim.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln::vm {
namespace {

using ::testing::Optional;

KernelDim Product(const KernelDim& a, const KernelDim& b) {
  return KernelDim::Compound(KernelDim::Op::kMul, a, b);
}

// k(A: float32[n + 1, 3], m, B: out float32[n]): n * m operations.
Kernel Counted() {
  const KernelDim n = KernelDim::Symbolic(1), m = KernelDim::Symbolic(0);
  Kernel kernel;
  KernelSignature& signature = kernel.signature;
  signature.scalars = {{"m", DType::Int(64)}, {"n", DType::Int(64)}};
  signature.buffers.resize(2);
  signature.buffers[0].shape = {
      KernelDim::Compound(KernelDim::Op::kAdd, n, KernelDim::Constant(1)),
      KernelDim::Constant(3)};
  signature.buffers[1].shape = {n};
  signature.buffers[1].written = true;
  using Kind = KernelParam::Kind;
  signature.params = {
      {Kind::kBuffer, 0}, {Kind::kScalar, 0}, {Kind::kBuffer, 1}};
  kernel.flop = KernelFlop{Product(n, m), true};
  return kernel;
}

NDArray Floats(std::vector<int64_t> shape) {
  return *NDArray::Zeros(std::move(shape), DType::Float(32));
}

ObservedCall Seen(const Kernel& kernel, const std::vector<Value>& args) {
  ObservedCall call;
  LookAtKernel(kernel, args, &call);
  return call;
}

TEST(ObservedCallTest, ExtentsAreFoundFromShapes) {
  const ObservedCall call =
      Seen(Counted(), {Floats({6, 3}), int64_t{7}, Floats({5})});
  EXPECT_EQ(call.bytes_read, 6 * 3 * 4);
  EXPECT_EQ(call.bytes_written, 5 * 4);
  EXPECT_THAT(call.flop, Optional(35));
  EXPECT_TRUE(call.flop_is_bound);
}

TEST(ObservedCallTest, WhatIsNotToldIsNotKnown) {
  EXPECT_FALSE(Seen(Counted(), {Floats({6, 3}), 7.5, Floats({5})}).flop);
  Kernel uncounted = Counted();
  uncounted.flop.reset();
  const ObservedCall call =
      Seen(uncounted, {Floats({6, 3}), int64_t{7}, Floats({5})});
  EXPECT_FALSE(call.flop);
  EXPECT_EQ(call.bytes_written, 20);
}

TEST(ObservedCallTest, ArgumentsThatTheKernelWillRefuseAreLookedAt) {
  const NDArray x = Floats({5}), y = Floats({2, 2});
  EXPECT_FALSE(Seen(Counted(), {x, x, y}).flop);
  EXPECT_FALSE(Seen(Counted(), {NDArray(), int64_t{3}, Value()}).flop);
  EXPECT_EQ(Seen(Counted(), {int64_t{3}, y, int64_t{3}}).bytes_read, 16);
}

TEST(ObservedCallTest, NegativeCountsAreNone) {
  EXPECT_THAT(Seen(Counted(), {Floats({6, 3}), int64_t{-7}, Floats({5})}).flop,
              Optional(0));
}

TEST(ObservedCallTest, ATensorThatIsGivenTwiceIsMovedOnce) {
  const NDArray x = Floats({6, 3}), y = Floats({2});
  Kernel kernel = Counted();
  EXPECT_EQ(Seen(kernel, {x, int64_t{1}, x}).bytes_read, 0);
  EXPECT_EQ(Seen(kernel, {x, int64_t{1}, x}).bytes_written, 72);
  ObservedCall packed;
  LookAtPacked(std::vector<Value>{MakeTuple({x, y, x}), x, NDArray(), 3.0},
               MakeTuple({y, Floats({1})}), &packed);
  EXPECT_EQ(packed.bytes_read, 80);
  EXPECT_EQ(packed.bytes_written, 4);
  EXPECT_FALSE(packed.flop);
}

}  // namespace
}  // namespace kiln::vm
