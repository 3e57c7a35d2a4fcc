#include "kiln/search/database/json_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::OkRecord;
using ::kiln::testing::SomeWorkload;
using ::kiln::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class JsonLinesTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportCount> Import(const std::string& text) {
    std::istringstream in(text);
    return ImportJsonLines(in, *to_);
  }
  std::string Export(Database& database) {
    std::ostringstream out;
    KILN_EXPECT_OK(ExportJsonLines(database, out));
    return out.str();
  }

  TempFolder folder_;
  std::unique_ptr<Database> from_ = *Database::Open(folder_.File("from.db"));
  std::unique_ptr<Database> to_ = *Database::Open(folder_.File("to.db"));
};

TEST_F(JsonLinesTest, ExportThenImportGivesTheSameDatabase) {
  KILN_ASSERT_OK(from_->AddWorkload(SomeWorkload()));
  for (int i = 0; i < kNumVerdicts; ++i) {
    const auto verdict = static_cast<Verdict>(i);
    const std::string program =
        verdict == Verdict::kScheduleRefused ? "" : "p" + std::to_string(i);
    KILN_ASSERT_OK(from_->CommitTrial(
        verdict == Verdict::kOk ? OkRecord(program, 0.1 + i)
                                : testing::FailedRecord(program, verdict)));
  }
  const std::string text = Export(*from_);
  KILN_ASSERT_OK_AND_ASSIGN(ImportCount count, Import(text));
  EXPECT_EQ(count.workloads, 1);
  EXPECT_EQ(count.records, kNumVerdicts);
  EXPECT_EQ(Export(*to_), text);
  KILN_ASSERT_OK_AND_ASSIGN(count, Import(text));
  EXPECT_EQ(count.records, 0);
  EXPECT_EQ(count.duplicates, kNumVerdicts);
}

TEST_F(JsonLinesTest, ALaterLineOfAProgramReplacesTheEarlier) {
  TuningRecord record = OkRecord("p", 5);
  std::string text =
      *ToJsonLine(SomeWorkload()) + *ToJsonLine(record, SomeWorkload());
  record.paired_ratio = 1.5;
  record.ranked_ns = 9;
  text += *ToJsonLine(OkRecord("q", 6), SomeWorkload()) +
          *ToJsonLine(record, SomeWorkload());
  KILN_ASSERT_OK_AND_ASSIGN(const ImportCount count, Import(text));
  EXPECT_EQ(count.records, 2);
  KILN_ASSERT_OK_AND_ASSIGN(const auto top,
                            to_->TopK(record.workload_key, record.target, 2));
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].program_hash, "q");
  EXPECT_EQ(top[1].paired_ratio, 1.5);
  EXPECT_EQ(top[1].ranked_ns, 9);
  EXPECT_EQ(top[1].latency_min_ns, 5);
}

TEST_F(JsonLinesTest, BytesThatAreNoUtf8AreWrittenAsQuestionMarks) {
  KILN_ASSERT_OK(from_->AddWorkload(SomeWorkload()));
  TuningRecord record = testing::FailedRecord("p", Verdict::kCrash);
  record.reason = "a\xff\xc0\x80\xed\xa0\x80 \xe2\x82\xac\xf0\x9f\x98";
  KILN_ASSERT_OK(from_->CommitTrial(record));
  KILN_ASSERT_OK(Import(Export(*from_)));
  EXPECT_EQ(to_->AllRecords()->front().reason, "a?????? \xe2\x82\xac???");
}

TEST_F(JsonLinesTest, ABadLineIsNamedAndNothingOfItsFileIsCommitted) {
  KILN_ASSERT_OK(from_->AddWorkload(SomeWorkload()));
  KILN_ASSERT_OK(from_->CommitTrial(OkRecord("p", 1)));
  const std::string good = Export(*from_);
  const std::pair<std::string, std::string> cases[] = {
      {"nonsense", "not a JSON object"},
      {"{\"version\":1,\"record\":{\"trace", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{\"version\":2,\"record\":{}}", "has version 2, this Kiln reads 1"},
      {"{\"record\":{}}", "has version 0"},
      {"{\"version\":1}", "neither workload nor record"},
      {"{\"version\":1,\"record\":{\"verdict\":\"great\"}}",
       "unknown verdict 'great'"},
      {"{\"version\":1,\"record\":{\"verdict\":\"ok\"}}", "no workload"},
      {"{\"version\":1,\"workload\":{\"key\":\"zz\"}}", "hexadecimal"},
      {std::string(100000, '['), "not a JSON object"},
  };
  for (const auto& [line, fragment] : cases) {
    EXPECT_THAT(Import(good + "\n" + line),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("line 4"), HasSubstr(fragment))));
    EXPECT_EQ(*to_->Count(), 0);
  }
}

TEST_F(JsonLinesTest, FieldsOfLaterWritersArePassedOver) {
  KILN_ASSERT_OK(
      Import("{\"version\":1,\"comment\":\"x\",\"workload\":{"
             "\"key\":\"" +
             std::string(64, '0') + "\",\"shape\":[1,2]}}\n"));
  EXPECT_EQ(to_->AllWorkloads()->size(), 1u);
}

}  // namespace
}  // namespace kiln
