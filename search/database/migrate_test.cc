// Databases of version 2 keyed workloads by their text.
#include "kiln/search/database/migrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/database/database.h"
#include "kiln/search/database/lookup.h"
#include "kiln/search/database/sqlite.h"
#include "kiln/search/database/testing.h"

namespace kiln {
namespace {

using ::kiln::testing::TempFolder;
using ::testing::HasSubstr;

constexpr char kVersion2[] = R"sql(
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
    created_ms INTEGER NOT NULL, paired_ratio REAL NOT NULL DEFAULT 0,
    ranked_ns REAL NOT NULL DEFAULT 0,
    UNIQUE (workload_key, target, program_hash));
  CREATE UNIQUE INDEX records_without_program
    ON records (workload_key, target, trace) WHERE program_hash IS NULL;
  CREATE INDEX records_by_rank
    ON records (workload_key, target, verdict,
                (CASE WHEN ranked_ns > 0 THEN ranked_ns
                 ELSE latency_min_ns END));
  PRAGMA application_id=1265200238;
  PRAGMA user_version=2;
)sql";

constexpr char kProgram[] = R"(
@T.prim_func
def NAME(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
    for i, j in T.grid(32, 48):
        with T.block("BLOCK"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj]
)";

constexpr char kTrace[] = R"(
def apply_trace(sch):
    b0 = sch.get_block("BLOCK", "NAME")
    sch.parallel(sch.get_loops(b0)[0])
)";

std::string Named(const char* text, const std::string& name) {
  return absl::StrReplaceAll(text, {{"NAME", name}, {"BLOCK", name + "_b"}});
}

// A database of version 2 with functions f, g and h of other names, and text
// that no version reads.
class MigrateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    connection_ = *sqlite::Connection::Open(path_);
    KILN_ASSERT_OK(connection_.Execute(kVersion2));
    for (const char* name : {"g", "f", "h"}) {
      AddWorkload(name, Named(kProgram, name));
    }
    AddWorkload("old", "a text of old");
  }

  void AddWorkload(const std::string& name, const std::string& text) {
    KILN_ASSERT_OK_AND_ASSIGN(
        sqlite::Statement row,
        connection_.Prepare("INSERT INTO workloads VALUES (?1, ?2, ?3)"));
    const std::string key = "key of " + name;
    row.Bind(1, key);
    row.Bind(2, name);
    row.Bind(3, text);
    KILN_ASSERT_OK(row.Run());
  }

  void AddRecord(const std::string& name, const std::string& program,
                 double ns) {
    KILN_ASSERT_OK_AND_ASSIGN(
        sqlite::Statement row,
        connection_.Prepare(
            "INSERT INTO records VALUES (NULL, ?1, 'llvm', 'c', ?2, ?3, 'd',"
            " 'ok', '', ?4, ?4, 1, 3, 4, 5, 6, 0, 0)"));
    const std::string key = "key of " + name, trace = Named(kTrace, name);
    row.Bind(1, key);
    row.Bind(2, program);
    row.Bind(3, trace);
    row.Bind(4, ns);
    KILN_ASSERT_OK(row.Run());
  }

  TempFolder folder_;
  std::string path_ = folder_.File("t");
  sqlite::Connection connection_;
};

TEST_F(MigrateTest, WorkloadsThatDifferInNamesBecomeOne) {
  AddRecord("f", "p", 300);
  AddRecord("g", "q", 200);
  AddRecord("f", "r", 400);
  for (int i = 0; i < 2; ++i) {
    KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(path_));
    KILN_ASSERT_OK_AND_ASSIGN(const auto workloads, database->AllWorkloads());
    ASSERT_EQ(workloads.size(), 2u);  // with that of "old"
    EXPECT_EQ(*database->Count(), 3);
    for (const char* name : {"f", "g", "new"}) {
      KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                                ParseModule("m.py", Named(kProgram, name)));
      KILN_ASSERT_OK_AND_ASSIGN(
          const BestProgram best,
          FindBest(*database, module.functions[0], "llvm"));
      EXPECT_EQ(best.record.program_hash, "q");
      EXPECT_EQ(best.record.latency_min_ns, 200);
      EXPECT_EQ(best.workload.func_name, "f") << "that of the oldest record";
      EXPECT_THAT(best.record.trace,
                  HasSubstr(absl::StrCat("name=\"", name, "_b\", func_name=\"",
                                         name, "\"")));
    }
  }
}

TEST_F(MigrateTest, ASecondRecordOfOneProgramIsNotLost) {
  AddRecord("f", "p", 300);
  AddRecord("g", "p", 200);
  KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(path_));
  EXPECT_EQ(*database->Count(), 2);
  KILN_ASSERT_OK_AND_ASSIGN(const TuningRecord kept,
                            database->Best("key of g", "llvm"));
  EXPECT_EQ(kept.trace, Named(kTrace, "g"));
}

TEST_F(MigrateTest, AWorkloadOfUnknownTextStaysAsItIs) {
  AddRecord("old", "p", 300);
  KILN_ASSERT_OK_AND_ASSIGN(const auto database, Database::Open(path_));
  KILN_ASSERT_OK_AND_ASSIGN(const TuningRecord record,
                            database->Best("key of old", "llvm"));
  EXPECT_EQ(record.program_hash, "p");
  EXPECT_EQ(record.trace, Named(kTrace, "old"));
}

}  // namespace
}  // namespace kiln
