#include "kiln/ir/transform/graph/merge_composite_functions.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/transform/graph/pass_testing.h"
#include "kiln/ir/transform/graph/passes.h"
#include "kiln/ir/transform/graph/same_results.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A composite function of one op, as FuseOpsByPattern makes them.
std::string Composite(const std::string& name, const std::string& pattern,
                      const std::string& op, int operands,
                      const std::string& tensor) {
  const std::string params =
      operands == 1 ? "a: " + tensor : "a: " + tensor + ", b: " + tensor;
  return "    @R.function(private=True)\n    def " + name + "(" + params +
         "):\n        R.func_attr({\"Composite\": \"" + pattern +
         "\", \"Primitive\": True})\n        with R.dataflow():\n"
         "            gv = R." +
         op + (operands == 1 ? "(a)" : "(a, b)") +
         "\n            R.output(gv)\n        return gv\n";
}

std::string ModuleOf(
    const std::string& main,
    const std::string& tensor = "R.Tensor((4,), \"float32\")") {
  return "@I.ir_module\nclass Module:\n" +
         Composite("add", "one.add", "add", 2, tensor) +
         Composite("exp", "one.exp", "exp", 1, tensor) +
         Composite("tanh", "two.tanh", "tanh", 1, tensor) + main;
}

constexpr char kChain[] = R"(
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            p = Module.add(x, y)
            q = Module.exp(p)
            r = Module.tanh(q)
            s = Module.add(r, q)
            R.output(s)
        return s
)";

int Count(const std::string& text, const std::string& what) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

std::string Merged(const std::string& text) {
  const absl::StatusOr<Module> merged =
      RunGraphPasses(ReadModule(text), {"merge_composite_functions", "infer"});
  return merged.ok() ? PrintModule(*merged)
                     : std::string(merged.status().message());
}

TEST(MergeCompositeFunctionsTest, CallsOfOneLibraryInARowAreOneFunction) {
  const std::string merged = Merged(ModuleOf(kChain));
  // add and exp, tanh, and the add that needs both.
  EXPECT_EQ(Count(merged, "\"Codegen\": \"one\""), 2) << merged;
  EXPECT_EQ(Count(merged, "\"Codegen\": \"two\""), 1) << merged;
  EXPECT_EQ(Count(merged, "\"Primitive\""), 0) << merged;
}

TEST(MergeCompositeFunctionsTest, ResultsStay) {
  EXPECT_EQ(MeaningAfter({"merge_composite_functions"}, ModuleOf(kChain)), "");
}

TEST(MergeCompositeFunctionsTest, DimensionsOfALocalFunctionAreItsOwn) {
  const std::string text = ModuleOf(R"(
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        with R.dataflow():
            p = Module.add(x, y)
            q = Module.add(p, y)
            r = Module.exp(q)
            R.output(r)
        return r
)",
                                    "R.Tensor((\"m\",), \"float32\")");
  const std::string merged = Merged(text);
  EXPECT_EQ(Count(merged, "\"Codegen\""), 1) << merged;
  EXPECT_EQ(Count(merged, "tir_vars"), 0) << merged;
  for (const int64_t n : {1, 3, 8}) {
    EXPECT_EQ(MeaningAfter({"merge_composite_functions"}, text, {{"n", n}}),
              "");
  }
}

TEST(MergeCompositeFunctionsTest, OtherBindingsStandBetweenGroups) {
  const std::string merged = Merged(ModuleOf(R"(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            p = Module.exp(x)
            q = R.negative(p)
            r = Module.add(p, q)
            R.output(r)
        return r
)"));
  EXPECT_EQ(Count(merged, "\"Codegen\": \"one\""), 2) << merged;
  EXPECT_THAT(merged, HasSubstr("R.negative"));
}

TEST(MergeCompositeFunctionsTest, NothingHappensWithoutCompositeFunctions) {
  const std::string text = R"(
@R.function
def main(x: R.Tensor((0, 3), "float32")):
    with R.dataflow():
        y = R.exp(x)
        R.output(y)
    return y
)";
  EXPECT_EQ(DifferenceAfter({"merge_composite_functions"}, text, text), "");
}

}  // namespace
}  // namespace kiln
