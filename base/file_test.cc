#include "kiln/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "kiln/base/status_matchers.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Fresh(const std::string& name) {
  std::string path = ::testing::TempDir() + "/" + name;
  std::filesystem::remove_all(path);
  return path;
}

int FilesIn(const std::string& folder) {
  std::filesystem::directory_iterator it(folder);
  return static_cast<int>(std::distance(begin(it), end(it)));
}

TEST(FileTest, ReadsBackWhatWasWritten) {
  std::string path = Fresh("round_trip");
  std::string bytes(300'000, 'x');
  bytes[5] = '\0';
  KILN_ASSERT_OK(WriteFileAtomically(path, bytes));
  KILN_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile(path));
  EXPECT_EQ(read, bytes);
}

TEST(FileTest, ReadsAnEmptyFile) {
  std::string path = Fresh("empty");
  KILN_ASSERT_OK(WriteFileAtomically(path, ""));
  KILN_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile(path));
  EXPECT_EQ(read, "");
}

TEST(FileTest, ReadsWhatHasNoSize) {
  KILN_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile("/proc/self/status"));
  EXPECT_THAT(read, HasSubstr("Name:"));
}

TEST(FileTest, NamesTheMissingFile) {
  EXPECT_THAT(ReadFile("/nowhere/m.py"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("cannot open /nowhere/m.py"),
                             HasSubstr("No such file"))));
}

TEST(FileTest, RefusesAFolder) {
  std::string folder = Fresh("folder");
  KILN_ASSERT_OK(MakeFolders(folder));
  EXPECT_THAT(ReadFile(folder), StatusIs(absl::StatusCode::kFailedPrecondition,
                                         HasSubstr("it is a folder")));
  EXPECT_THAT(WriteFileAtomically(folder, "x"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("it is a folder")));
}

TEST(FileTest, RefusesMoreThanTheLimit) {
  std::string path = Fresh("large");
  KILN_ASSERT_OK(WriteFileAtomically(path, "12345"));
  KILN_EXPECT_OK(ReadFile(path, 5));
  EXPECT_THAT(ReadFile(path, 4), StatusIs(absl::StatusCode::kResourceExhausted,
                                          HasSubstr("more than 4 bytes")));
  EXPECT_THAT(
      ReadFile("/dev/zero", 1 << 20),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("/dev/zero")));
}

TEST(FileTest, LeavesNothingBehindWhenItCannotWrite) {
  EXPECT_THAT(WriteFileAtomically("/nowhere/f", "x"),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("cannot write /nowhere/f")));
}

TEST(FileTest, ReplacesAFileAndKeepsItsMode) {
  std::string folder = Fresh("replace");
  KILN_ASSERT_OK(MakeFolders(folder));
  std::string path = folder + "/f";
  KILN_ASSERT_OK(WriteFileAtomically(path, "old"));
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  KILN_ASSERT_OK(WriteFileAtomically(path, "new"));
  KILN_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile(path));
  EXPECT_EQ(read, "new");
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(FileTest, AReaderNeverSeesHalfAFile) {
  std::string path = Fresh("whole");
  KILN_ASSERT_OK(WriteFileAtomically(path, std::string(100'000, 'a')));
  std::thread writer([&path] {
    for (char c = 'b'; c <= 'z'; ++c) {
      KILN_EXPECT_OK(WriteFileAtomically(path, std::string(100'000, c)));
    }
  });
  for (int i = 0; i < 200; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile(path));
    ASSERT_EQ(read.size(), 100'000u);
    ASSERT_EQ(std::count(read.begin(), read.end(), read[0]), 100'000);
  }
  writer.join();
}

TEST(FileTest, MakesFoldersOnTheWayAndAgain) {
  std::string folder = Fresh("a") + "/b/c";
  KILN_EXPECT_OK(MakeFolders(folder));
  KILN_EXPECT_OK(MakeFolders(folder));
  EXPECT_THAT(MakeFolders("/dev/null/x"),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("cannot make the folder /dev/null/x")));
}

TEST(FileTest, RelativePathsAreTheCallers) {
  setenv("BUILD_WORKING_DIRECTORY", "/home/user", 1);
  EXPECT_EQ(CallerPath("m.py"), "/home/user/m.py");
  EXPECT_EQ(CallerPath("/m.py"), "/m.py");
  EXPECT_EQ(CallerPath("-"), "-");
  EXPECT_EQ(CallerPath(""), "");
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(CallerPath("m.py"), "m.py");
}

}  // namespace
}  // namespace kiln
