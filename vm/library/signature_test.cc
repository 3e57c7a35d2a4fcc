#include "kiln/vm/library/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using Kind = KernelParam::Kind;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// mm(A: float32[n, 512], k: int32, B: out float32[512, n]).
KernelSignature Mm() {
  KernelSignature signature;
  signature.name = "mm";
  signature.scalars = {{"k", DType::Int(32)}, {"n", DType::Index()}};
  const KernelDim n = KernelDim::Symbolic(1);
  const KernelDim c = KernelDim::Constant(512);
  signature.buffers = {{"A", DType::Float(32), {n, c}, 64, false},
                       {"B", DType::Float(32), {c, n}, 4, true}};
  signature.params = {
      {Kind::kBuffer, 0}, {Kind::kScalar, 0}, {Kind::kBuffer, 1}};
  return signature;
}

alignas(64) char memory[32768];
char* const out = memory + 16384;

KernelArgument Tensor(absl::Span<const int64_t> shape,
                      DType dtype = DType::Float(32), void* data = memory) {
  return {Kind::kBuffer, data, dtype, shape, 0};
}
KernelArgument Scalar(int64_t value) {
  return {Kind::kScalar, nullptr, DType::Int(32), {}, value};
}

constexpr int64_t kA[] = {3, 512};
constexpr int64_t kB[] = {512, 3};

absl::StatusOr<BoundArguments> Bind(std::vector<KernelArgument> args) {
  return BindArguments(Mm(), args);
}

TEST(SignatureTest, PrintsAsALine) {
  EXPECT_EQ(ToString(Mm()),
            "mm(A: float32[n, 512], k: int32, B: out float32[512, n])");
}

TEST(SignatureTest, BindsBuffersScalarsAndSymbolsFromShapes) {
  KILN_ASSERT_OK_AND_ASSIGN(
      BoundArguments bound,
      Bind({Tensor(kA), Scalar(-7), Tensor(kB, DType::Float(32), out + 4)}));
  EXPECT_THAT(bound.scalars, testing::ElementsAre(-7, 3));
  EXPECT_THAT(bound.data, testing::ElementsAre(memory, out + 4));
}

TEST(SignatureTest, RefusesArgumentsThatDoNotFit) {
  const int64_t wrong_n[] = {512, 4};
  const int64_t wrong_c[] = {3, 511};
  const int64_t flat[] = {3};
  const struct {
    std::vector<KernelArgument> args;
    const char* message;
  } cases[] = {
      {{Tensor(kA), Scalar(1)}, "takes 3 arguments, got 2"},
      {{Scalar(1), Scalar(1), Tensor(kB)}, "expected a tensor, got a scalar"},
      {{Tensor(kA), Tensor(kA), Tensor(kB)}, "expected a scalar, got a tensor"},
      {{Tensor(kA, DType::Float(64)), Scalar(1), Tensor(kB)},
       "(A: float32[n, 512]) of kernel mm: expected float32, got float64"},
      {{Tensor(flat), Scalar(1), Tensor(kB)}, "expected rank 2, got shape [3]"},
      {{Tensor(wrong_c), Scalar(1), Tensor(kB)},
       "expected extent 512 at axis 1, got shape [3, 511]"},
      {{Tensor(kA), Scalar(1), Tensor(wrong_n)},
       "expected extent 3 (n is set by parameter 0) at axis 1"},
      {{Tensor(kA, DType::Float(32), nullptr), Scalar(1), Tensor(kB)},
       "null address"},
      {{Tensor(kA, DType::Float(32), memory + 4), Scalar(1), Tensor(kB)},
       "not a multiple of 64"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(Bind(test.args), StatusIs(kInvalid, HasSubstr(test.message)));
  }
}

TEST(SignatureTest, TheAlignmentOfABufferIsOneThatAddressesCanHave) {
  EXPECT_EQ(KernelAlignment(64, 4), 64);
  EXPECT_EQ(KernelAlignment(128, 4), 64);
  EXPECT_EQ(KernelAlignment(48, 4), 16);
  EXPECT_EQ(KernelAlignment(1, 8), 8);
  EXPECT_EQ(KernelAlignment(3, 1), 1);
}

TEST(SignatureTest, WhatIsWrittenLiesApartFromAllElse) {
  // A takes 6144 bytes, and so does B.
  for (const int64_t at : {-6140, -4, 0, 4, 6140}) {
    EXPECT_THAT(Bind({Tensor(kA, DType::Float(32), out), Scalar(1),
                      Tensor(kB, DType::Float(32), out + at)}),
                StatusIs(kInvalid, HasSubstr("parameter 2 (B: float32[512, n]) "
                                             "of kernel mm, which is written, "
                                             "shares memory with parameter 0 "
                                             "(A); pass tensors")))
        << at;
  }
  for (const int64_t at : {-6144, 6144}) {
    KILN_EXPECT_OK(Bind({Tensor(kA, DType::Float(32), out), Scalar(1),
                         Tensor(kB, DType::Float(32), out + at)}));
  }
}

TEST(SignatureTest, WhatIsOnlyReadMayShareMemory) {
  KernelSignature signature = Mm();
  signature.buffers[1].written = false;
  const KernelArgument args[] = {Tensor(kA), Scalar(1), Tensor(kB)};
  KILN_EXPECT_OK(BindArguments(signature, args));
}

TEST(SignatureTest, AcceptsNoMemoryForAnEmptyTensor) {
  const int64_t a[] = {0, 512};
  const int64_t b[] = {512, 0};
  KILN_EXPECT_OK(Bind({Tensor(a, DType::Float(32), nullptr), Scalar(1),
                       Tensor(b, DType::Float(32), nullptr)}));
}

TEST(SignatureTest, ChecksShapesAgainstAnExplicitSymbol) {
  KernelSignature signature = Mm();
  signature.params.push_back({Kind::kScalar, 1});
  const KernelArgument args[] = {Tensor(kA), Scalar(1), Tensor(kB), Scalar(4)};
  EXPECT_THAT(BindArguments(signature, args),
              StatusIs(kInvalid, HasSubstr("n is set by parameter 3")));
}

TEST(SignatureTest, RefusesSignaturesThatContradictThemselves) {
  const struct {
    std::function<void(KernelSignature&)> edit;
    const char* message;
  } cases[] = {
      {[](auto& s) { s.params.pop_back(); }, "not among its parameters"},
      {[](auto& s) { s.params.push_back({Kind::kBuffer, 0}); }, "A twice"},
      {[](auto& s) { s.params.push_back({Kind::kBuffer, 2}); }, "buffer 2"},
      {[](auto& s) { s.params.push_back({Kind::kScalar, -1}); }, "scalar -1"},
      {[](auto& s) { s.buffers[0].shape[0].scalar = 9; }, "scalar 9"},
      {[](auto& s) { s.buffers[0].alignment = 0; }, "the alignment 0"},
      {[](auto& s) { s.buffers[0].alignment = 12; }, "the alignment 12"},
      {[](auto& s) { s.buffers[0].alignment = 128; }, "the alignment 128"},
      {[](auto& s) { s.buffers[0].shape[1].extent = -1; }, "negative extent"},
      {[](auto& s) { s.buffers[0].dtype = DType::Handle(); }, "handle"},
      {[](auto& s) { s.buffers[0].dtype = DType::Float(32).WithLanes(4); },
       "float32x4"},
      {[](auto& s) { s.scalars[1].dtype = DType::Float(32); },
       "not an integer"},
      {[](auto& s) { s.scalars.push_back({"lost"}); }, "neither a parameter"},
  };
  for (const auto& test : cases) {
    KernelSignature signature = Mm();
    test.edit(signature);
    EXPECT_THAT(CheckSignature(signature),
                StatusIs(kInvalid, HasSubstr(test.message)));
  }
}

TEST(SignatureTest, SurvivesSerialization) {
  KILN_ASSERT_OK_AND_ASSIGN(KernelSignature back,
                            ParseKernelSignature(Serialize(Mm())));
  EXPECT_EQ(back, Mm());
  KernelSignature large = Mm();
  large.name = std::string("odd \0 name", 10);
  large.buffers[0].shape[1].extent = INT64_MAX;
  large.buffers[0].alignment = 1;
  large.noalias = true;
  EXPECT_EQ(*ParseKernelSignature(Serialize(large)), large);
}

TEST(SignatureTest, RefusesEveryTruncation) {
  const std::string bytes = Serialize(Mm());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseKernelSignature(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_THAT(ParseKernelSignature(bytes + "x"),
              StatusIs(kInvalid, HasSubstr("followed by")));
}

TEST(SignatureTest, RefusesUnknownVersions) {
  std::string bytes = Serialize(Mm());
  bytes[4] = 9;
  EXPECT_THAT(ParseKernelSignature(bytes),
              StatusIs(kInvalid, HasSubstr("version 9")));
}

TEST(SignatureTest, NeverCrashesOnDamagedBytes) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string good = Serialize(Mm());
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (int flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[4 + random() % (bytes.size() - 4)] ^= 1 << random() % 8;
    }
    auto parsed = ParseKernelSignature(bytes);
    if (parsed.ok()) EXPECT_EQ(Serialize(*parsed).size() > 0, true);
  }
}

}  // namespace
}  // namespace kiln
