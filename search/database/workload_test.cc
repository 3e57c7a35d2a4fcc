#include "kiln/search/database/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((32, 48), "float32"), B: T.Buffer((32, 48), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        C = T.alloc_buffer((32, 48), "float32")
        for i, j in T.grid(32, 48):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] + A[vi, vj]
        for i, j in T.grid(32, 48):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[vi, vj] * C[vi, vj]
)";

using Replacements =
    std::initializer_list<std::pair<absl::string_view, absl::string_view>>;

Workload With(Replacements changes, const std::string& name = "main") {
  absl::StatusOr<Module> module =
      ParseModule("m.py", absl::StrReplaceAll(kProgram, changes));
  KILN_EXPECT_OK(module.status());
  return WorkloadOf(*module, name);
}

TEST(WorkloadTest, NamesDoNotCount) {
  const std::string key = With({}).key;
  EXPECT_EQ(With({{"main", "other"}}, "other").key, key);
  EXPECT_EQ(With({{"\"C\"", "\"twice\""}, {"\"B\"", "\"C\""}}).key, key);
  EXPECT_EQ(With({{"vi", "x"}, {"vj", "y"}, {"i, j", "row, column"}}).key, key);
  EXPECT_EQ(
      With({{"A[", "x["}, {"A:", "x:"}, {"C =", "y ="}, {"C[", "y["}}).key,
      key);
}

TEST(WorkloadTest, WhatIsComputedCounts) {
  const std::string key = With({}).key;
  EXPECT_NE(With({{"48", "64"}}).key, key);
  EXPECT_NE(With({{"\"float32\"", "\"int32\""}}).key, key);
  EXPECT_NE(With({{"A[vi, vj] + A", "A[vi, vj] - A"}}).key, key);
  EXPECT_NE(With({{"\"tir.noalias\": True", "\"tir.noalias\": False"}}).key,
            key);
}

TEST(WorkloadTest, BlocksThatShareANameCount) {
  EXPECT_NE(With({{"\"B\"", "\"C\""}}).key, With({}).key);
}

TEST(WorkloadTest, OtherFunctionsOfTheModuleDoNotCount) {
  const std::string second = absl::StrReplaceAll(
      std::string(kProgram), {{"@I.ir_module\nclass Module:\n", ""},
                              {"main", "second"},
                              {"48", "16"}});
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseModule("m.py", kProgram + second));
  ASSERT_EQ(module.functions.size(), 2u);
  EXPECT_EQ(WorkloadOf(module, "main").key, With({}).key);
  EXPECT_NE(WorkloadOf(module, "second").key, With({}).key);
}

TEST(WorkloadTest, NumbersAndTypesDoNotCountForTheOutline) {
  EXPECT_EQ(With({{"48", "64"}}).outline, With({}).outline);
  EXPECT_NE(With({{"+", "-"}}).outline, With({}).outline);
}

TEST(WorkloadTest, KeysAreWorkedOutFromTheText) {
  const Workload workload = With({});
  Workload other = workload;
  other.key = "by another Kiln";
  EXPECT_EQ(WithKey(other).key, workload.key);
  other.text = "not a program";
  EXPECT_EQ(WithKey(other).key, "by another Kiln");
  other = workload;
  other.func_name = "absent";
  EXPECT_THAT(ReadWorkload(other), StatusIs(absl::StatusCode::kNotFound,
                                            ::testing::HasSubstr("absent")));
}

}  // namespace
}  // namespace kiln
