// Programs that manage their memory give what they gave before: by the
// interpreter, which makes nonsense of memory that is taken too early, and by
// the machine, on the same arguments.
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/tests/conformance/graph_execute.h"

namespace kiln {
namespace {

using Outcome = Execution::Outcome;

constexpr char kModel[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 6), "float32"), w: R.Tensor((6, 6), "float32"), p: R.Tensor((), "bool")):
        R.func_attr({"tir_var_upper_bound": {"n": 16}})
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.matmul(b, w)
            d = R.add(c, x)
            t = R.split(d, 2, axis=1)
            e = R.concat((t[1], t[0]), axis=1)
            f = R.add(e, c)
            R.output(f)
        if p:
            g = R.exp(f)
            h = R.matmul(g, w)
            y = R.tanh(h)
        else:
            y = R.negative(f)
        return y
)";

absl::StatusOr<Module> After(const std::vector<std::string>& passes) {
  absl::StatusOr<Module> module = ParseModule("m.py", kModel);
  if (!module.ok()) return module.status();
  return RunGraphPasses(*std::move(module), passes);
}

TEST(MemoryTest, PlannedProgramsGiveTheSame) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module before, After({"legalize"}));
  for (const auto& passes : std::vector<std::vector<std::string>>{
           {"legalize", "lower_call_tir"},
           {"legalize", "lower_call_tir", "plan_memory"}}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Module after, After(passes));
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const Execution run = ExecuteModules(before, after, seed);
      EXPECT_EQ(run.outcome, Outcome::kSame) << run.detail;
      EXPECT_EQ(run.detail, "") << PrintModule(after);
    }
  }
}

TEST(MemoryTest, StoragesAreTakenSeveralTimes) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module after, After({"legalize", "lower_call_tir", "plan_memory"}));
  const std::string text = PrintModule(after);
  const auto count = [&](const std::string& what) {
    int found = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) {
      ++found;
    }
    return found;
  };
  EXPECT_LT(count("R.memory.alloc_storage"), count("R.memory.alloc_tensor"));
}

constexpr char kScale[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("scale"):
                v = T.axis.spatial(4, i)
                B[v] = A[v] * T.float32(3)

    @T.prim_func(private=True)
    def fill(b: T.handle, n: T.int64):
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("fill"):
                v = T.axis.spatial(n, i)
                B[v] = T.float32(2)
)";

TEST(MemoryTest, CallsThatManageMemoryAsTheyAreWritten) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module plain,
                            ParseModule("m.py", std::string(kScale) + R"(
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        y = R.multiply(R.reshape(x, R.shape([4])), R.const(9, "float32"))
        z = R.full(R.shape([4]), R.const(2, "float32"), dtype="float32")
        return (y, z)
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module managed,
                            ParseModule("m.py", std::string(kScale) + R"(
    @R.function(pure=False)
    def main(x: R.Tensor((2, 2), "float32")):
        cls = Module
        s = R.memory.alloc_storage(R.shape([48]), 0, R.str("global"), R.dtype("float32"))
        v = R.call_packed("vm.builtin.reshape", x, R.shape([4]), sinfo_args=(R.Tensor((4,), "float32"),))
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), R.dtype("float32"), 0)
        cls.scale(v, a)
        b = R.memory.alloc_tensor(s, 16, R.shape([4]), R.dtype("float32"), 0)
        cls.scale(a, b)
        c = R.memory.alloc_tensor(s, 0, R.shape([4]), R.dtype("float32"), 0)
        R.vm.call_tir_dyn(cls.fill, (c, R.shape([4])))
        w = R.memory.view(b, R.shape([4]))
        e = R.memory.ensure_zero_offset(w)
        k = R.memory.kill_tensor(w)
        m = R.memory.kill_storage(s)
        return (e, c)
)"));
  const Execution run = ExecuteModules(plain, managed, 1);
  EXPECT_EQ(run.outcome, Outcome::kSame) << run.detail;
  EXPECT_EQ(run.detail, "");
}

TEST(MemoryTest, MemoryThatIsTakenTooEarlyShows) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module plain,
                            ParseModule("m.py", std::string(kScale) + R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.multiply(x, R.const(3, "float32"))
        return y
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module wrong,
                            ParseModule("m.py", std::string(kScale) + R"(
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        s = R.memory.alloc_storage(R.shape([16]), 0, R.str("global"), R.dtype("float32"))
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), R.dtype("float32"), 0)
        cls.scale(x, a)
        b = R.memory.alloc_tensor(s, 0, R.shape([4]), R.dtype("float32"), 0)
        cls.scale(a, b)
        return a
)"));
  EXPECT_EQ(ExecuteModules(plain, wrong, 1).outcome, Outcome::kDifferent);
}

TEST(MemoryTest, AStorageThatIsTooSmallIsAnErrorOfBoth) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module small,
                            ParseModule("m.py", std::string(kScale) + R"(
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        s = R.memory.alloc_storage(R.shape([12]), 0, R.str("global"), R.dtype("float32"))
        a = R.memory.alloc_tensor(s, 0, R.shape([4]), R.dtype("float32"), 0)
        cls.scale(x, a)
        return a
)"));
  const Execution run = ExecuteModules(small, small, 1);
  EXPECT_EQ(run.outcome, Outcome::kIncomplete);
  EXPECT_NE(run.detail.find("a tensor of 16 bytes from byte 0 on does not fit"),
            std::string::npos)
      << run.detail;
}

}  // namespace
}  // namespace kiln
