// Graph functions as text: what is read out of them, what is refused and where,
// and that both spellings print and read back as the same function:
//
//   y = R.nn.softmax(x)  =  y = R.nn.softmax(x, axis=-1)
// Graph functions as people and printers write them, read and printed again;
// and what is refused, with the place and the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// A function of one block with `body` and a return of its last name.
std::string WithBody(const std::string& body) {
  return absl::StrCat(
      "@R.function\n"
      "def main(x: R.Tensor((2, 3), \"float32\"), n: R.Prim(\"int64\")):\n",
      body);
}

graph::GraphFunction Read(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("g.py", text);
  EXPECT_TRUE(module.ok()) << module.status().message();
  return module.ok() ? module->graph_functions[0] : graph::GraphFunction();
}

// The call that the first binding holds.
const graph::CallNode& FirstCall(const graph::GraphFunction& f) {
  const auto& seq = *f->body.As<graph::SeqNode>();
  return *seq.blocks[0].bindings[0].value.As<graph::CallNode>();
}

void ExpectRefused(const std::string& text, const std::string& why) {
  EXPECT_THAT(ParseModule("g.py", text),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)));
}

void ExpectRoundTrip(const std::string& text) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("g.py", text));
  for (const auto spelling :
       {PrintOptions::Spelling::kClassic, PrintOptions::Spelling::kNewest}) {
    PrintOptions options;
    options.spelling = spelling;
    const std::string printed = PrintModule(module, options);
    SCOPED_TRACE(printed);
    KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                              ParseModule("printed", printed));
    EXPECT_EQ(CanonicalForm(module), CanonicalForm(again));
    EXPECT_EQ(PrintModule(again, options), printed);
  }
}

constexpr char kMlp[] = R"(
@tvm.script.ir_module
class MyModule:
    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n), "float32")
        Y = T.match_buffer(y, (1, n), "float32")
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((1, "m"), "float32"),
             w0: R.Tensor(("n", "m"), "float32"),
             b0: R.Tensor(("n", ), "float32")):
        m, n = T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("env.linear", (x, w0, b0), R.Tensor((1, n), "float32"))
            lv1 = R.call_dps_packed("relu0", (lv0, ), R.Tensor((1, n), "float32"))
            out = R.call_tir(MyModule.relu0, (lv1, ), R.Tensor((1, n), "float32"))
            R.output(out)
        return out
)";

TEST(GraphReaderTest, ANetworkOfTensorFunctionsAndPackedOnes) {
  const graph::GraphFunction f = Read(kMlp);
  const graph::CallNode& call = FirstCall(f);
  EXPECT_TRUE(call.IsOp("call_dps_packed"));
  EXPECT_EQ(call.args[0].As<graph::ExternNode>()->name, "env.linear");
  // The dimensions of the signature are those of the body.
  const auto* out = call.infos[0].As<graph::TensorInfo>();
  const auto* bias = f->params[2]->info.As<graph::TensorInfo>();
  EXPECT_EQ((*out->extents())[1], (*bias->extents())[0]);
  const auto& block = f->body.As<graph::SeqNode>()->blocks[0];
  EXPECT_TRUE(block.is_dataflow);
  EXPECT_TRUE(block.bindings[0].var->is_dataflow);
  EXPECT_FALSE(block.bindings[2].var->is_dataflow);
  ExpectRoundTrip(kMlp);
}

TEST(GraphReaderTest, AttributesStandByNameByPositionOrByDefault) {
  for (const char* text :
       {"R.nn.softmax(x, axis=-1)", "R.nn.softmax(x, -1)", "R.nn.softmax(x)",
        "R.nn.softmax(data=x)", "relax.op.nn.softmax(x)"}) {
    const graph::GraphFunction f =
        Read(WithBody(absl::StrCat("    y = ", text, "\n    return y\n")));
    EXPECT_EQ(PrintGraphFunction(*f),
              PrintGraphFunction(
                  *Read(WithBody("    y = R.nn.softmax(x)\n    return y\n"))))
        << text;
    EXPECT_TRUE(IsConst(*FirstCall(f).attrs.at("axis").expr(), -1));
  }
}

TEST(GraphReaderTest, VoidIsTheTypeThatIsNotGiven) {
  EXPECT_EQ(PrintGraphFunction(*Read(WithBody(
                "    y = R.matmul(x, x, out_dtype=\"void\")\n    return y\n"))),
            PrintGraphFunction(
                *Read(WithBody("    y = R.matmul(x, x)\n    return y\n"))));
}

TEST(GraphReaderTest, CallsOfTensorFunctionsHaveAnOlderSpelling) {
  const auto call = [](const std::string& rest) {
    return PrintGraphFunction(*Read(WithBody(absl::StrCat(
        "    y = R.call_dps_packed(\"f\", (x, x), ", rest, "    return y\n"))));
  };
  EXPECT_EQ(call("(n, 128), dtype=\"float32\")\n"),
            call("R.Tensor((n, 128), dtype=\"float32\"))\n"));
}

TEST(GraphReaderTest, ATupleOfNumbersIsAShapeWhereOneIsNeeded) {
  const graph::GraphFunction f =
      Read(WithBody("    y = R.reshape(x, (n, 6))\n    return y\n"));
  EXPECT_EQ(FirstCall(f).args[1].kind(), graph::GraphKind::kShape);
}

TEST(GraphReaderTest, AnyParameterMayNameTheDimensionsOfTheOthers) {
  const graph::GraphFunction f = Read(
      "@R.function\ndef main(x: R.Tensor((\"n * 2\",), \"float32\"), "
      "t: R.Tuple(R.Tensor((3, \"n\"), \"float32\"))):\n"
      "    return R.shape([n])\n");
  const auto* shape =
      f->body.As<graph::SeqNode>()->result.As<graph::ShapeNode>();
  const auto* doubled = f->params[0]->info.As<graph::TensorInfo>();
  EXPECT_EQ(FreeVars((*doubled->extents())[0])[0].get(),
            shape->values[0].As<VarNode>());
}

TEST(GraphReaderTest, ArithmeticOnTensorsIsCallsAndOnNumbersExpressions) {
  const graph::GraphFunction f =
      Read(WithBody("    y = x + x * x\n    z = R.shape([n * 2 + 1])\n"
                    "    return (y, z, n + 1)\n"));
  EXPECT_TRUE(FirstCall(f).IsOp("add"));
  EXPECT_TRUE(FirstCall(f).args[1].As<graph::CallNode>()->IsOp("multiply"));
  const auto* result =
      f->body.As<graph::SeqNode>()->result.As<graph::TupleNode>();
  EXPECT_EQ(result->fields[2].kind(), graph::GraphKind::kPrim);
}

TEST(GraphReaderTest, Constants) {
  const graph::GraphFunction f = Read(WithBody(
      "    y = R.add(R.const([[1, 2.5], [-3, 4]]), R.const(7, \"int8\"))\n"
      "    return y\n"));
  const auto* a = FirstCall(f).args[0].As<graph::ConstantNode>();
  EXPECT_EQ(a->dtype, DType::Float(32));
  EXPECT_THAT(a->shape, ::testing::ElementsAre(2, 2));
  EXPECT_EQ(graph::ElementOf(*a, 1).As<FloatImmNode>()->value, 2.5);
  const auto* b = FirstCall(f).args[1].As<graph::ConstantNode>();
  EXPECT_TRUE(IsConst(graph::ElementOf(*b, 0), 7));
  EXPECT_EQ(b->data->size(), 1u);
  ExpectRefused(WithBody("    return R.const([[1, 2], [3]])\n"), "one length");
  ExpectRefused(WithBody("    return R.const(300, \"int8\")\n"),
                "300 is no value of int8");
}

TEST(GraphReaderTest, ProgramsRoundTrip) {
  for (const char* body : {
           "    with R.dataflow():\n        a = R.exp(x)\n"
           "        b = R.add(a, a)\n        R.output(a, b)\n"
           "    c = R.subtract(a, b)\n    return c\n",
           "    c = R.const(True, \"bool\")\n    if c:\n"
           "        y = R.exp(x)\n    else:\n        z = R.exp(x)\n"
           "        y = R.exp(z)\n    w = R.add(y, y)\n    return w\n",
           "    if R.const(True):\n        if R.const(False):\n"
           "            y = x\n        else:\n            y = R.exp(x)\n"
           "    else:\n        with R.dataflow():\n            y = R.exp(x)\n"
           "            R.output(y)\n    return y\n",
           "    m = T.int64()\n"
           "    y: R.Tensor((m, n), \"float32\") = R.match_cast(x, "
           "R.Tensor((m, n), \"float32\"))\n    return R.shape([m, n * 2])\n",
           "    @R.function\n    def f(y: R.Tensor(ndim=2)) -> R.Tensor(ndim=2)"
           ":\n        return f(R.add(x, y))\n    return f(x)\n",
           "    k: R.Prim(\"int64\") = R.mine.size(x)\n"
           "    y = R.zeros(R.shape([k, k + n]), \"float32\")\n    return y\n",
           "    a, b = R.split(x, 2)\n    R.print(a, format=\"{}\")\n"
           "    return b\n",
           "    y = R.layout_transform(x, T.index_map(lambda i, j: (j, i // 2, "
           "i % 2)))\n    return y\n",
       }) {
    ExpectRoundTrip(WithBody(body));
  }
}

TEST(GraphReaderTest, ALargeConstantHasAPlaceOnly) {
  std::string zeros = "0";
  for (int i = 1; i < 100; ++i) zeros += ", 0";
  const std::string text =
      WithBody(absl::StrCat("    return R.const([", zeros, "], \"int8\")\n"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("g.py", text));
  EXPECT_THAT(PrintModule(module),
              HasSubstr("return metadata[\"relax.expr.Constant\"][0]"));
  PrintOptions options;
  options.max_constant_elements = 100;
  KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                            ParseModule("p", PrintModule(module, options)));
  EXPECT_EQ(CanonicalForm(module), CanonicalForm(again));
}

TEST(GraphReaderTest, WhatMeansNothingIsRefusedWithItsPlace) {
  const struct {
    const char* body;
    const char* why;
  } kCases[] = {
      {"    y = R.exp(xx)\n    return y\n", "`xx` is not defined"},
      {"    y = R.exp(x)\n", "returns nothing"},
      {"    y: T.int64()\n    return x\n", "a name without a value"},
      {"    y: R.Tensor((2,))\n    return x\n", "a name without a value"},
      {"    return x\n    y = x\n", "behind the return"},
      {"    y = R.nn.softmax(x, axes=1)\n    return y\n",
       "has no attribute `axes`; it knows axis"},
      {"    y = R.nn.softmax(x, 1, 2)\n    return y\n", "at most 2 arguments"},
      {"    y = R.astype(x)\n    return y\n", "R.astype needs `dtype`"},
      {"    y = R.call_tir(cls.f, (x,), R.Tensor((2,)))\n    return y\n",
       "the module has no function `f`"},
      {"    y = R.call_dps_packed(\"f\", (x,))\n    return y\n",
       "and out_sinfo"},
      {"    with R.dataflow():\n        y = x\n        R.output(z)\n"
       "    return y\n",
       "outputs `z`, which it does not bind"},
      {"    with R.dataflow():\n        y = x\n        z = y\n"
       "        R.output(z)\n    return y\n",
       "`y` is bound in a dataflow block that does not output it; name it in "
       "R.output there"},
      {"    if n:\n        y = x\n    else:\n        z = x\n    return x\n",
       "different names, `y` and `z`"},
      {"    for i in range(3):\n        y = x\n    return x\n",
       "means nothing in a graph function"},
      {"    y: R.Tensor((2,), ndim=3) = x\n    return y\n",
       "ndim is 3 beside 1 extents"},
      {"    y: T.Buffer((2,)) = x\n    return y\n", "struct info is needed"},
      {"    y = x[-1]\n    return y\n", "counted from 0"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.body);
    ExpectRefused(WithBody(c.body), c.why);
  }
  ExpectRefused("@R.function\ndef main(x):\n    return x\n",
                "needs struct info");
}

TEST(GraphReaderTest, AttributesAreReadAlone) {
  KILN_ASSERT_OK_AND_ASSIGN(const Attr pair, ParseAttribute("a", "[1, \"x\"]"));
  ASSERT_TRUE(pair.list() && pair.list()->size() == 2);
  EXPECT_EQ(*AsInt(*(*pair.list())[0].expr()), 1);
  EXPECT_EQ(*(*pair.list())[1].string(), "x");
  KILN_ASSERT_OK_AND_ASSIGN(const Attr none, ParseAttribute("a", "None"));
  EXPECT_TRUE(none.is_none());
  EXPECT_THAT(ParseAttribute("a", "[1,"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a:1")));
  EXPECT_THAT(ParseAttribute("a", "x"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x")));
}

}  // namespace
}  // namespace kiln
