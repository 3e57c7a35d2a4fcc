#include "kiln/ir/text/reader/metadata.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::script {
namespace {

using ::testing::HasSubstr;

template <typename T>
void Put(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// A vector of three int32.
std::string Vector(int64_t size = 12) {
  std::string bytes;
  Put<uint64_t>(0xDD5E40F096B4A13F, bytes);
  Put<uint64_t>(0, bytes);
  Put<int32_t>(1, bytes);
  Put<int32_t>(0, bytes);
  Put<int32_t>(1, bytes);
  Put<uint8_t>(0, bytes);
  Put<uint8_t>(32, bytes);
  Put<uint16_t>(1, bytes);
  Put<int64_t>(3, bytes);
  Put<int64_t>(size, bytes);
  for (const int32_t value : {7, -1, 100}) Put(value, bytes);
  std::string text;
  absl::Base64Escape(bytes, &text);
  return text;
}

std::string Listed(const std::string& tensor) {
  return absl::StrCat(
      R"({"root_index": 5, "nodes": [
        {"type": "ffi.String", "data": "ir.GenericConst"},
        {"type": "None"},
        {"type": "ffi.Tensor", "data": ")",
      tensor,
      R"("},
        {"type": "ir.GenericConst", "data": {"span": 1, "value": 2}},
        {"type": "ffi.Array", "data": [3, 1]},
        {"type": "ffi.Map", "data": [0, 4]}],
       "metadata": {"version": "1.5"}})");
}

TEST(MetadataTest, ConstantsHaveTheirBytes) {
  KILN_ASSERT_OK_AND_ASSIGN(const Metadata metadata,
                            ReadMetadata(Listed(Vector())));
  ASSERT_EQ(metadata.count("ir.GenericConst"), 1u);
  const auto& constants = metadata.at("ir.GenericConst");
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_THAT(PrintGraphExpr(constants[0]),
              HasSubstr("[7, -1, 100], \"int32\""));
  EXPECT_FALSE(constants[1]) << "a node that is no constant";
}

TEST(MetadataTest, BytesThatAreNoTensorAreNoConstant) {
  for (const std::string& tensor :
       {Vector(11), Vector().substr(0, 40), std::string("AAAA"),
        std::string("?"), std::string()}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Metadata metadata,
                              ReadMetadata(Listed(tensor)));
    EXPECT_FALSE(metadata.at("ir.GenericConst")[0]) << tensor;
  }
}

TEST(MetadataTest, WhatIsNoMetadataIsRefused) {
  for (const char* text :
       {"", "{", "[1, 2", "{\"a\": tru}", "{} {}", "{\"nodes\": []}",
        "{\"root_index\": -1, \"nodes\": [1]}", "{\"a\" 1}", "\"\\"}) {
    EXPECT_FALSE(ReadMetadata(text).ok()) << text;
  }
  EXPECT_FALSE(ReadMetadata(std::string(100000, '[')).ok());
}

}  // namespace
}  // namespace kiln::script
