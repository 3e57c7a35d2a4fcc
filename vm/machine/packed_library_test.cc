#include "kiln/vm/machine/packed_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"

namespace kiln::vm {
namespace {

using testing::HasSubstr;

constexpr char kLibrary[] = "vm/machine/libtest_functions.so";

NDArray Floats(const std::vector<float>& values) {
  NDArray array =
      *NDArray::Empty({static_cast<int64_t>(values.size())}, DType::Float(32));
  std::copy(values.begin(), values.end(), array.data_as<float>());
  return array;
}

TEST(PackedLibraryTest, TensorsAreWrittenInPlace) {
  KILN_ASSERT_OK_AND_ASSIGN(const FunctionTable functions,
                            OpenPackedLibrary(kLibrary));
  EXPECT_EQ(functions.Names(), "env.fail, env.sum, env.twice");
  const NDArray y = Floats({0, 0});
  KILN_EXPECT_OK(
      (*functions.Find("env.twice"))(std::vector<Value>{Floats({1, 2}), y}));
  EXPECT_THAT(y.elements<float>(), testing::ElementsAre(2, 4));
}

TEST(PackedLibraryTest, OtherValuesArriveAsTheyAre) {
  KILN_ASSERT_OK_AND_ASSIGN(const FunctionTable functions,
                            OpenPackedLibrary(kLibrary));
  const NDArray y = Floats({0});
  KILN_EXPECT_OK((*functions.Find("env.sum"))(std::vector<Value>{
      int64_t{100}, 0.5, std::string("four"), MakeShape({10, 20}), y}));
  EXPECT_EQ(y.elements<float>()[0], 134.5f);
}

TEST(PackedLibraryTest, FailuresAreMessages) {
  KILN_ASSERT_OK_AND_ASSIGN(const FunctionTable functions,
                            OpenPackedLibrary(kLibrary));
  EXPECT_THAT(
      (*functions.Find("env.twice"))(std::vector<Value>{int64_t{1}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "twice takes two tensors"));
  EXPECT_THAT((*functions.Find("env.sum"))({}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("7")));
  EXPECT_THAT((*functions.Find("env.sum"))(std::vector<Value>{MakeTuple({})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 1 is tuple of 0")));
  EXPECT_THAT(
      (*functions.Find("env.fail"))({}),
      StatusIs(absl::StatusCode::kInvalidArgument, std::string(255, 'x')));
}

TEST(PackedLibraryTest, OtherFilesAreRefusedByName) {
  EXPECT_THAT(OpenPackedLibrary("no_such.so"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no_such.so")));
  EXPECT_THAT(OpenPackedLibrary("vm/machine/libnewer_functions.so"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("version 2 of the interface, not 1")));
  const std::string text = testing::TempDir() + "/text.so";
  KILN_ASSERT_OK(WriteFileAtomically(text, "no library"));
  EXPECT_THAT(OpenPackedLibrary(text),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text)));
}

}  // namespace
}  // namespace kiln::vm
