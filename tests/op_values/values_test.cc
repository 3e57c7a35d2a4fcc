// Every op against values that NumPy gave: through the interpreter of graph
// functions, and compiled by LLVM and run by the machine, with kernels as ops
// state them and by default schedules. A test is an op, with all its cases
// (case.h); one compiled program runs at all extents of a case.
// An op of the table without a case fails, unless Without() has the reason.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/check.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/op.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tests/op_values/case.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/profile/machine_constants.h"

namespace kiln::op_values {
namespace {

// Ops without values of their own to compare, and why.
const std::map<std::string, std::string>& Without() {
  const std::string calls = "it calls what the program has";
  const std::string memory = "it gives memory without contents, or ends it";
  const std::string devices = "a pass gives devices their meaning";
  const std::string workers = "it needs several workers";
  static const auto& without = *new std::map<std::string, std::string>{
      {"assert_op", "it gives nothing"},
      {"builtin.alloc_tensor", memory},
      {"call_builtin_with_ctx", calls},
      {"call_dps_packed", calls},
      {"call_inplace_packed", calls},
      {"call_pure_packed", calls},
      {"call_py_func", calls},
      {"call_tir", calls},
      {"call_tir_inplace", calls},
      {"call_tir_with_grad", calls},
      {"ccl.allgather", workers},
      {"ccl.allreduce", workers},
      {"ccl.broadcast_from_worker0", workers},
      {"ccl.scatter_from_worker0", workers},
      {"hint_on_device", devices},
      {"invoke_closure", calls},
      {"invoke_pure_closure", calls},
      {"make_closure", calls},
      {"memory.alloc_storage", memory},
      {"memory.alloc_tensor", memory},
      {"memory.kill_storage", memory},
      {"memory.kill_tensor", memory},
      {"null_value", "it gives nothing"},
      {"print", "it gives nothing"},
      {"to_vdevice", devices},
      {"vm.alloc_storage", memory},
      {"vm.alloc_tensor", memory},
      {"vm.call_tir_dyn", calls},
      {"vm.kill_object", memory},
  };
  return without;
}

const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>([] {
    absl::StatusOr<std::vector<Case>> read =
        ReadCases("tests/op_values/values");
    KILN_CHECK(read.ok()) << read.status();
    return *std::move(read);
  }());
  return cases;
}

// --- Comparison.

std::string Differences(const vm::Value& got, const vm::Value& expected,
                        const Case& c);

std::string DifferencesOfFields(const vm::Tuple& got, const vm::Tuple& expected,
                                const Case& c) {
  if (got->fields.size() != expected->fields.size()) {
    return absl::StrCat("a tuple of ", got->fields.size(), ", not of ",
                        expected->fields.size());
  }
  for (size_t i = 0; i < got->fields.size(); ++i) {
    const std::string found =
        Differences(got->fields[i], expected->fields[i], c);
    if (!found.empty()) return absl::StrCat("field ", i, ": ", found);
  }
  return "";
}

// "" where there is none.
std::string Differences(const vm::Value& got, const vm::Value& expected,
                        const Case& c) {
  if (vm::Describe(got) != vm::Describe(expected)) {
    return absl::StrCat(vm::Describe(got), ", not ", vm::Describe(expected));
  }
  if (const auto* tuple = std::get_if<vm::Tuple>(&got)) {
    return DifferencesOfFields(*tuple, std::get<vm::Tuple>(expected), c);
  }
  const auto* array = std::get_if<NDArray>(&got);
  if (!array) return "";
  const absl::StatusOr<CompareReport> report =
      Compare(*array, std::get<NDArray>(expected),
              c.tolerance.value_or(ToleranceOf(array->dtype())));
  if (!report.ok()) return std::string(report.status().message());
  return report->ok() ? "" : report->ToString();
}

void ExpectValue(const absl::StatusOr<vm::Value>& got,
                 const vm::Value& expected, const Case& c,
                 const std::string& who) {
  if (!got.ok()) {
    ADD_FAILURE() << who << ": " << got.status();
    return;
  }
  const std::string found = Differences(*got, expected, c);
  if (!found.empty()) ADD_FAILURE() << who << " gives " << found;
}

// --- The two ways.

absl::StatusOr<vm::Value> Interpreted(const Module& inferred, const Run& run) {
  std::vector<graph::Value> values;
  for (const vm::Value& input : run.inputs) {
    KILN_ASSIGN_OR_RETURN(values.emplace_back(), ToGraphValue(input));
  }
  static const auto& packed =
      *new graph::PackedTable(ToPackedTable(vm::Builtins()));
  graph::GraphInterpOptions options;
  options.packed = &packed;
  KILN_ASSIGN_OR_RETURN(
      const graph::Value result,
      graph::InterpretGraph(inferred, "main", values, options));
  return ToVmValue(result);
}

void ExpectInterpreted(const Module& module, const Case& c) {
  const absl::StatusOr<Module> inferred = InferModule(module);
  KILN_ASSERT_OK(inferred);
  for (size_t i = 0; i < c.runs.size(); ++i) {
    ExpectValue(Interpreted(*inferred, c.runs[i]), c.runs[i].output, c,
                absl::StrCat("run ", i, ": the interpreter"));
  }
}

absl::StatusOr<vm::Executable> Compiled(const Module& module,
                                        bool is_scheduled) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  return CompileModel(
      prepared, target,
      is_scheduled ? DefaultSchedules(target) : KeepSchedules());
}

void ExpectCompiled(const Module& module, const Case& c, bool is_scheduled) {
  absl::StatusOr<vm::Executable> executable = Compiled(module, is_scheduled);
  KILN_ASSERT_OK(executable);
  ThreadPool pool;
  KernelHost host(&pool);
  auto machine = vm::Machine::Create(*std::move(executable), {}, &host);
  KILN_ASSERT_OK(machine);
  for (size_t i = 0; i < c.runs.size(); ++i) {
    ExpectValue((*machine)->Call("main", c.runs[i].inputs), c.runs[i].output, c,
                absl::StrCat("run ", i, ": the machine",
                             is_scheduled ? ", by default schedules" : ""));
  }
}

// --- Tests.

class OpValuesTest : public testing::TestWithParam<std::string> {
 protected:
  // The constants of this machine, which schedules go by, are not measured.
  static void SetUpTestSuite() {
    const std::string path = testing::TempDir() + "/machine.json";
    KILN_EXPECT_OK(SaveMachine(DescribeMachine(), path));
    setenv("KILN_MACHINE", path.c_str(), 1);
  }
};

TEST_P(OpValuesTest, AreThoseOfNumPy) {
  for (const Case& c : Cases()) {
    if (c.op != GetParam()) continue;
    SCOPED_TRACE(absl::StrCat(c.op, " ", c.name, "\n", c.program));
    EXPECT_TRUE(absl::StrContains(c.program, absl::StrCat("R.", c.op, "(")));
    EXPECT_FALSE(c.runs.empty());
    const absl::StatusOr<Module> module = ParseModule("case.py", c.program);
    KILN_EXPECT_OK(module);
    if (!module.ok()) continue;
    ExpectInterpreted(*module, c);
    ExpectCompiled(*module, c, /*is_scheduled=*/false);
    ExpectCompiled(*module, c, /*is_scheduled=*/true);
  }
}

std::vector<std::string> OpsWithCases() {
  std::set<std::string> ops;
  for (const Case& c : Cases()) ops.insert(c.op);
  return std::vector<std::string>(ops.begin(), ops.end());
}

INSTANTIATE_TEST_SUITE_P(Ops, OpValuesTest, testing::ValuesIn(OpsWithCases()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return absl::StrReplaceAll(info.param, {{".", "_"}});
                         });

TEST(OpTableTest, EveryOpHasACaseOrAReason) {
  std::set<std::string> with_cases;
  for (const Case& c : Cases()) with_cases.insert(c.op);
  for (const OpRow* row : Ops()) {
    const std::string op(row->name);
    EXPECT_NE(with_cases.contains(op), Without().contains(op))
        << op << " needs a case by make_values.py, or a reason, not both";
  }
}

TEST(OpTableTest, NamesOfCasesAreUnique) {
  std::set<std::string> names;
  for (const Case& c : Cases()) {
    EXPECT_NE(FindOp(c.op), nullptr) << c.op;
    EXPECT_TRUE(names.insert(absl::StrCat(c.op, " ", c.name)).second)
        << c.op << " " << c.name;
  }
}

}  // namespace
}  // namespace kiln::op_values
