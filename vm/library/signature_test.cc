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

TEST(SignatureTest, WhatIsWrittenInPlaceIsOneTensorOrLiesApart) {
  KernelSignature signature = Mm();
  const KernelDim c = KernelDim::Constant(512);
  for (KernelBuffer& buffer : signature.buffers) buffer.shape = {c};
  signature.scalars.pop_back();
  signature.buffers[1].in_place_of = {0};
  KILN_ASSERT_OK(CheckSignature(signature));
  constexpr int64_t kC[] = {512};
  const auto bind = [&](int64_t at) {
    return BindArguments(signature,
                         {{Tensor(kC, DType::Float(32), out), Scalar(1),
                           Tensor(kC, DType::Float(32), out + at)}})
        .status();
  };
  for (const int64_t at : {-2048, 0, 2048}) KILN_EXPECT_OK(bind(at));
  for (const int64_t at : {-2044, -4, 4, 2044}) {
    EXPECT_THAT(bind(at), StatusIs(kInvalid, HasSubstr("shares memory"))) << at;
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

// concat(A: int8[n], B: int8[m], C: out int8[n + m]).
KernelSignature Concat() {
  KernelSignature signature;
  signature.name = "concat";
  signature.scalars = {{"n", DType::Int(32)}, {"m", DType::Index()}};
  const KernelDim n = KernelDim::Symbolic(0), m = KernelDim::Symbolic(1);
  const KernelDim sum = KernelDim::Compound(KernelDim::Op::kAdd, n, m);
  signature.buffers = {{"A", DType::Int(8), {n}},
                       {"B", DType::Int(8), {m}},
                       {"C", DType::Int(8), {sum}, 64, true}};
  signature.params = {
      {Kind::kBuffer, 2}, {Kind::kBuffer, 0}, {Kind::kBuffer, 1}};
  return signature;
}

absl::StatusOr<BoundArguments> BindBytes(const KernelSignature& signature,
                                         const std::vector<int64_t>& extents) {
  std::vector<KernelArgument> args;
  for (size_t i = 0; i < extents.size(); ++i) {
    args.push_back(Tensor(absl::MakeConstSpan(&extents[i], 1), DType::Int(8),
                          memory + 1024 * i));
  }
  return BindArguments(signature, args);
}

TEST(SignatureTest, ChecksWhatScalarsAddUpTo) {
  KILN_ASSERT_OK_AND_ASSIGN(const BoundArguments bound,
                            BindBytes(Concat(), {12, 5, 7}));
  EXPECT_THAT(bound.scalars, testing::ElementsAre(5, 7));
  EXPECT_THAT(
      BindBytes(Concat(), {13, 5, 7}),
      StatusIs(kInvalid, HasSubstr("parameter 0 (C: int8[n + m]) of kernel "
                                   "concat: expected extent 12 (n is set by "
                                   "parameter 1, m is set by parameter 2) at "
                                   "axis 0, got shape [13]")));
}

TEST(SignatureTest, FindsTheScalarThatASumLeaves) {
  KernelSignature signature = Concat();
  signature.buffers.erase(signature.buffers.begin() + 1);
  signature.params = {{Kind::kBuffer, 1}, {Kind::kBuffer, 0}};
  KILN_ASSERT_OK(CheckSignature(signature));
  KILN_ASSERT_OK_AND_ASSIGN(const BoundArguments bound,
                            BindBytes(signature, {12, 5}));
  EXPECT_THAT(bound.scalars, testing::ElementsAre(5, 7));
  EXPECT_THAT(BindBytes(signature, {3, 5}),
              StatusIs(kInvalid, HasSubstr("m would be -2, which is no size of "
                                           "type int64; got shape [3]")));
  signature.buffers[1].shape[0] = KernelDim::Compound(
      KernelDim::Op::kMul, KernelDim::Symbolic(1), KernelDim::Constant(2));
  KILN_ASSERT_OK(CheckSignature(signature));
  EXPECT_THAT(BindBytes(signature, {12, 5})->scalars,
              testing::ElementsAre(5, 6));
  EXPECT_THAT(BindBytes(signature, {13, 5}),
              StatusIs(kInvalid, HasSubstr("no m gives the extent 13 of axis "
                                           "0, which has to be m * 2")));
}

TEST(SignatureTest, ValuesFitTheTypeOfTheScalar) {
  const int64_t huge[] = {int64_t{1} << 31};
  const int64_t one[] = {1};
  const int64_t sum[] = {huge[0] + 1};
  char* const far = memory;  // Not touched.
  const KernelSignature signature = Concat();
  KernelSignature reads = signature;
  reads.buffers[2].written = false;
  EXPECT_THAT(
      BindArguments(
          reads, std::vector<KernelArgument>{Tensor(sum, DType::Int(8), far),
                                             Tensor(huge, DType::Int(8), far),
                                             Tensor(one, DType::Int(8), far)}),
      StatusIs(kInvalid, HasSubstr("no size of type int32")));
}

TEST(SignatureTest, StridesAndOffsetsAreThoseOfCompactTensors) {
  KernelSignature signature = Mm();
  signature.scalars.push_back({"s"});
  signature.scalars.push_back({"o"});
  signature.buffers[0].strides = {KernelDim::Symbolic(2),
                                  KernelDim::Constant(1)};
  signature.buffers[0].offset = KernelDim::Symbolic(3);
  KILN_ASSERT_OK(CheckSignature(signature));
  const KernelArgument args[] = {Tensor(kA), Scalar(1),
                                 Tensor(kB, DType::Float(32), out)};
  EXPECT_THAT(BindArguments(signature, args)->scalars,
              testing::ElementsAre(1, 3, 512, 0));
  signature.buffers[0].strides[1] = KernelDim::Constant(2);
  EXPECT_THAT(BindArguments(signature, args),
              StatusIs(kInvalid,
                       HasSubstr("(A: float32[n, 512] strides [s, 2] offset o) "
                                 "of kernel mm: expected stride 2 at axis 1, "
                                 "got 1 of the compact shape [3, 512]")));
  signature.buffers[0].strides = {KernelDim::Constant(7),
                                  KernelDim::Symbolic(2)};
  const int64_t single[] = {1, 512};
  const int64_t column[] = {512, 1};
  const KernelArgument row[] = {Tensor(single), Scalar(1),
                                Tensor(column, DType::Float(32), out)};
  KILN_EXPECT_OK(BindArguments(signature, row));
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
      {[](auto& s) { s.buffers[0].shape[0] = KernelDim::Symbolic(9); },
       "scalar 9"},
      {[](auto& s) { s.buffers[0].alignment = 0; }, "the alignment 0"},
      {[](auto& s) { s.buffers[0].alignment = 12; }, "the alignment 12"},
      {[](auto& s) { s.buffers[0].alignment = 128; }, "the alignment 128"},
      {[](auto& s) { s.buffers[0].shape[1] = KernelDim::Constant(-1); },
       "negative extent"},
      {[](auto& s) { s.buffers[0].dtype = DType::Handle(); }, "handle"},
      {[](auto& s) { s.buffers[0].dtype = DType::Float(32).WithLanes(4); },
       "float32x4"},
      {[](auto& s) { s.scalars[1].dtype = DType::Float(32); },
       "not an integer"},
      {[](auto& s) { s.scalars.push_back({"lost"}); }, "neither a parameter"},
      {[](auto& s) { s.buffers[0].strides.emplace_back(); }, "1 strides for 2"},
      {[](auto& s) { s.buffers[0].offset = KernelDim::Constant(8); },
       "the offset 8"},
      {[](auto& s) { s.buffers[1].in_place_of = {0}; },
       "buffer B of kernel mm may be buffer 0, which has another type or "
       "shape"},
      {[](auto& s) { s.buffers[1].in_place_of = {2}; },
       "may be buffer 2, which does not exist"},
      {[](auto& s) { s.buffers[0].in_place_of = {1}; },
       "expected one that is written in place of one that is only read"},
      {[](auto& s) {
         const KernelDim half = KernelDim::Compound(KernelDim::Op::kFloorDiv,
                                                    KernelDim::Symbolic(1),
                                                    KernelDim::Constant(2));
         s.buffers[0].shape[0] = s.buffers[1].shape[1] = half;
       },
       "scalar n of kernel mm is neither a parameter nor told by the shape of "
       "a buffer (it stands in n // 2, n // 2)"},
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
  large.buffers[0].shape[1] = KernelDim::Constant(INT64_MAX);
  large.buffers[0].strides = {
      KernelDim::Compound(KernelDim::Op::kMul, KernelDim::Symbolic(1),
                          KernelDim::Constant(-2)),
      KernelDim::Constant(1)};
  large.buffers[0].offset = KernelDim::Symbolic(0);
  large.buffers[0].alignment = 1;
  large.noalias = true;
  large.buffers[1].shape = large.buffers[0].shape;
  large.buffers[1].strides = large.buffers[0].strides;
  large.buffers[1].offset = large.buffers[0].offset;
  large.buffers[1].in_place_of = {0};
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
