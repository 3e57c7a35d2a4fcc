// Programs that allocate, and how they share; `exp` is declared only, since
// plans do not look into tensor functions. Allocations are abbreviated:
//
//   a = NEW(R.shape([8])))    R.builtin.alloc_tensor(R.shape([8]), float32 ...)
#include "kiln/ir/transform/graph/plan_memory.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

constexpr char kExp[] = R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def exp(a: T.handle, b: T.handle):
        T.evaluate(0)
)";

// NEW(n) is an allocation of float32[n], STORAGE(b) one of b bytes, and
// TAKE(s, n) a tensor float32[n] out of s.
std::string Spelled(const std::string& main) {
  std::string text = absl::StrReplaceAll(
      main, {{"NEW(",
              "R.builtin.alloc_tensor(dtype=R.dtype(\"float32\"), "
              "device_index=0, storage_scope=R.str(\"global\"), shape=("},
             {"STORAGE(",
              "R.memory.alloc_storage(device_index=0, "
              "storage_scope=R.str(\"global\"), "
              "dtype=R.dtype(\"float32\"), size=("},
             {"TAKE(",
              "R.memory.alloc_tensor(offset=0, device_index=0, "
              "dtype=R.dtype(\"float32\"), storage=("}});
  return absl::StrCat(kExp, text);
}

std::string Difference(const std::string& before, const std::string& after) {
  return DifferenceAfter({"plan_memory"}, Spelled(before), Spelled(after));
}

TEST(PlanMemoryTest, TensorsThatLiveOneAfterTheOtherShare) {
  EXPECT_EQ(Difference(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        b = NEW(R.shape([8])))
        cls.exp(a, b)
        c = NEW(R.shape([9])))
        cls.exp(b, c)
        d = NEW(R.shape([9])))
        cls.exp(c, d)
        return d
)",
                       R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        s = STORAGE(R.shape([36])))
        a = TAKE(s), shape=R.shape([8]))
        cls.exp(x, a)
        t = STORAGE(R.shape([32])))
        b = TAKE(t), shape=R.shape([8]))
        cls.exp(a, b)
        c = TAKE(s), shape=R.shape([9]))
        cls.exp(b, c)
        d = NEW(R.shape([9])))
        cls.exp(c, d)
        return d
)"),
            "");
}

// `add` may write in place of what it adds to, the second of its arguments.
std::string WithAdd(const std::string& main) {
  return absl::StrReplaceAll(Spelled(main), {{"class Module:", R"(class Module:
    @T.prim_func(private=True)
    def add(a: T.Buffer((8,), "float32"), r: T.Buffer((8,), "float32"), c: T.Buffer((8,), "float32")):
        T.func_attr({"in_place_buffers": [[1, 2]]})
        T.evaluate(0)
)"}});
}

std::string DifferenceWithAdd(const std::string& before,
                              const std::string& after) {
  return DifferenceAfter({"plan_memory"}, WithAdd(before), WithAdd(after));
}

TEST(PlanMemoryTest, AResultLiesInPlaceOfWhatItIsMadeOf) {
  EXPECT_EQ(DifferenceWithAdd(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        b = NEW(R.shape([8])))
        cls.add(x, a, b)
        c = NEW(R.shape([8])))
        cls.add(x, b, c)
        d = NEW(R.shape([8])))
        cls.exp(c, d)
        return d
)",
                              R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        s = STORAGE(R.shape([32])))
        a = TAKE(s), shape=R.shape([8]))
        cls.exp(x, a)
        b = TAKE(s), shape=R.shape([8]))
        cls.add(x, a, b)
        c = TAKE(s), shape=R.shape([8]))
        cls.add(x, b, c)
        d = NEW(R.shape([8])))
        cls.exp(c, d)
        return d
)"),
            "");
}

// It is read again behind the call, or is another argument of it, too.
TEST(PlanMemoryTest, NotInPlaceOfWhatIsNeededOtherwise) {
  for (const char* last : {"exp(a, d)", "exp(b, d)"}) {
    const std::string add = std::string(last) == "exp(a, d)"
                                ? "cls.add(x, a, b)"
                                : "cls.add(a, a, b)";
    EXPECT_EQ(DifferenceWithAdd(absl::StrCat(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        b = NEW(R.shape([8])))
        )",
                                             add, R"(
        d = NEW(R.shape([8])))
        cls.)",
                                             last, R"(
        return d
)"),
                                absl::StrCat(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        s = STORAGE(R.shape([32])))
        a = TAKE(s), shape=R.shape([8]))
        cls.exp(x, a)
        t = STORAGE(R.shape([32])))
        b = TAKE(t), shape=R.shape([8]))
        )",
                                             add, R"(
        d = NEW(R.shape([8])))
        cls.)",
                                             last, R"(
        return d
)")),
              "")
        << last;
  }
}

TEST(PlanMemoryTest, OtherNamesAndTuplesKeepATensor) {
  EXPECT_EQ(Difference(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        t = (x, a)
        b = NEW(R.shape([8])))
        cls.exp(x, b)
        y = t[1]
        c = NEW(R.shape([8])))
        cls.exp(y, c)
        return x
)",
                       R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        s0 = STORAGE(R.shape([32])))
        a = TAKE(s0), shape=R.shape([8]))
        cls.exp(x, a)
        t = (x, a)
        s1 = STORAGE(R.shape([32])))
        b = TAKE(s1), shape=R.shape([8]))
        cls.exp(x, b)
        y = t[1]
        c = TAKE(s1), shape=R.shape([8]))
        cls.exp(y, c)
        return x
)"),
            "");
}

TEST(PlanMemoryTest, BranchesArePlannedForThemselves) {
  EXPECT_EQ(Difference(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32"), p: R.Tensor((), "bool")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        if p:
            b = NEW(R.shape([8])))
            cls.exp(a, b)
            c = NEW(R.shape([8])))
            cls.exp(b, c)
            y = c
        else:
            y = a
        return y
)",
                       R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32"), p: R.Tensor((), "bool")):
        cls = Module
        a = NEW(R.shape([8])))
        cls.exp(x, a)
        if p:
            s = STORAGE(R.shape([32])))
            b = TAKE(s), shape=R.shape([8]))
            cls.exp(a, b)
            c = NEW(R.shape([8])))
            cls.exp(b, c)
            y = c
        else:
            y = a
        return y
)"),
            "");
}

TEST(PlanMemoryTest, ResultsOfSymbolicExtentsAreTakenWhereAskedFor) {
  EXPECT_EQ(Difference(R"(
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        R.func_attr({"relax.memory_plan_dynamic_func_output": True, "tir_var_upper_bound": {"n": 4}})
        n = T.int64()
        cls = Module
        a = NEW(R.shape([n])))
        cls.exp(x, a)
        b = NEW(R.shape([n + 1])))
        cls.exp(a, b)
        return b
)",
                       R"(
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        R.func_attr({"tir_var_upper_bound": {"n": 4}})
        n = T.int64()
        cls = Module
        s = STORAGE(R.shape([16])))
        a = TAKE(s), shape=R.shape([n]))
        cls.exp(x, a)
        t = STORAGE(R.shape([20])))
        b = TAKE(t), shape=R.shape([n + 1]))
        cls.exp(a, b)
        return b
)"),
            "");
}

// exp reads b before a: b's storage comes back first and is taken first.
TEST(PlanMemoryTest, StoragesComeBackInTheOrderOfTheOperands) {
  EXPECT_EQ(Difference(R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        a = NEW(R.shape([8])))
        b = NEW(R.shape([8])))
        R.call_packed("two", b, a)
        c = NEW(R.shape([8])))
        R.call_packed("one", c)
        return x
)",
                       R"(
    @R.function(pure=False)
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        s = STORAGE(R.shape([32])))
        a = TAKE(s), shape=R.shape([8]))
        t = STORAGE(R.shape([32])))
        b = TAKE(t), shape=R.shape([8]))
        R.call_packed("two", b, a)
        c = TAKE(t), shape=R.shape([8]))
        R.call_packed("one", c)
        return x
)"),
            "");
}

}  // namespace
}  // namespace kiln
