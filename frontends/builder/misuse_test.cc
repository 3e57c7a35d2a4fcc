// What the builder refuses: each error begins with the line of this file that
// made the call, names the function and says what to do.
//
//   bb.Emit(CallOp("add", {x, y}));    misuse_test.cc:60: main: gv: R.add: ...
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/frontends/builder/functions.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::graph {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Scope = BlockBuilder::Scope;

const DType kF32 = DType::Float(32);
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kOrder = absl::StatusCode::kFailedPrecondition;

class MisuseTest : public testing::Test {
 protected:
  Var TensorVar(std::string name, std::vector<kiln::Expr> extents) {
    return Var(std::move(name), Tensor(std::move(extents), kF32));
  }
  // That Finish refuses what was built, with this code and message.
  void ExpectRefused(absl::StatusCode code, const std::string& part) {
    EXPECT_THAT(
        bb.Finish(),
        StatusIs(code, AllOf(HasSubstr(part),
                             ContainsRegex("misuse_test.cc:[0-9]+: "))));
  }

  const Var x = TensorVar("x", {Int(4)});
  const Var y = TensorVar("y", {Int(5)});
  BlockBuilder bb;
};

TEST_F(MisuseTest, ValuesStandInFunctions) {
  bb.Emit(CallOp("exp", {x}));
  ExpectRefused(kOrder, "Emit stands outside of a function");
}

TEST_F(MisuseTest, OnlyInputsHaveAFreeLayout) {
  const Scope main = bb.BeginFunction("main", {x});
  const auto copy = [](const te::Tensor& a) {
    const te::Tensor b =
        te::Compute(a.shape(), [&](const auto& i) { return a(i); }, "b");
    return TeOutputs(b, {b});
  };
  bb.EmitFuncOutput(bb.EmitTe("copy", copy, x));
  ExpectRefused(kInvalid, "layout_free_placeholders has b");
}

TEST_F(MisuseTest, TheFirstErrorStaysAndTellsItsLine) {
  const Scope main = bb.BeginFunction("main", {x, y});
  const int line = std::source_location::current().line() + 1;
  const Var bad = bb.Emit(CallOp("add", {x, y}));
  const Var worse = bb.Emit(CallOp("matmul", {bad, bad}));
  bb.EmitFuncOutput(worse);
  ExpectRefused(kInvalid, "misuse_test.cc:" + std::to_string(line) + ": main:");
  ExpectRefused(kInvalid, "R.add(x, y)");
}

TEST_F(MisuseTest, WhatFailedChangesNothing) {
  const Scope main = bb.BeginFunction("main");
  const Var a = bb.Emit(CallOp("exp", {x}));
  bb.Emit(CallOp("add", {CallOp("negative", {a}), y}));
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("main")));
  bb.EmitIf(
      Var("c", Tensor({}, DType::Bool())), [&] { return bb.Emit(x); },
      [&] { return bb.Emit(CallOp("none.such", {Expr()})); });
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("missing (null)")));
  bb.EmitFuncOutput(a, {y});
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("x is neither")));
  bb.EmitFuncOutput(a, {x, bb.FreeVars().back()});
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, bb.Finish());
  const auto* body = module.graph_functions[0]->body.As<SeqNode>();
  EXPECT_EQ(body->blocks[0].bindings.size(), 1);
}

TEST_F(MisuseTest, OneOutput) {
  const Scope main = bb.BeginFunction("main", {x});
  bb.EmitFuncOutput(x);
  KILN_EXPECT_OK(bb.Finish());
  bb.EmitFuncOutput(x);
  ExpectRefused(kOrder, "a function ends with EmitFuncOutput");
}

TEST_F(MisuseTest, FunctionsThatAreOpenAreNotLost) {
  Scope main = bb.BeginFunction("main", {x});
  ExpectRefused(kOrder, "main: the function that begins here is still open");
  bb.EmitFuncOutput(x);
  KILN_EXPECT_OK(bb.Finish());
}

TEST_F(MisuseTest, FunctionsEndWithAnOutput) {
  {
    const Scope main = bb.BeginFunction("main", {x});
  }
  ExpectRefused(kOrder, "main: the function that begins here ends without");
}

TEST_F(MisuseTest, FunctionsStandInNoOther) {
  const Scope main = bb.BeginFunction("main", {x});
  const Scope other = bb.BeginFunction("other", {x});
  ExpectRefused(kOrder, "other begins inside of main");
}

TEST_F(MisuseTest, NamesOfFunctions) {
  {
    const Scope bad = bb.BeginFunction("a b", {x});
  }
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("letters, digits")));
  {
    const Scope main = bb.BeginFunction("main", {x});
    bb.EmitFuncOutput(x);
  }
  const Scope main = bb.BeginFunction("main", {x});
  ExpectRefused(kInvalid, "UniqueFunctionName(\"main\")");
}

TEST_F(MisuseTest, DataflowVariablesDoNotEscape) {
  const Scope main = bb.BeginFunction("main", {x});
  Scope dataflow = bb.BeginDataflow();
  const Var lv = bb.Emit(CallOp("exp", {x}));
  dataflow.End();
  bb.EmitFuncOutput(lv);
  ExpectRefused(kInvalid, "EmitOutput(lv)");
}

TEST_F(MisuseTest, DataflowBlocksEndBeforeTheFunction) {
  const Scope main = bb.BeginFunction("main", {x});
  Scope dataflow = bb.BeginDataflow();
  const Var gv = bb.EmitOutput(x);
  bb.EmitFuncOutput(gv);
  EXPECT_THAT(bb.TakeError(), StatusIs(kOrder, HasSubstr("end the block")));
  dataflow.End();
  bb.EmitFuncOutput(gv);
  KILN_EXPECT_OK(bb.Finish());
}

TEST_F(MisuseTest, DataflowBlocksHoldNoBlocksBranchesOrEffects) {
  const Var c("c", Tensor({}, DType::Bool()));
  const Scope main = bb.BeginFunction("main", {x, c}, {.is_pure = false});
  const Scope dataflow = bb.BeginDataflow();
  const auto value = [&] { return bb.Emit(x); };
  {
    const Scope inner = bb.BeginDataflow();
  }
  EXPECT_THAT(bb.TakeError(), StatusIs(kOrder, HasSubstr("in no other one")));
  bb.EmitIf(c, value, value);
  EXPECT_THAT(bb.TakeError(), StatusIs(kOrder, HasSubstr("a branch stands")));
  bb.Emit(Expr(new CallNode(Extern("env.f"), {x}, {}, {})));
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("with effects")));
}

TEST_F(MisuseTest, OutputsStandInDataflowBlocks) {
  const Scope main = bb.BeginFunction("main", {x});
  bb.EmitOutput(x);
  ExpectRefused(kOrder, "EmitOutput stands in a dataflow block");
}

TEST_F(MisuseTest, PureFunctionsCallNothingWithEffects) {
  const Scope main = bb.BeginFunction("main", {x});
  bb.Emit(Expr(new CallNode(Extern("env.f"), {x}, {}, {})));
  ExpectRefused(kInvalid, "is_pure = false");
}

TEST_F(MisuseTest, Parameters) {
  const auto begin = [&](std::vector<Var> params) {
    {
      const Scope main = bb.BeginFunction("main", std::move(params));
    }
    return bb.TakeError();
  };
  EXPECT_THAT(begin({x, x}), StatusIs(kInvalid, HasSubstr("x stands twice")));
  EXPECT_THAT(begin({Var("z")}), StatusIs(kInvalid, HasSubstr("struct info")));
  EXPECT_THAT(begin({Var()}), StatusIs(kInvalid, HasSubstr("missing")));
  EXPECT_THAT(begin({TensorVar("z", {Int(-1)})}),
              StatusIs(kInvalid, HasSubstr("z: an extent is -1")));
  EXPECT_THAT(
      begin({TensorVar("z", {Int(int64_t{1} << 40), Int(int64_t{1} << 40)})}),
      StatusIs(kInvalid, HasSubstr("bytes exceed")));
  EXPECT_THAT(begin({TensorVar("z", {kiln::Expr()})}),
              StatusIs(kInvalid, HasSubstr("an extent is missing")));
  EXPECT_THAT(begin({TensorVar("z", {Constant(1, DType::Int(32))})}),
              StatusIs(kInvalid, HasSubstr("extents are int64")));
  const Scope main = bb.BeginFunction("main", {x});
  bb.EmitFuncOutput(x, {x});
  ExpectRefused(kOrder, "given to BeginFunction already");
}

TEST_F(MisuseTest, WhatAFunctionUsesIsAParameterOrBound) {
  const int line = std::source_location::current().line() + 2;
  const Scope main = bb.BeginFunction("main");
  const Var z = bb.Emit(CallOp("exp", {x}));
  bb.EmitFuncOutput(z, {y});
  ExpectRefused(kInvalid, "x is neither a parameter nor bound before");
  ExpectRefused(kInvalid, "used in frontends/builder/misuse_test.cc:" +
                              std::to_string(line));
}

TEST_F(MisuseTest, BranchesKeepWhatTheyBind) {
  const Var c("c", Tensor({}, DType::Bool()));
  const Scope main = bb.BeginFunction("main", {x, c});
  Var inner;
  const auto value = [&] { return inner = bb.Emit(CallOp("exp", {x})); };
  bb.EmitIf(c, value, value);
  bb.Emit(inner);
  ExpectRefused(kInvalid, "use the value of the branch");
}

TEST_F(MisuseTest, ConditionsAreBools) {
  const Scope main = bb.BeginFunction("main", {x});
  const auto value = [&] { return bb.Emit(x); };
  bb.EmitIf(x, value, value);
  ExpectRefused(kInvalid, "a condition is a bool of no dimensions");
}

TEST_F(MisuseTest, DimensionsAreTold) {
  const kiln::Var n("n");
  const Scope main = bb.BeginFunction("main", {x});
  bb.EmitFuncOutput(ShapeOf({n}));
  ExpectRefused(kInvalid, "no parameter tells the dimension n");
}

TEST_F(MisuseTest, CallsMeetWhatTheyCall) {
  KILN_ASSERT_OK_AND_ASSIGN(Function f, ParseFunction("f", R"py(
@T.prim_func(private=True)
def f(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("b"):
            vi = T.axis.spatial(4, i)
            b[vi] = a[vi]
)py"));
  const Expr callee = bb.AddFunction(f);
  const StructInfo info = x->info;
  const Scope main = bb.BeginFunction("main", {x, y});
  const auto refusal = [&](const Expr& call) {
    bb.Emit(call);
    return bb.TakeError();
  };
  EXPECT_THAT(
      refusal(CallOp("call_tir", {callee, TupleOf({x, x})}, {}, {info})),
      StatusIs(kInvalid, HasSubstr("f has 2 parameters, and the call "
                                   "gives 2 arguments, 1 outputs")));
  EXPECT_THAT(refusal(CallOp("call_tir", {callee, x}, {}, {info})),
              StatusIs(kInvalid, HasSubstr("a tuple of its arguments")));
  EXPECT_THAT(
      refusal(CallOp("call_tir", {Global("g"), TupleOf({x})}, {}, {info})),
      StatusIs(kInvalid, HasSubstr("no tensor function called g")));
  EXPECT_THAT(refusal(CallOp(
                  "call_tir_inplace", {callee, TupleOf({x, x})},
                  {{"inplace_indices", Attr(AttrList{Attr(Int(7))})}}, {info})),
              StatusIs(kInvalid, HasSubstr("arguments are 0 to 1")));
  EXPECT_THAT(
      refusal(CallOp("add", {x, x, x})),
      StatusIs(kInvalid, HasSubstr("takes 2 arguments (x1, x2), got 3")));
  EXPECT_THAT(refusal(CallOp("add", {x})),
              StatusIs(kInvalid, HasSubstr("`x2` is missing")));
  EXPECT_THAT(
      refusal(CallOp("nn.softmax", {x}, {{"dim", Attr(Int(0))}})),
      StatusIs(kInvalid, HasSubstr("no attribute `dim`; it knows axis")));
  EXPECT_THAT(refusal(CallOp("astype", {x})),
              StatusIs(kInvalid, HasSubstr("needs the attribute `dtype`")));
  EXPECT_THAT(refusal(Item(TupleOf({x}), 3)),
              StatusIs(kInvalid, HasSubstr("no field 3")));
}

TEST_F(MisuseTest, FormulasGetTensorsOfKnownExtents) {
  const auto same = [](const te::Tensor& t) { return t; };
  const Var r("r", TensorOfRank(2, kF32));
  const Scope main = bb.BeginFunction("main", {x, r});
  const auto refusal = [&](const auto& formula, const Expr& arg) {
    bb.EmitTe("f", formula, arg);
    return bb.TakeError();
  };
  EXPECT_THAT(
      refusal(same, r),
      StatusIs(kInvalid, HasSubstr("whose extents and type are known")));
  EXPECT_THAT(refusal(same, TupleOf({x, x})),
              StatusIs(kInvalid, HasSubstr("by EmitFields")));
  EXPECT_THAT(
      refusal(same, Number(Int(3))),
      StatusIs(kInvalid, HasSubstr("give numbers and extents as such")));
  EXPECT_THAT(refusal(same, x),
              StatusIs(kInvalid, HasSubstr("main: f: tensor x")));
  const auto none = [](const te::Tensor&) { return std::vector<te::Tensor>(); };
  EXPECT_THAT(refusal(none, x), StatusIs(kInvalid, HasSubstr("no tensor")));
  const auto refuses = [](const te::Tensor&) -> absl::StatusOr<te::Tensor> {
    return absl::UnimplementedError("not for such tensors");
  };
  EXPECT_THAT(refusal(refuses, x), StatusIs(absl::StatusCode::kUnimplemented,
                                            HasSubstr("not for such tensors")));
}

TEST_F(MisuseTest, FunctionsFromOutsideAreChecked) {
  const auto refusal = [&](FunctionFields fields) {
    bb.AddFunction(GraphFunction(std::move(fields)));
    return bb.TakeError();
  };
  const Var lv("lv", x->info, /*is_dataflow=*/true);
  EXPECT_THAT(refusal({.name = "f", .params = {x}, .body = Seq({}, y)}),
              StatusIs(kInvalid, HasSubstr("f: y is neither a parameter")));
  EXPECT_THAT(
      refusal(
          {.name = "f", .params = {x}, .body = Seq({{true, {{lv, x}}}}, lv)}),
      StatusIs(kInvalid, HasSubstr("EmitOutput(lv)")));
  EXPECT_THAT(
      refusal(
          {.name = "f", .params = {x}, .body = Seq({{false, {{x, x}}}}, x)}),
      StatusIs(kInvalid, HasSubstr("x is bound twice")));
  EXPECT_THAT(refusal({.name = "f", .params = {x}, .body = Seq({}, Expr())}),
              StatusIs(kInvalid, HasSubstr("missing (null)")));
  Expr deep = x;
  for (int i = 0; i < 1000; ++i) deep = TupleOf({deep});
  EXPECT_THAT(refusal({.name = "f", .params = {x}, .body = Seq({}, deep)}),
              StatusIs(kInvalid, HasSubstr("nest more than")));
  bb.UpdateFunction("g", GraphFunction(FunctionFields{.name = "g"}));
  EXPECT_THAT(bb.TakeError(),
              StatusIs(kInvalid, HasSubstr("no function called")));
}

TEST_F(MisuseTest, DeepAndNullValuesAreRefused) {
  const Scope main = bb.BeginFunction("main", {x});
  Expr deep = x;
  for (int i = 0; i < 1000; ++i) deep = CallOp("exp", {deep});
  bb.Emit(deep);
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("with Emit first")));
  bb.Emit(Expr());
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("missing (null)")));
  bb.EmitFuncOutput(Var());
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("missing (null)")));
  bb.MatchCast(x, StructInfo());
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("missing")));
  bb.MatchCast(x, Tensor({Int(5)}, kF32));
  EXPECT_THAT(bb.TakeError(), StatusIs(kInvalid, HasSubstr("never is")));
  EXPECT_EQ(bb.EmitFields(x, 2).size(), 2);
  EXPECT_THAT(bb.TakeError(),
              StatusIs(kInvalid, HasSubstr("is no tuple of 2")));
}

TEST_F(MisuseTest, ScopesOutliveBuilders) {
  auto builder = std::make_unique<BlockBuilder>();
  Scope main = builder->BeginFunction("main", {x});
  builder.reset();
  main.End();
}

}  // namespace
}  // namespace kiln::graph
