// What was tuned under some names is found under others: trials are resumed,
// programs are not measured twice, and what is left speaks the caller's names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/tests/end_to_end/tuning.h"

namespace kiln {
namespace {

using testing::Events;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WorkFolder;

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(64, 64, 64):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
)";

constexpr char kSpace[] = R"(
def space(sch):
    c = sch.get_block("C", "main")
    i, j, k = sch.get_loops(c)
    i_0, i_1 = sch.split(i, sch.sample_perfect_tile(i, n=2, max_innermost_factor=8))
    sch.reorder(i_0, k, i_1, j)
    sch.cache_write(c, "C", "local")
    sch.reverse_compute_at(sch.get_block("C_local"), i_0)
)";

std::string Renamed(const char* text) {
  return absl::StrReplaceAll(text, {{"main", "product"},
                                    {"\"C\"", "\"out\""},
                                    {"C_local", "z_local"},
                                    {"C:", "z:"},
                                    {"C[", "z["},
                                    {"A:", "x:"},
                                    {"A[", "x["},
                                    {"vi", "row"}});
}

// As a space, `cache_write(c, "C", ...)` names a buffer and not a block.
std::string RenamedSpace() {
  return absl::StrReplaceAll(
      Renamed(kSpace), {{"cache_write(c, \"out\"", "cache_write(c, \"z\""}});
}

class RenamedTest : public ::testing::Test {
 protected:
  // Tunes in the one work directory.
  Events Tune(const std::string& program, const std::string& space,
              int trials) {
    const std::string module_path = folder_.path() + "/module.py";
    const std::string space_path = folder_.path() + "/space.py";
    KILN_EXPECT_OK(WriteFileAtomically(module_path, program));
    std::vector<std::string> argv = {
        "tools/tune", "--json",       "--module", module_path,
        "--work-dir", folder_.path(), "--trials", std::to_string(trials)};
    if (!space.empty()) {
      KILN_EXPECT_OK(WriteFileAtomically(space_path, space));
      argv.insert(argv.end(), {"--space", space_path});
    }
    return testing::RunTuning(argv);
  }

  // Program hashes; none may be there twice.
  std::set<std::string> Programs() {
    std::set<std::string> programs, keys;
    for (const TuningRecord& record : folder_.Records()) {
      keys.insert(record.workload_key);
      if (record.program_hash.empty()) continue;
      EXPECT_TRUE(programs.insert(record.program_hash).second);
      EXPECT_THAT(record.trace, Not(HasSubstr("product")));
    }
    EXPECT_EQ(keys.size(), 1u);
    return programs;
  }

  WorkFolder folder_;
};

TEST_F(RenamedTest, TrialsOfASpaceAreResumed) {
  Tune(kProgram, kSpace, 2);
  const std::set<std::string> first = Programs();
  EXPECT_EQ(first.size(), 2u);
  const Events again = Tune(Renamed(kProgram), RenamedSpace(), 4);
  ASSERT_TRUE(again.start.has_value());
  EXPECT_EQ(again.start->resumed(), 2);
  EXPECT_EQ(again.Programs().size(), 2u);
  EXPECT_EQ(Programs().size(), 4u);
}

TEST_F(RenamedTest, TrialsOfRulesAreResumedAndTheBestSpeaksItsOwnNames) {
  Tune(kProgram, "", 6);
  EXPECT_EQ(Programs().size(), 6u);
  const Events again = Tune(Renamed(kProgram), "", 6);
  ASSERT_TRUE(again.start.has_value());
  EXPECT_EQ(again.start->resumed(), 6);
  EXPECT_TRUE(again.Programs().empty());
  EXPECT_EQ(Programs().size(), 6u);
  ASSERT_TRUE(again.done.has_value());
  ASSERT_EQ(again.done->tasks_size(), 1);
  EXPECT_GT(again.done->tasks(0).latency_us(), 0);
  KILN_ASSERT_OK_AND_ASSIGN(const std::string trace,
                            ReadFile(folder_.path() + "/product/trace.py"));
  EXPECT_THAT(trace, HasSubstr("name=\"out\", func_name=\"product\""));
}

}  // namespace
}  // namespace kiln
