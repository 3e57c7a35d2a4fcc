// What Database::Open refuses, and that it leaves such files as they are.
#include "kiln/search/database/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/sqlite.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::TempFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void ExpectRefusedAndUntouched(const std::string& path, absl::StatusCode code,
                               const std::string& fragment) {
  const std::string before = ReadFile(path);
  EXPECT_THAT(Database::Open(path),
              StatusIs(code, AllOf(HasSubstr(path), HasSubstr(fragment))));
  EXPECT_TRUE(ReadFile(path) == before) << path << " was written to";
}

// A database of some size, closed and checkpointed.
std::string FilledDatabase(const std::string& path) {
  auto database = *Database::Open(path);
  KILN_EXPECT_OK(database->AddWorkload(testing::SomeWorkload()));
  for (int i = 0; i < 300; ++i) {
    KILN_EXPECT_OK(database->CommitTrial(
        testing::OkRecord("p" + std::to_string(i), 1 + i)));
  }
  return path;
}

TEST(OpenTest, CreatesAndReopens) {
  TempFolder folder;
  for (int i = 0; i < 2; ++i) KILN_EXPECT_OK(Database::Open(folder.File("t")));
}

TEST(OpenTest, TakesAnEmptyFileForANewDatabase) {
  TempFolder folder;
  WriteFile(folder.File("t"), "");
  KILN_EXPECT_OK(Database::Open(folder.File("t")));
}

TEST(OpenTest, RefusesAFileThatIsNoDatabase) {
  TempFolder folder;
  const std::string long_text(5000, 'x');
  for (const std::string& bytes : {std::string("{\"json\": 1}"), long_text,
                                   std::string("SQLite format")}) {
    WriteFile(folder.File("t"), bytes);
    ExpectRefusedAndUntouched(folder.File("t"), absl::StatusCode::kDataLoss,
                              "not an SQLite file");
  }
}

TEST(OpenTest, RefusesADamagedDatabase) {
  TempFolder folder;
  const std::string path = FilledDatabase(folder.File("t"));
  const std::string good = ReadFile(path);
  ASSERT_GT(good.size(), 40000u);
  std::string bad = good;
  bad.replace(4096, good.size() - 8192, good.size() - 8192, '\x5a');
  WriteFile(path, bad);
  ExpectRefusedAndUntouched(path, absl::StatusCode::kDataLoss, "another file");
  WriteFile(path, good.substr(0, good.size() / 2));
  ExpectRefusedAndUntouched(path, absl::StatusCode::kDataLoss, "another file");
  WriteFile(path, good.substr(0, 64));
  ExpectRefusedAndUntouched(path, absl::StatusCode::kDataLoss, "another file");
}

TEST(OpenTest, AnyFlippedByteEndsInAStatusOrAnOpenDatabase) {
  TempFolder folder;
  const std::string path = FilledDatabase(folder.File("t"));
  const std::string good = ReadFile(path);
  for (size_t at = 16; at < good.size(); at += good.size() / 97) {
    std::string bad = good;
    bad[at] = static_cast<char>(~bad[at]);
    WriteFile(path, bad);
    auto database = Database::Open(path);
    if (database.ok()) (void)(*database)->AllRecords();
  }
}

TEST(OpenTest, RefusesAnotherProgramsDatabase) {
  TempFolder folder;
  {
    auto connection = *sqlite::Connection::Open(folder.File("t"));
    KILN_ASSERT_OK(connection.Execute("CREATE TABLE theirs (x)"));
  }
  ExpectRefusedAndUntouched(folder.File("t"),
                            absl::StatusCode::kFailedPrecondition,
                            "not one that Kiln made");
}

TEST(OpenTest, RefusesAnUnknownSchemaVersion) {
  TempFolder folder;
  const std::string path = FilledDatabase(folder.File("t"));
  {
    auto connection = *sqlite::Connection::Open(path);
    KILN_ASSERT_OK(connection.Execute("PRAGMA user_version=99"));
  }
  ExpectRefusedAndUntouched(path, absl::StatusCode::kFailedPrecondition,
                            "schema version 99, this Kiln reads version 3");
}

// The tables of version 1, with a record.
constexpr char kVersion1[] = R"sql(
  CREATE TABLE workloads (key TEXT PRIMARY KEY, func_name TEXT NOT NULL,
    text TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workload_key TEXT NOT NULL REFERENCES workloads(key),
    target TEXT NOT NULL, compiler_version TEXT NOT NULL, program_hash TEXT,
    trace TEXT NOT NULL, decisions TEXT NOT NULL, verdict TEXT NOT NULL,
    reason TEXT NOT NULL, latency_min_ns REAL NOT NULL,
    latency_median_ns REAL NOT NULL, latency_spread_ns REAL NOT NULL,
    samples INTEGER NOT NULL, seed INTEGER NOT NULL, trial INTEGER NOT NULL,
    created_ms INTEGER NOT NULL, UNIQUE (workload_key, target, program_hash));
  CREATE UNIQUE INDEX records_without_program
    ON records (workload_key, target, trace) WHERE program_hash IS NULL;
  CREATE INDEX records_by_latency
    ON records (workload_key, target, verdict, latency_min_ns);
  INSERT INTO workloads VALUES ('k', 'f', 't');
  INSERT INTO records VALUES (7, 'k', 'llvm', 'c', 'p', 't', 'd', 'ok', '',
    12.5, 13, 1, 3, 4, 5, 6);
  PRAGMA application_id=1265200238;
  PRAGMA user_version=1;
)sql";

TEST(OpenTest, BringsAnOlderDatabaseUpToDate) {
  TempFolder folder;
  const std::string path = folder.File("t");
  {
    auto connection = *sqlite::Connection::Open(path);
    KILN_ASSERT_OK(connection.Execute(kVersion1));
  }
  for (int i = 0; i < 2; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(path));
    KILN_ASSERT_OK_AND_ASSIGN(TuningRecord record, database->Best("k", "llvm"));
    EXPECT_EQ(record.id, 7);
    EXPECT_EQ(record.latency_min_ns, 12.5);
    EXPECT_EQ(record.rank(), 12.5);
    EXPECT_EQ(record.paired_ratio, i == 0 ? 0 : 1);
    record.paired_ratio = 1;
    KILN_ASSERT_OK(database->ReviseTrial(record));
  }
}

TEST(OpenTest, RefusesPlacesThatCannotHoldAFile) {
  TempFolder folder;
  EXPECT_THAT(Database::Open(folder.File("no/such/t")),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("is not a folder")));
  EXPECT_THAT(Database::Open(folder.File("")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("name a file inside it")));
  EXPECT_THAT(Database::Open("/proc/kiln.db"),
              StatusIs(absl::StatusCode::kPermissionDenied,
                       HasSubstr("can be written")));
  EXPECT_FALSE(Database::Open("").ok());
}

}  // namespace
}  // namespace kiln
