#include "kiln/tools/support/input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/vm/ndarray/npy.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// f(A: float32[n, 4], k: int32, C: out float32[n])
KernelSignature Signature() {
  KernelSignature signature;
  signature.name = "f";
  signature.scalars = {{"k", DType::Int(32)}, {"n"}};
  signature.buffers.resize(2);
  signature.buffers[0] = {
      "A", DType::Float(32), {KernelDim::Symbolic(1), KernelDim::Constant(4)}};
  signature.buffers[1] = {"C", DType::Float(32), {KernelDim::Symbolic(1)}};
  signature.buffers[1].written = true;
  signature.params = {{KernelParam::Kind::kBuffer, 0},
                      {KernelParam::Kind::kScalar, 0},
                      {KernelParam::Kind::kBuffer, 1}};
  return signature;
}

std::string Message(const std::vector<std::string>& inputs) {
  const auto args = MakeArguments(Signature(), inputs, 0);
  EXPECT_FALSE(args.ok());
  return std::string(args.status().message());
}

TEST(InputTest, OutputsAreAllocatedWithTheExtentsOfTheInputs) {
  KILN_ASSERT_OK_AND_ASSIGN(
      std::vector<PackedValue> args,
      MakeArguments(Signature(), {"random:3x4xf32", "value:5"}, 0));
  ASSERT_EQ(args.size(), 3u);
  EXPECT_EQ(std::get<int64_t>(args[1]), 5);
  EXPECT_EQ(std::get<NDArray>(args[2]).TypeString(), "float32[3]");
}

TEST(InputTest, AllParametersCanBeGiven) {
  KILN_ASSERT_OK_AND_ASSIGN(
      std::vector<PackedValue> args,
      MakeArguments(Signature(), {"zeros:3x4xf32", "value:5", "zeros:3xf32"},
                    0));
  EXPECT_EQ(std::get<NDArray>(args[0]).data_as<float>()[11], 0);
}

TEST(InputTest, WrongArgumentsNameParameterAndInput) {
  EXPECT_THAT(Message({"random:3x4xf64", "value:5"}),
              AllOf(HasSubstr("random:3x4xf64"), HasSubstr("float32[n, 4]"),
                    HasSubstr("float64[3, 4]"), HasSubstr("parameter A")));
  EXPECT_THAT(Message({"random:3x5xf32", "value:5"}), HasSubstr("[3, 5]"));
  EXPECT_THAT(Message({"random:12xf32", "value:5"}), HasSubstr("[12]"));
  EXPECT_THAT(Message({"value:1", "value:5"}), HasSubstr("is a tensor"));
  EXPECT_THAT(Message({"zeros:3x4xf32", "zeros:3xf32"}),
              HasSubstr("is a scalar"));
  EXPECT_THAT(Message({"zeros:3x4xf32", "value:5", "zeros:2xf32"}),
              HasSubstr("parameter C"));
}

TEST(InputTest, NumberOfInputsIsChecked) {
  EXPECT_THAT(Message({"value:1"}), HasSubstr("takes 3 arguments"));
}

TEST(InputTest, WithoutInputsRandomNumbersAreRead) {
  KernelSignature signature = Signature();
  EXPECT_THAT(Message({}), HasSubstr("the extent n of parameter A"));
  signature.params.erase(signature.params.begin());
  EXPECT_THAT(std::string(MakeArguments(signature, {}, 0).status().message()),
              HasSubstr("parameter k is a scalar"));
  signature = Signature();
  signature.params.erase(signature.params.begin() + 1);
  for (KernelBuffer& b : signature.buffers) b.shape[0] = KernelDim::Constant(3);
  KILN_ASSERT_OK_AND_ASSIGN(std::vector<PackedValue> args,
                            MakeArguments(signature, {}, 0));
  EXPECT_NE(std::get<NDArray>(args[0]).data_as<float>()[11], 0);
  EXPECT_EQ(std::get<NDArray>(args[1]).data_as<float>()[2], 0);
}

TEST(InputTest, MalformedInputsTellTheSyntax) {
  for (const char* text : {"", "a.npy", "random:", "random:3xf33",
                           "random:-3xf32", "zeros:axf32", "value:x", "value:",
                           "random:99999999999999xf32", "@/no/such/file.npy"}) {
    const auto value = ParseInput(text, 0);
    EXPECT_FALSE(value.ok()) << text;
    EXPECT_FALSE(value.status().message().empty());
  }
}

TEST(InputTest, TypesGoByNameOrLetter) {
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, std::string>>{
           {"2xf16", "float16[2]"},
           {"2xbf16", "bfloat16[2]"},
           {"2xi8", "int8[2]"},
           {"2xu64", "uint64[2]"},
           {"2xbool", "bool[2]"},
           {"2xfloat64", "float64[2]"},
           {"f32", "float32[]"}}) {
    KILN_ASSERT_OK_AND_ASSIGN(NDArray array, ParseTensorType(text));
    EXPECT_EQ(array.TypeString(), type);
  }
}

TEST(InputTest, FilesAreRead) {
  const std::string path = ::testing::TempDir() + "/input_test.npy";
  KILN_ASSERT_OK_AND_ASSIGN(NDArray array,
                            NDArray::Zeros({3, 4}, DType::Float(32)));
  KILN_EXPECT_OK(WriteNpy(array, path));
  KILN_ASSERT_OK_AND_ASSIGN(
      std::vector<PackedValue> args,
      MakeArguments(Signature(), {"@" + path, "value:1"}, 0));
  EXPECT_EQ(std::get<NDArray>(args[0]).TypeString(), "float32[3, 4]");
}

}  // namespace
}  // namespace kiln
