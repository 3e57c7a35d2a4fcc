// Every named workload, of every type of elements, becomes machine code for
// every kind of processor: LLVM ends the process where it cannot select an
// instruction, so nothing but trying shows it.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/te/workloads.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/search/task/default_schedule.h"
#include "kiln/tests/end_to_end/every_target.h"

namespace kiln {
namespace {

constexpr const char* kTargets[] = {
    "llvm -mcpu=x86-64-v2", "llvm -mcpu=haswell",
    "llvm -mcpu=sapphirerapids -mattr=+amx-tile,+amx-int8,+amx-bf16",
    "llvm -mtriple=aarch64-linux-gnu",
    "llvm -mtriple=aarch64-linux-gnu -mcpu=neoverse-v1"};

// Extents that fill no vector, and some that fill several.
constexpr const char* kSmall[] = {"gmm:9,40,13",
                                  "c1d:16,4,20,3,2,1",
                                  "c2d:8,8,3,20,3,2,1",
                                  "c3d:4,6,6,3,8,3,2,1",
                                  "dep:8,8,20,3,1,1",
                                  "grp:8,8,8,16,3,1,1,4",
                                  "dil:10,10,3,8,3,1,1,2",
                                  "t2d:4,4,8,6,4,2,1",
                                  "cap:4,4,4,4,3,1,1",
                                  "nrm:16,24",
                                  "sfm:8,43",
                                  "cbr:6,6,3,16,3,1,1",
                                  "tbg:8,2,12"};

// Those that only multiply and add, so that integers mean something.
bool IsProduct(const std::string& workload) {
  const std::string name = workload.substr(0, 3);
  return name != "nrm" && name != "sfm" && name != "cbr";
}

// The workload over elements of `type`.
absl::StatusOr<Module> WorkloadOf(const std::string& spec,
                                  const std::string& type) {
  KILN_ASSIGN_OR_RETURN(const Module module, MakeWorkload(spec));
  std::string text = PrintModule(module);
  // Buffers are of float32 where the text does not say.
  for (size_t at = 0; (at = text.find("T.alloc_buffer((", at)) != text.npos;) {
    at = text.find("))", at) + 1;
    text.insert(at, ", \"float32\"");
  }
  // The least number is where a search for the greatest starts.
  if (type == "float16" || type == "bfloat16") {
    text = absl::StrReplaceAll(text, {{"-3.4028234663852886e+38", "-32768"}});
  }
  return ParseModule("test", absl::StrReplaceAll(text, {{"float32", type}}));
}

// Compiles the module's function as the model would schedule it.
absl::Status CompileScheduled(const Module& module, const Target& target,
                              ThreadPool* pool) {
  KILN_ASSIGN_OR_RETURN(
      const DefaultSchedule best,
      ScheduleByDefault(module, 0, target.machine, 2, pool, {.draws = 8}));
  return CompileKernel(best.scheduled, target).status();
}

class SelectionTest : public ::testing::TestWithParam<const char*> {
 protected:
  ThreadPool pool_;
};

TEST_P(SelectionTest, OfWorkloads) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  for (const std::string workload : kSmall) {
    for (const std::string type :
         {"float32", "float64", "float16", "bfloat16", "int8", "uint8", "int16",
          "int32", "int64"}) {
      if (type.find("int") != type.npos && !IsProduct(workload)) continue;
      KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                                WorkloadOf(workload, type));
      const absl::Status done =
          CompileKernel(module.functions[0], target).status();
      EXPECT_TRUE(done.ok()) << workload << " of " << type << ": " << done;
    }
  }
}

TEST_P(SelectionTest, OfScheduledWorkloads) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  for (const WorkloadInfo& workload : Workloads()) {
    for (const std::string type : {"float16", "bfloat16", "int8"}) {
      if (type == "int8" && !IsProduct(workload.name)) continue;
      KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                                WorkloadOf(workload.name, type));
      const absl::Status done = CompileScheduled(module, target, &pool_);
      EXPECT_TRUE(done.ok()) << workload.name << " of " << type << ": " << done;
    }
  }
}

// Sums of products of narrow elements, as processors have instructions for.
TEST_P(SelectionTest, OfDotProducts) {
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget(GetParam()));
  const std::tuple<const char*, const char*, const char*> kTypes[] = {
      {"int8", "int8", "int32"},          {"uint8", "int8", "int32"},
      {"uint8", "uint8", "int32"},        {"uint8", "uint8", "uint32"},
      {"int8", "int8", "int16"},          {"int16", "int16", "int32"},
      {"int16", "int16", "int64"},        {"bfloat16", "bfloat16", "float32"},
      {"float16", "float16", "float32"},  {"bfloat16", "float16", "float32"},
      {"float16", "float16", "float64"},  {"float32", "float32", "float64"},
      {"bfloat16", "bfloat16", "float64"}};
  for (const auto& [a, b, sum] : kTypes) {
    for (const char* columns : {"1", "43"}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Module module,
          ParseModule("test", absl::Substitute(R"(
from tvm.script import ir as I
from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((12, 36), "$0"), B: T.Buffer((36, $3), "$1"), C: T.Buffer((12, $3), "$2")):
        for i, j, k in T.grid(12, $3, 36):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.$2(0)
                C[vi, vj] = C[vi, vj] + T.cast(A[vi, vk], "$2") * T.cast(B[vk, vj], "$2")
)",
                                               a, b, sum, columns)));
      const absl::Status done = CompileScheduled(module, target, &pool_);
      EXPECT_TRUE(done.ok()) << done << ": " << a << " x " << b << " in " << sum
                             << ", " << columns << " columns";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OnEvery, SelectionTest, ::testing::ValuesIn(kTargets),
                         [](const auto& info) { return NameOfTarget(info); });

}  // namespace
}  // namespace kiln
