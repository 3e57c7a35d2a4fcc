#include "kiln/ir/ops/infer.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string Main(const std::string& params, const std::string& body) {
  return "@R.function\ndef main(" + params + "):\n" + body;
}

// The module as text after inference.
std::string Inferred(const std::string& text) {
  const absl::StatusOr<Module> module = ParseModule("g.py", text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return "";
  const absl::StatusOr<Module> inferred = InferModule(*module);
  EXPECT_TRUE(inferred.ok()) << inferred.status().message();
  return inferred.ok() ? PrintModule(*inferred) : "";
}

void ExpectRefused(const std::string& text, const std::string& why) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("g.py", text));
  EXPECT_THAT(InferModule(module),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
}

TEST(InferTest, EveryBindingGetsStructInfoAndOperandsBindingsOfTheirOwn) {
  const std::string text =
      Inferred(Main("x: R.Tensor((\"n\", 1), \"float32\"), "
                    "y: R.Tensor((3,), \"float32\")",
                    "    z = R.exp(R.add(x, y))\n    return z\n"));
  EXPECT_THAT(text, HasSubstr("lv: R.Tensor((n, 3), dtype=\"float32\") = "
                              "R.add(x, y)"));
  EXPECT_THAT(text, HasSubstr("z: R.Tensor((n, 3), dtype=\"float32\") = "
                              "R.exp(lv)"));
  EXPECT_THAT(text, HasSubstr("-> R.Tensor((\"n\", 3), dtype=\"float32\")"));
}

TEST(InferTest, InferringAgainChangesNothing) {
  const std::string text = Inferred(
      Main("x: R.Tensor((2, 3), \"float32\"), c: R.Tensor((), \"bool\")",
           "    if c:\n        y = R.exp(x)\n    else:\n        y = R.log(x)\n"
           "    z = R.less(y, y)\n    return (z, y)\n"));
  EXPECT_EQ(Inferred(text), text);
  EXPECT_THAT(text, HasSubstr("z: R.Tensor((2, 3), dtype=\"bool\")"));
}

TEST(InferTest, ACalleeWithoutAResultIsInferredFirst) {
  const std::string text =
      Inferred(Main("x: R.Tensor((2, 3), \"float32\")",
                    "    y = rows(x)\n    return y\n") +
               "@R.function\ndef rows(x: R.Tensor((\"m\", 3), \"float32\")):\n"
               "    y = R.equal(x, x)\n    return y\n");
  EXPECT_THAT(text, HasSubstr("y: R.Tensor((2, 3), dtype=\"bool\") = "
                              "cls.rows(x)"));
}

TEST(InferTest, AnAnnotationThatMayNotFitIsChecked) {
  EXPECT_THAT(Inferred(Main("x: R.Tensor((\"n\",), \"float32\")",
                            "    y: R.Tensor((4,), \"float32\") = R.exp(x)\n"
                            "    return y\n")),
              HasSubstr("R.match_cast(lv, R.Tensor((4,), dtype=\"float32\"))"));
}

TEST(InferTest, WhatNeverFitsIsRefusedUnderTheArgument) {
  ExpectRefused(Main("x: R.Tensor((2, 3), \"float32\"), "
                     "y: R.Tensor((4,), \"float32\")",
                     "    z = R.add(x, y)\n    return z\n"),
                "main: z: R.add: extents 3 and 4 do not meet; they are equal, "
                "or one of them is 1\n    R.add(x, y)\n             ^ "
                "R.Tensor((4,), dtype=\"float32\")");
  ExpectRefused(
      Main("x: R.Tensor((2,), \"int32\")", "    z = R.exp(x)\n    return z\n"),
      "is one of int32");
  ExpectRefused(Main("x: R.Tensor((2,), \"int32\"), y: R.Tensor((2,), "
                     "\"int8\")",
                     "    z = R.add(x, y)\n    return z\n"),
                "the types differ, int32 and int8");
  for (const char* op : {"add", "less"}) {
    ExpectRefused(Main("x: R.Tensor((2,), \"int32\")",
                       std::string("    z = R.") + op + "(x)\n    return z\n"),
                  "`x2` is missing");
  }
  ExpectRefused(Main("x: R.Tensor((2,), \"int32\")",
                     "    z: R.Tensor((3,), \"int32\") = R.abs(x)\n"
                     "    return z\n"),
                "z is annotated as");
  ExpectRefused(Main("x: R.Tuple(R.Tensor)", "    z = x[1]\n    return z\n"),
                "there is no field 1 in a tuple of 1");
}

TEST(InferTest, AnOpThatIsNotKnownStaysAndGivesAnObject) {
  EXPECT_THAT(Inferred(Main("x: R.Tensor((2,), \"int32\")",
                            "    z = R.mine.op(x, k=2)\n    return z\n")),
              HasSubstr("z: R.Object = R.mine.op(x, k=2)"));
}

TEST(InferTest, WithoutInfoAndInferredItIsTheSameAgain) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      ParseModule("g.py", Main("x: R.Tensor((\"n\", 3), \"float32\")",
                               "    y = R.exp(x)\n    z = R.less(y, x)\n"
                               "    return z\n")));
  KILN_ASSERT_OK_AND_ASSIGN(Module inferred, InferModule(module));
  const std::string before = PrintModule(inferred);
  const graph::Expr bare = WithoutInfo(inferred.graph_functions[0]);
  inferred.graph_functions[0] =
      graph::GraphFunction(bare.As<graph::FunctionNode>());
  EXPECT_NE(PrintModule(inferred), before);
  KILN_ASSERT_OK_AND_ASSIGN(inferred, InferModule(inferred));
  EXPECT_EQ(PrintModule(inferred), before);
}

}  // namespace
}  // namespace kiln
