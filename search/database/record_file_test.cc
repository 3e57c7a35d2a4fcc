#include "kiln/search/database/record_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using testing::OkRecord;
using testing::SomeWorkload;

class RecordFileTest : public ::testing::Test {
 protected:
  // What a new process finds in the file.
  int64_t CountNow() {
    std::unique_ptr<Database> database = Database::InMemory().value();
    KILN_EXPECT_OK(RecordFile::Open(path_, database.get()).status());
    return database->Count().value();
  }

  testing::TempFolder folder_;
  std::string path_ = folder_.File("records.json");
};

TEST_F(RecordFileTest, EveryRecordIsThereAtOnceAndRunsAddUp) {
  std::unique_ptr<Database> database = Database::InMemory().value();
  KILN_ASSERT_OK_AND_ASSIGN(auto file, RecordFile::Open(path_, database.get()));
  EXPECT_EQ(file->loaded(), 0);
  KILN_EXPECT_OK(file->Append(SomeWorkload(), OkRecord("a", 1)));
  EXPECT_EQ(CountNow(), 1);
  KILN_EXPECT_OK(file->Append(SomeWorkload(), OkRecord("b", 2)));
  EXPECT_EQ(CountNow(), 2);
  std::unique_ptr<Database> second = Database::InMemory().value();
  KILN_ASSERT_OK_AND_ASSIGN(file, RecordFile::Open(path_, second.get()));
  EXPECT_EQ(file->loaded(), 2);
  KILN_EXPECT_OK(file->Append(SomeWorkload(), OkRecord("c", 3)));
  EXPECT_EQ(CountNow(), 3);
}

TEST_F(RecordFileTest, ALineThatAKillCutIsDropped) {
  {
    std::unique_ptr<Database> database = Database::InMemory().value();
    KILN_ASSERT_OK_AND_ASSIGN(auto file,
                              RecordFile::Open(path_, database.get()));
    KILN_EXPECT_OK(file->Append(SomeWorkload(), OkRecord("a", 1)));
  }
  std::ofstream(path_, std::ios::app) << "{\"version\":1,\"rec";
  EXPECT_EQ(CountNow(), 1);
  EXPECT_EQ(CountNow(), 1);
}

TEST_F(RecordFileTest, AnEndThatIsNoRecordIsRefusedAndLeftAsItIs) {
  const std::string contents("\x89PNG\0of one line", 16);
  std::ofstream(path_, std::ios::binary) << contents;
  std::unique_ptr<Database> database = Database::InMemory().value();
  EXPECT_THAT(RecordFile::Open(path_, database.get()),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the end of the file is no record")));
  EXPECT_EQ(ReadFile(path_).value(), contents);
}

TEST_F(RecordFileTest, WhatIsNoRecordIsRefusedAndLeftAsItIs) {
  std::ofstream(path_) << "a letter\nto you\n";
  std::unique_ptr<Database> database = Database::InMemory().value();
  EXPECT_THAT(
      RecordFile::Open(path_, database.get()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 1")));
  std::ifstream file(path_);
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "a letter");
  EXPECT_FALSE(
      RecordFile::Open(folder_.File("no/such/file"), database.get()).ok());
}

}  // namespace
}  // namespace kiln
