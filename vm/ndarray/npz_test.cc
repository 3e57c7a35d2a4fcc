#include "kiln/vm/ndarray/npz.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/type/dtype.h"

namespace kiln {
namespace {

using testing::HasSubstr;

std::string Path(const std::string& name) {
  return testing::TempDir() + "/" + name;
}

NDArray Iota(std::vector<int64_t> shape) {
  NDArray array = *NDArray::Empty(std::move(shape), DType::Int(32));
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    array.data_as<int32_t>()[i] = static_cast<int32_t>(i);
  }
  return array;
}

TEST(NpzTest, WhatIsWrittenIsRead) {
  const std::string path = Path("two.npz");
  KILN_ASSERT_OK(WriteNpz({{"w0", Iota({2, 3})}, {"b", Iota({})}}, path));
  KILN_ASSERT_OK_AND_ASSIGN(const auto arrays, ReadNpz(path));
  ASSERT_EQ(arrays.size(), 2);
  EXPECT_EQ(arrays.at("w0").TypeString(), "int32[2, 3]");
  EXPECT_EQ(arrays.at("w0").data_as<int32_t>()[5], 5);
  EXPECT_EQ(arrays.at("b").TypeString(), "int32[]");
}

TEST(NpzTest, MissingAndForeignFilesAreNamed) {
  EXPECT_THAT(ReadNpz(Path("none.npz")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.npz")));
  const std::string path = Path("text.npz");
  KILN_ASSERT_OK(WriteFileAtomically(path, "no archive"));
  EXPECT_THAT(ReadNpz(path), StatusIs(absl::StatusCode::kInvalidArgument,
                                      HasSubstr("text.npz: no .npz file")));
}

TEST(NpzTest, EveryCutIsAnError) {
  const std::string path = Path("whole.npz");
  KILN_ASSERT_OK(WriteNpz({{"w", Iota({4})}}, path));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = Path("cut.npz");
    KILN_ASSERT_OK(WriteFileAtomically(cut, bytes.substr(0, size)));
    EXPECT_FALSE(ReadNpz(cut).ok()) << size;
  }
}

TEST(NpzTest, DamagedBytesDoNotCrash) {
  const std::string path = Path("whole.npz");
  KILN_ASSERT_OK(WriteNpz({{"w", Iota({4})}}, path));
  KILN_ASSERT_OK_AND_ASSIGN(const std::string bytes, ReadFile(path));
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    KILN_ASSERT_OK(WriteFileAtomically(Path("damaged.npz"), damaged));
    (void)ReadNpz(Path("damaged.npz"));
  }
}

}  // namespace
}  // namespace kiln
