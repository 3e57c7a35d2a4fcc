#include "kiln/vm/ndarray/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "kiln/base/status_matchers.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

std::string File(int version, const std::string& header,
                 const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return bytes + header + data;
}

std::string Bytes(int count) {
  std::string data;
  for (int i = 0; i < count; ++i) data += static_cast<char>(i);
  return data;
}

TEST(NpyTest, EveryTypeSurvivesAFile) {
  const std::string path = ::testing::TempDir() + "/npy_test.npy";
  for (const char* name :
       {"float16", "float32", "float64", "int8", "int16", "int32", "int64",
        "uint8", "uint16", "uint32", "uint64", "bool"}) {
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {3}, {2, 3, 4}, {0, 2}}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          NDArray a, NDArray::Empty(shape, *DType::FromString(name)));
      FillRandom(a, 1);
      KILN_ASSERT_OK(WriteNpy(a, path));
      KILN_ASSERT_OK_AND_ASSIGN(NDArray b, ReadNpy(path));
      KILN_ASSERT_OK_AND_ASSIGN(CompareReport report, Compare(b, a, {}));
      EXPECT_TRUE(report.ok()) << report.ToString();
    }
  }
}

TEST(NpyTest, WritesWhatNumpyWrites) {
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({3}, DType::Float(32)));
  KILN_ASSERT_OK_AND_ASSIGN(std::string bytes, FormatNpy(a));
  EXPECT_EQ(bytes.size(), 128u + 12);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_THAT(bytes.substr(10),
              StartsWith("{'descr': '<f4', 'fortran_order': False, "
                         "'shape': (3,), } "));
}

TEST(NpyTest, ReadsVersionsTwoAndThreeAndKeysInAnyOrder) {
  for (int version : {2, 3}) {
    KILN_ASSERT_OK_AND_ASSIGN(
        NDArray a, ParseNpy(File(version,
                                 "{\"shape\": (2L, 2), 'fortran_order':False,"
                                 "'descr':'|u1'}  \n",
                                 Bytes(4)),
                            "x"));
    EXPECT_THAT(a.elements<uint8_t>(), ElementsAre(0, 1, 2, 3));
  }
}

TEST(NpyTest, RearrangesFortranOrder) {
  KILN_ASSERT_OK_AND_ASSIGN(
      NDArray a, ParseNpy(File(1,
                               "{'descr': '|u1', 'fortran_order': True, "
                               "'shape': (2, 3, 2), }\n",
                               Bytes(12)),
                          "x"));
  EXPECT_THAT(a.elements<uint8_t>(),
              ElementsAre(0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11));
}

TEST(NpyTest, RefusesWhatItCannotRead) {
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': '" + descr +
           "', 'fortran_order': False, 'shape': " + shape + ", }";
  };
  const struct {
    std::string bytes;
    const char* message;
  } cases[] = {
      {"PK\3\4", "is not an .npy file"},
      {"", "is not an .npy file"},
      {std::string("\x93NUMPY\1", 7), "cut short within its header"},
      {File(7, "{}", ""), "version 7"},
      {File(1, header(">f4", "(1,)"), Bytes(4)), "big-endian"},
      {File(1, header("|O", "(1,)"), Bytes(8)), "'|O', which is not supported"},
      {File(1, header("<c8", "(1,)"), Bytes(8)), "use float16"},
      {File(1, header("<f4", "(2,)"), Bytes(7)),
       "x is cut short: its float32 data takes 8 bytes, the file has 7"},
      {File(1, header("<f4", "(1,)"), Bytes(5)), "left over"},
      {File(1, header("<f4", "(-1,)"), ""), "impossible shape"},
      {File(1, header("<f8", "(9223372036854775807, 3)"), ""), "overflows"},
      {File(1, header("<f8", "(4611686018427387904, 2)"), ""), "overflows"},
      {File(1, header("<f4", "(99999999999999999999,)"), ""), "malformed"},
      {File(1, header("<f4", "3"), Bytes(12)), "malformed header"},
      {File(1, "{'descr': '<f4', 'shape': (1,)}", Bytes(4)), "malformed"},
      {File(1, "{'descr': [('a', '<f4')], 'fortran_order': False}", ""),
       "malformed"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(ParseNpy(test.bytes, "x"),
                StatusIs(kInvalid, HasSubstr(test.message)));
  }
}

TEST(NpyTest, NamesTheFileInErrors) {
  EXPECT_THAT(ReadNpy("/nonexistent/a.npy"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot open /nonexistent/a.npy")));
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({1}, DType::Int(8)));
  EXPECT_THAT(WriteNpy(a, "/nonexistent/a.npy"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot create /nonexistent/a.npy")));
  EXPECT_THAT(ReadNpy(::testing::TempDir()).status().ToString(),
              HasSubstr(::testing::TempDir()));
  KILN_ASSERT_OK_AND_ASSIGN(NDArray b, NDArray::Zeros({1}, DType::BFloat16()));
  EXPECT_THAT(FormatNpy(b), StatusIs(kInvalid, HasSubstr("bfloat16")));
  EXPECT_FALSE(FormatNpy(NDArray()).ok());
}

TEST(NpyTest, NeverCrashesOnDamagedFiles) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  KILN_ASSERT_OK_AND_ASSIGN(NDArray a, NDArray::Zeros({3, 2}, DType::Int(16)));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string good, FormatNpy(a));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ParseNpy(good.substr(0, size), "x").ok()) << size;
  }
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    bytes[random() % 80] = static_cast<char>(random());
    ParseNpy(bytes, "x").IgnoreError();
  }
}

}  // namespace
}  // namespace kiln
