// Patterns on values of programs as text: what matches, what each part stands
// for, and what does not match.
//
//   y = Parse("a = R.exp(x)\n  ..."); IsOp("exp", {x}).Match(y.value("a"), ...)
#include "kiln/ir/pattern/pattern.h"

#include <map>
#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/pattern/rewrite_call.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

// An inferred function, with its variables by name.
struct Program {
  explicit Program(const std::string& text) {
    absl::StatusOr<Module> parsed = ParseModule("t.py", text);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    if (!parsed.ok()) return;
    absl::StatusOr<Module> inferred = InferModule(*parsed);
    EXPECT_TRUE(inferred.ok()) << inferred.status();
    if (!inferred.ok()) return;
    module = *std::move(inferred);
    f = module.graph_functions[0];
    bound = BoundValuesOf(f);
    for (const graph::Var& param : f->params) vars[param->name] = param;
    for (const auto& [var, value] : bound) vars[var->name] = graph::Var(var);
  }

  std::optional<Match> At(const std::string& var,
                          const Pattern& pattern) const {
    return pattern.Match(vars.at(var), bound);
  }
  bool Matches(const std::string& var, const Pattern& pattern) const {
    return At(var, pattern).has_value();
  }

  Module module;
  graph::GraphFunction f;
  BoundValues bound;
  std::map<std::string, graph::Var> vars;
};

constexpr char kText[] = R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    a = R.exp(x)
    b = R.add(a, a)
    return b
)";

TEST(PatternTest, AVariableMatchesAsWhatItIsBoundTo) {
  const Program p(kText);
  const Pattern x = Wildcard();
  const Pattern exp = IsOp("exp", {x});
  const auto match = p.At("b", IsOp("add", {exp, exp}));
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->at(x).get(), p.f->params[0].get());
  EXPECT_FALSE(p.Matches("b", IsOp("add", {x, exp})));
  EXPECT_FALSE(p.Matches("b", IsOp("add", {IsNot(exp), x})));
  EXPECT_TRUE(p.Matches("b", IsConstant() | IsVar()));
  EXPECT_FALSE(p.Matches("b", IsConstant() & IsVar()));
  EXPECT_TRUE(
      p.Matches("x", x.HasShape({4}).HasDType(DType::Float(32)).HasRank(1)));
  EXPECT_FALSE(p.Matches("x", IsVar().HasShape({5})));
  EXPECT_FALSE(p.Matches("x", IsDataflowVar()));
}

// The first alternative fits where it stands, and not with what follows.
TEST(PatternTest, EveryAlternativeIsTried) {
  const Program p(R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    a = R.add(y, x)
    b = R.multiply(a, x)
    return b
)");
  const Pattern u = Wildcard(), v = Wildcard();
  const Pattern sum = IsOp("add", {u, v}) | IsOp("add", {v, u});
  const auto match = p.At("b", IsOp("multiply", {sum, u}));
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(match->at(u).get(), p.vars.at("x").get());
  EXPECT_EQ(match->at(v).get(), p.vars.at("y").get());
}

TEST(PatternTest, NamesOfOpsAndFunctionsMatchByRegularExpression) {
  const Program p(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.nn.relu(x)
        b = R.call_dps_packed("dnnl.relu", (a,), R.Tensor((4,), "float32"))
        c = Module.helper(b)
        return c

    @R.function(private=True)
    def helper(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
)");
  const Pattern x = Wildcard();
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern nn, IsOpLike(R"(nn\..*)", {x}));
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern part, IsOpLike("nn", {x}));
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern two, IsOpLike(R"(nn\..*)", {x, x}));
  EXPECT_TRUE(p.Matches("a", nn));
  EXPECT_FALSE(p.Matches("a", part)) << "the whole name has to match";
  EXPECT_FALSE(p.Matches("a", two)) << "the call has one argument";
  EXPECT_FALSE(p.Matches("b", nn));
  EXPECT_EQ(p.At("a", nn)->Inner().size(), 1u);
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern dnnl, IsFunctionLike(R"(dnnl\.\w+)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern help, IsFunctionLike("help.*"));
  const Pattern packed = IsOp("call_dps_packed", {dnnl, IsTuple({x})});
  EXPECT_TRUE(p.Matches("b", packed));
  EXPECT_TRUE(p.Matches("c", IsCall(help, {packed})));
  EXPECT_FALSE(p.Matches("c", IsCall(dnnl, {x})));
  EXPECT_FALSE(p.Matches("c", IsCall(help, {x, x})));
  EXPECT_FALSE(p.Matches("x", dnnl));
  const auto broken = IsOpLike("nn(", {x});
  EXPECT_NE(broken.status().message().find("nn( is no regular expression"),
            std::string::npos)
      << broken.status();
  EXPECT_FALSE(IsFunctionLike("*").ok());
}

TEST(PatternTest, CallsOfTensorFunctionsAndPackedOnes) {
  const Program p(R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def add_one(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] + T.float32(1)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        a = R.call_tir(cls.add_one, (x,), out_sinfo=R.Tensor((4,), "float32"))
        b = R.call_dps_packed("f", (a, x), R.Tensor((4,), "float32"))
        c = R.call_pure_packed("g", b, sinfo_args=(R.Tensor((4,), "float32"),))
        d = R.call_packed("g", c, sinfo_args=(R.Tensor((4,), "float32"),))
        return d
)");
  const Pattern x = Wildcard();
  const Pattern first = IsCallTir({x});
  EXPECT_TRUE(p.Matches("a", first));
  KILN_ASSERT_OK_AND_ASSIGN(const Pattern named, IsFunctionLike("add_.*"));
  EXPECT_TRUE(p.Matches("a", IsCallTir(named, {x})));
  EXPECT_FALSE(p.Matches("a", IsCallTir({x, x})));
  EXPECT_FALSE(p.Matches("b", first));
  const Pattern second = IsCallDpsPacked("f", {first, x});
  EXPECT_TRUE(p.Matches("b", second));
  EXPECT_FALSE(p.Matches("b", IsCallDpsPacked("g", {first, x})));
  const Pattern third = IsCallPacked("g", {second});
  EXPECT_TRUE(p.Matches("c", third));
  EXPECT_TRUE(p.Matches("d", IsCallPacked("g", {third})));
  EXPECT_FALSE(p.Matches("d", IsCallPacked("f", {third})));
}

TEST(PatternTest, TuplesAndLeaves) {
  const Program p(R"(
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
    t = (x, R.exp(y))
    u = t[1]
    v = R.concat((u, x), axis=0)
    r = R.reshape(v, R.shape([2, 4]))
    s = R.multiply(r, R.const(2.0, "float32"))
    return s
)");
  const Pattern any = Wildcard();
  const Pattern exp = IsOp("exp", {any});
  EXPECT_TRUE(p.Matches("t", IsTuple({IsVar("x"), exp})));
  EXPECT_FALSE(p.Matches("t", IsTuple({exp, IsVar("x")})));
  EXPECT_TRUE(p.Matches("t", IsUnorderedTuple({exp, IsVar("x")})));
  EXPECT_FALSE(p.Matches("t", IsUnorderedTuple({exp, exp.Again()})));
  const Pattern tuple = IsTuple({IsVar("x"), exp});
  EXPECT_TRUE(p.Matches("u", IsItem(tuple, 1)));
  EXPECT_TRUE(p.Matches("u", IsItem(tuple)));
  EXPECT_FALSE(p.Matches("u", IsItem(tuple, 0)));
  const Var rows("rows", DType::Int(64)), columns("columns", DType::Int(64));
  const Pattern shape = IsLeaf(graph::ShapeOf({rows, columns}));
  const auto match = p.At("r", IsOp("reshape", {any, shape}));
  ASSERT_TRUE(match.has_value());
  EXPECT_TRUE(IsConst(match->dims().at(rows.get()), 2));
  EXPECT_TRUE(IsConst(match->dims().at(columns.get()), 4));
  const auto* call = p.bound.at(p.vars.at("s").get()).As<graph::CallNode>();
  EXPECT_TRUE(p.Matches("s", IsOp("multiply", {any, IsConstant()})));
  EXPECT_TRUE(p.Matches("s", IsOp("multiply", {any, IsLeaf(call->args[1])})));
  const auto* two = call->args[1].As<graph::ConstantNode>();
  KILN_ASSERT_OK_AND_ASSIGN(const Blob zeros, Blob::Copy(std::string(4, 0)));
  const graph::Expr zero(
      new graph::ConstantNode(two->dtype, two->shape, zeros));
  EXPECT_FALSE(p.Matches("s", IsOp("multiply", {any, IsLeaf(zero)})));
}

TEST(PatternTest, ExtentsWithVariablesStandForOneExtentEach) {
  const Program p(R"(
@R.function
def main(x: R.Tensor(("m", 4), "float32"), y: R.Tensor(("m * 2", "m"), "int32"), z: R.Tensor(ndim=2)):
    a = R.exp(x)
    return a
)");
  const Var n("n", DType::Int(64)), k("k", DType::Int(64));
  const auto x = p.At("x", Wildcard().HasExtents({n, k}));
  ASSERT_TRUE(x.has_value());
  EXPECT_TRUE(IsConst(x->dims().at(k.get()), 4));
  EXPECT_FALSE(p.Matches("x", Wildcard().HasExtents({n, n})));
  // The first extent is put off until the second says what n is.
  EXPECT_TRUE(p.Matches("y", Wildcard().HasExtents({Mul(n, Int(2)), n})));
  EXPECT_FALSE(p.Matches("y", Wildcard().HasExtents({Mul(n, Int(3)), n})));
  EXPECT_FALSE(p.Matches("y", Wildcard().HasExtents({Mul(n, Int(2)), k})))
      << "nothing says what n is";
  EXPECT_FALSE(p.Matches("z", Wildcard().HasExtents({n, k})));
  EXPECT_TRUE(p.Matches("z", Wildcard().HasRank(2)));
  EXPECT_FALSE(p.Matches("z", Wildcard().HasDType(DType::Float(32))));
  EXPECT_TRUE(
      p.Matches("a", IsOp("exp", {Wildcard()}).HasExtents({n, Int(4)})));
}

TEST(PatternTest, ARuleReplacesWhatMatches) {
  const Program p(kText);
  const Pattern x = Wildcard();
  const Pattern sum = IsOp("add", {IsOp("exp", {x}), Wildcard()}).HasShape({4});
  const graph::Expr out = RewriteCall(
      p.f, sum,
      [&](const graph::Expr&, const Match& match, graph::Emitter& emit) {
        return graph::CallOp("exp",
                             {emit.Emit(graph::CallOp("log", {match.at(x)}))});
      });
  const std::string text = PrintGraphFunction(*out.As<graph::FunctionNode>());
  EXPECT_NE(text.find("R.log(x)"), std::string::npos) << text;
  EXPECT_EQ(text.find("R.add"), std::string::npos) << text;
}

// lv is not seen where the pattern's last value stands.
TEST(PatternTest, NothingOfABlockThatHasEndedIsUsed) {
  const Program p(R"(
@R.function
def main(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        lv = R.exp(x)
        gv = R.log(lv)
        R.output(gv)
    y = R.negative(gv)
    return y
)");
  const Pattern any = Wildcard();
  const auto count = [&](const Pattern& pattern) {
    int matches = 0;
    RewriteCall(p.f, pattern,
                [&](const graph::Expr&, const Match&, graph::Emitter&) {
                  ++matches;
                  return graph::Expr();
                });
    return matches;
  };
  EXPECT_EQ(count(IsOp("negative", {IsOp("log", {any})})), 0);
  EXPECT_EQ(count(IsOp("negative", {any})), 1);
  EXPECT_EQ(count(IsOp("log", {IsOp("exp", {any})})), 1);
}

}  // namespace
}  // namespace kiln
