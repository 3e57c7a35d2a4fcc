// What the builder makes is compared with a module that is stated as text and
// inferred, up to names:
//
//   bb.EmitFuncOutput(bb.Emit(CallOp("exp", {x})))     y = R.exp(x)
//                                                      return y
#include "kiln/frontends/builder/builder.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/frontends/builder/functions.h"
#include "kiln/ir/compare/compare.h"
#include "kiln/ir/graph/constant.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln::graph {
namespace {

using ::testing::HasSubstr;
using Scope = BlockBuilder::Scope;

const DType kF32 = DType::Float(32);

// The same graph functions, and tensor functions that compute the same.
void ExpectModule(const absl::StatusOr<Module>& built,
                  const std::string& text) {
  KILN_ASSERT_OK(built);
  KILN_ASSERT_OK_AND_ASSIGN(Module parsed, ParseModule("m.py", text));
  KILN_ASSERT_OK_AND_ASSIGN(Module expected, InferModule(parsed));
  const auto difference = FirstDifference(*built, expected);
  EXPECT_FALSE(difference) << *difference << "\n" << PrintModule(*built);
}

// One graph function, `main`.
void ExpectMain(const absl::StatusOr<Module>& built, const std::string& text) {
  ExpectModule(built, "@I.ir_module\nclass Module:" + text);
}

std::string Refusal(const absl::StatusOr<Module>& module) {
  return std::string(module.status().message());
}

te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b) {
  const te::IterVar k = te::ReduceAxis(Int(0), a.shape()[1], "k");
  return te::Compute(
      {a.shape()[0], b.shape()[1]},
      [&](const auto& i) { return te::Sum(a(i[0], k) * b(k, i[1]), {k}); },
      "matmul");
}

te::Tensor Relu(const te::Tensor& a) {
  return te::Compute(
      a.shape(),
      [&](const auto& i) { return Max(a(i), Constant(0, a.dtype())); }, "relu");
}

te::Tensor Dense(const te::Tensor& x, const te::Tensor& w) {
  const te::IterVar k = te::ReduceAxis(Int(0), x.shape()[1], "k");
  return te::Compute(
      {x.shape()[0], w.shape()[0]},
      [&](const auto& i) { return te::Sum(x(i[0], k) * w(i[1], k), {k}); },
      "T_matmul_NT");
}

te::Tensor AddRow(const te::Tensor& a, const te::Tensor& b) {
  return te::Compute(
      a.shape(), [&](const auto& i) { return a(i) + b(i[1]); }, "T_add");
}

Var TensorVar(std::string name, std::vector<kiln::Expr> extents) {
  return Var(std::move(name), Tensor(std::move(extents), kF32));
}

constexpr char kMatmulRelu[] = R"py(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def te_matmul(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), matmul: T.Buffer((128, 128), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, j, k in T.grid(128, 128, 128):
            with T.block("matmul"):
                v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    matmul[v_i, v_j] = T.float32(0)
                matmul[v_i, v_j] = matmul[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]

    @T.prim_func(private=True)
    def te_relu(lv: T.Buffer((128, 128), "float32"), relu: T.Buffer((128, 128), "float32")):
        T.func_attr({"tir.noalias": True})
        for i, j in T.grid(128, 128):
            with T.block("relu"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                relu[v_i, v_j] = T.max(lv[v_i, v_j], T.float32(0))

    @R.function
    def main(A: R.Tensor((128, 128), dtype="float32"), B: R.Tensor((128, 128), dtype="float32")) -> R.Tensor((128, 128), dtype="float32"):
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.te_matmul, (A, B), out_sinfo=R.Tensor((128, 128), dtype="float32"))
            lv1 = R.call_tir(cls.te_relu, (lv,), out_sinfo=R.Tensor((128, 128), dtype="float32"))
            gv: R.Tensor((128, 128), dtype="float32") = lv1
            R.output(gv)
        return gv
)py";

TEST(BuilderTest, FormulasBecomeTensorFunctionsParametersLast) {
  const Var a = TensorVar("A", {Int(128), Int(128)});
  const Var b = TensorVar("B", {Int(128), Int(128)});
  BlockBuilder bb;
  {
    const Scope main = bb.BeginFunction("main");
    Scope dataflow = bb.BeginDataflow();
    const Var c = bb.EmitTe("te_matmul", Matmul, a, b);
    const Var d = bb.EmitTe("te_relu", Relu, c);
    const Var out = bb.EmitOutput(d);
    dataflow.End();
    EXPECT_TRUE(c->is_dataflow);
    EXPECT_EQ(PrintStructInfo(d->info),
              "R.Tensor((128, 128), dtype=\"float32\")");
    bb.EmitFuncOutput(out, {a, b});
  }
  ExpectModule(bb.Finish(), kMatmulRelu);
}

TEST(BuilderTest, ParametersFirstScopesByBraces) {
  const Var a = TensorVar("A", {Int(128), Int(128)});
  const Var b = TensorVar("B", {Int(128), Int(128)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {a, b});
  Var out;
  {
    const Scope dataflow = bb.BeginDataflow();
    out = bb.EmitOutput(
        bb.EmitTe("te_relu", Relu, bb.CallTe("te_matmul", Matmul, a, b)));
  }
  bb.EmitFuncOutput(out);
  ExpectModule(bb.Finish(), kMatmulRelu);
}

Expr Zeros(std::vector<int64_t> shape) {
  const std::vector<kiln::Expr> values(CountElements(shape), Constant(0, kF32));
  return *MakeConstant(kF32, std::move(shape), values);
}

TEST(BuilderTest, MlpFromFormulasSharesEqualFunctionsAndNamesTheOthers) {
  const Var x = TensorVar("x", {Int(1), Int(8)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x});
  Scope dataflow = bb.BeginDataflow();
  const auto linear = [&](const Var& in, const Expr& w, const Expr& b) {
    return bb.EmitTe("add", AddRow, bb.EmitTe("dense", Dense, in, w), b);
  };
  Var y = linear(x, Zeros({4, 8}), Zeros({4}));
  y = bb.EmitTe("te_relu", Relu, y);
  y = linear(y, Zeros({8, 4}), Zeros({8}));
  y = linear(y, Zeros({4, 8}), Zeros({4}));
  const Var out = bb.EmitOutput(y);
  dataflow.End();
  bb.EmitFuncOutput(out);
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, bb.Finish());
  std::vector<std::string> names;
  for (const kiln::Function& f : module.functions) names.push_back(f.name);
  EXPECT_THAT(
      names, testing::ElementsAre("dense", "add", "te_relu", "dense1", "add1"));
  EXPECT_EQ(PrintStructInfo(module.graph_functions[0]->result),
            "R.Tensor((1, 4), dtype=\"float32\")");
}

TEST(BuilderTest, MlpFromOpsBindsOperandsAndFillsDefaultsIn) {
  const Var x = TensorVar("x", {Int(1), Int(784)});
  const Var w0 = TensorVar("w0", {Int(128), Int(784)});
  const Var b0 = TensorVar("b0", {Int(128)});
  const Var w1 = TensorVar("w1", {Int(10), Int(128)});
  const Var b1 = TensorVar("b1", {Int(10)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x, w0, b0, w1, b1});
  Scope dataflow = bb.BeginDataflow();
  const auto transposed = [](const Var& w) {
    return CallOp("permute_dims", {w});
  };
  const Var lv0 = bb.Emit(CallOp("matmul", {x, transposed(w0)}));
  const Var lv1 = bb.Emit(CallOp("add", {lv0, b0}));
  const Var lv2 = bb.Emit(CallOp("nn.relu", {lv1}));
  const Var lv3 = bb.Emit(CallOp("matmul", {lv2, transposed(w1)}));
  const Var lv4 = bb.Emit(CallOp("add", {lv3, b1}));
  const Var gv = bb.EmitOutput(lv4);
  dataflow.End();
  bb.EmitFuncOutput(gv);
  ExpectMain(bb.Finish(), R"py(
    @R.function
    def main(x: R.Tensor((1, 784), "float32"), w0: R.Tensor((128, 784), "float32"), b0: R.Tensor((128,), "float32"), w1: R.Tensor((10, 128), "float32"), b1: R.Tensor((10,), "float32")) -> R.Tensor((1, 10), "float32"):
        with R.dataflow():
            lv: R.Tensor((784, 128), "float32") = R.permute_dims(w0, axes=None)
            lv1: R.Tensor((1, 128), "float32") = R.matmul(x, lv)
            lv2: R.Tensor((1, 128), "float32") = R.add(lv1, b0)
            lv3: R.Tensor((1, 128), "float32") = R.nn.relu(lv2)
            lv4: R.Tensor((128, 10), "float32") = R.permute_dims(w1, axes=None)
            lv5: R.Tensor((1, 10), "float32") = R.matmul(lv3, lv4)
            lv6: R.Tensor((1, 10), "float32") = R.add(lv5, b1)
            gv: R.Tensor((1, 10), "float32") = lv6
            R.output(gv)
        return gv
)py");
}

TEST(BuilderTest, SymbolicExtentsReachFormulas) {
  const kiln::Var n("n");
  const Var x = TensorVar("x", {n, Int(3)});
  const Var w = TensorVar("w", {Int(3), Int(2)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x, w});
  const Var y = bb.EmitTe("matmul", Matmul, x, w);
  bb.EmitFuncOutput(y);
  ExpectModule(bb.Finish(), R"py(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def matmul(var_A: T.handle, B: T.Buffer((3, 2), "float32"), var_C: T.handle):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        A = T.match_buffer(var_A, (n, 3))
        C = T.match_buffer(var_C, (n, 2))
        for i, j, k in T.grid(n, 2, 3):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]

    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), w: R.Tensor((3, 2), "float32")) -> R.Tensor(("n", 2), "float32"):
        n = T.int64()
        cls = Module
        gv = R.call_tir(cls.matmul, (x, w), out_sinfo=R.Tensor((n, 2), "float32"))
        return gv
)py");
}

TEST(BuilderTest, FormulasTakeNumbersAndTuplesAndGiveSeveralTensors) {
  const Var x = TensorVar("x", {Int(4)});
  const Var y = TensorVar("y", {Int(4)});
  const auto scaled = [](const std::vector<te::Tensor>& in, int64_t by,
                         const kiln::Expr& shift) {
    std::vector<te::Tensor> out;
    for (const te::Tensor& t : in) {
      out.push_back(te::Compute(
          t.shape(),
          [&](const auto& i) {
            return t(i) * Constant(static_cast<double>(by), t.dtype()) + shift;
          },
          "scaled"));
    }
    return out;
  };
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x, y});
  const Var both = bb.EmitTe("scale", scaled, std::vector<Var>{x, y}, 3,
                             Constant(0.5, kF32));
  const std::vector<Var> fields = bb.EmitFields(both, 2);
  bb.EmitFuncOutput(TupleOf({fields[1], both}));
  ExpectModule(bb.Finish(), R"py(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32"), a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        T.func_attr({"tir.noalias": True})
        for i in range(4):
            with T.block("a"):
                vi = T.axis.spatial(4, i)
                a[vi] = x[vi] * T.float32(3) + T.float32(0.5)
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                b[vi] = y[vi] * T.float32(3) + T.float32(0.5)

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        cls = Module
        gv = R.call_tir(cls.scale, (x, y), out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")])
        gv1 = gv[0]
        gv2 = gv[1]
        return (gv2, gv)
)py");
}

TEST(BuilderTest, FormulasMarkInputsWhoseLayoutIsFree) {
  const Var unread = TensorVar("unread", {Int(4)});
  const Var x = TensorVar("x", {Int(1), Int(4)});
  const Var w = TensorVar("w", {Int(3), Int(4)});
  const auto dense = [](const te::Tensor&, const te::Tensor& a,
                        const te::Tensor& b) {
    return TeOutputs(Dense(a, b), {b});
  };
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {unread, x, w});
  bb.EmitFuncOutput(bb.EmitTe("dense", dense, unread, x, w));
  ExpectModule(bb.Finish(), R"py(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def dense(x: T.Buffer((1, 4), "float32"), w: T.Buffer((3, 4), "float32"), y: T.Buffer((1, 3), "float32")):
        T.func_attr({"layout_free_buffers": [1], "tir.noalias": True})
        for i, j, k in T.grid(1, 3, 4):
            with T.block("T_matmul_NT"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = T.float32(0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * w[vj, vk]

    @R.function
    def main(unread: R.Tensor((4,), "float32"), x: R.Tensor((1, 4), "float32"), w: R.Tensor((3, 4), "float32")):
        cls = Module
        y = R.call_tir(cls.dense, (x, w), out_sinfo=R.Tensor((1, 3), "float32"))
        return y
)py");
}

TEST(BuilderTest, BranchesGiveValues) {
  const Var c("c", Tensor({}, DType::Bool()));
  const Var x = TensorVar("x", {Int(4)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {c, x});
  const Var y = bb.EmitIf(
      c,
      [&] {
        const Var a = bb.Emit(CallOp("exp", {x}));
        return bb.Emit(CallOp("add", {a, a}));
      },
      [&] { return bb.Emit(CallOp("negative", {x})); }, "y");
  bb.EmitFuncOutput(bb.Emit(CallOp("add", {y, x})));
  ExpectMain(bb.Finish(), R"py(
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            a = R.exp(x)
            y = R.add(a, a)
        else:
            y = R.negative(x)
        z = R.add(y, x)
        return z
)py");
}

TEST(BuilderTest, PackedFunctionsInPlaceFunctionsAndCasts) {
  KILN_ASSERT_OK_AND_ASSIGN(Function twice, ParseFunction("twice", R"py(
@T.prim_func(private=True)
def twice(x: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("x"):
            vi = T.axis.spatial(4, i)
            x[vi] = x[vi] * T.float32(2)
)py"));
  const StructInfo four = Tensor({Int(4)}, kF32);
  const kiln::Var n("n");
  const Var x("x", four);
  const Var r("r", TensorOfRank(1, kF32));
  BlockBuilder bb;
  const Expr f = bb.AddFunction(twice);
  const Scope main = bb.BeginFunction("main", {x, r}, {.is_pure = false});
  const Var y = bb.Emit(CallOp(
      "call_dps_packed", {Extern("env.double"), TupleOf({x})}, {}, {four}));
  const Var z = bb.Emit(
      CallOp("call_tir_inplace", {f, TupleOf({y})},
             {{"inplace_indices", Attr(AttrList{Attr(Int(0))})}}, {four}));
  const Var m = bb.MatchCast(r, Tensor({n}, kF32), "m");
  const Var w = bb.Emit(CallOp("add", {m, m}));
  bb.Emit(Expr(new CallNode(Extern("env.show"), {z}, {}, {})));
  bb.EmitFuncOutput(TupleOf({z, w}));
  ExpectModule(bb.Finish(), R"py(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("x"):
                vi = T.axis.spatial(4, i)
                x[vi] = x[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), r: R.Tensor(dtype="float32", ndim=1)):
        n = T.int64()
        cls = Module
        y = R.call_dps_packed("env.double", (x,), out_sinfo=R.Tensor((4,), "float32"))
        z = R.call_tir_inplace(cls.twice, (y,), inplace_indices=[0], out_sinfo=R.Tensor((4,), "float32"))
        m = R.match_cast(r, R.Tensor((n,), "float32"))
        w = R.add(m, m)
        _ = R.call_packed("env.show", z)
        return (z, w)
)py");
}

TEST(BuilderTest, FunctionsCallEachOtherAndThemselves) {
  const Var x = TensorVar("x", {Int(4)});
  const Var c("c", Tensor({}, DType::Bool()));
  const Var p = TensorVar("p", {Int(4)});
  BlockBuilder bb;
  {
    const Scope loop = bb.BeginFunction(
        "loop", {c, p}, {.is_private = true, .result = Tensor({Int(4)}, kF32)});
    const Expr self = bb.GetGlobalVar("loop");
    bb.EmitFuncOutput(bb.EmitIf(
        c, [&] { return bb.Emit(p); },
        [&] { return bb.Emit(Expr(new CallNode(self, {c, p}, {}, {}))); }));
  }
  {
    const Scope main =
        bb.BeginFunction("main", {c, x}, {.attrs = {{"k", Attr(Int(1))}}});
    bb.EmitFuncOutput(
        bb.Emit(Expr(new CallNode(bb.GetGlobalVar("loop"), {c, x}, {}, {}))));
  }
  ExpectMain(bb.Finish(), R"py(
    @R.function(private=True)
    def loop(c: R.Tensor((), "bool"), p: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        if c:
            y = p
        else:
            y = cls.loop(c, p)
        return y

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        R.func_attr({"k": 1})
        cls = Module
        y = cls.loop(c, x)
        return y
)py");
}

TEST(BuilderTest, SharedOperandsAreBoundOnce) {
  const Var x = TensorVar("x", {Int(4)});
  Expr e = x;
  for (int i = 0; i < 60; ++i) e = CallOp("add", {e, e});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x});
  bb.EmitFuncOutput(bb.Emit(e));
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, bb.Finish());
  const auto* body = module.graph_functions[0]->body.As<SeqNode>();
  EXPECT_EQ(body->blocks[0].bindings.size(), 60);
}

TEST(BuilderTest, NamesAreUniqueAndReadable) {
  const Var x = TensorVar("x", {Int(4)});
  BlockBuilder bb;
  const Scope main = bb.BeginFunction("main", {x});
  EXPECT_EQ(bb.Emit(x)->name, "gv");
  EXPECT_EQ(bb.Emit(x)->name, "gv1");
  EXPECT_EQ(bb.Emit(x, "x")->name, "x1");
  EXPECT_EQ(bb.Emit(x, "1/conv.weight")->name, "_1_conv_weight");
  bb.EmitFuncOutput(x);
  EXPECT_EQ(bb.UniqueFunctionName("main"), "main1");
}

TEST(BuilderTest, FusedFunctionsGetAttributesAndAreCalled) {
  const Var x = TensorVar("x", {Int(2), Int(3)});
  const Var w = TensorVar("w", {Int(3), Int(4)});
  BlockBuilder inner;
  {
    const Scope fused = inner.BeginFunction("fused_matmul_relu", {x, w});
    Scope dataflow = inner.BeginDataflow();
    const Var out =
        inner.EmitOutput(CallOp("nn.relu", {CallOp("matmul", {x, w})}));
    dataflow.End();
    inner.EmitFuncOutput(out);
  }
  KILN_ASSERT_OK_AND_ASSIGN(const Module fused, inner.Finish());
  BlockBuilder bb;
  const Expr callee = bb.AddFunction(
      WithAttr(fused.graph_functions[0], "Primitive", Attr(Int(1))));
  const Var a = TensorVar("a", {Int(2), Int(3)});
  const Var b = TensorVar("b", {Int(3), Int(4)});
  const Scope main = bb.BeginFunction("main", {a, b});
  bb.EmitFuncOutput(bb.Emit(Expr(new CallNode(callee, {a, b}, {}, {}))));
  ExpectMain(bb.Finish(), R"py(
    @R.function
    def fused_matmul_relu(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            y = R.nn.relu(R.matmul(x, w))
            R.output(y)
        return y

    @R.function
    def main(a: R.Tensor((2, 3), "float32"), b: R.Tensor((3, 4), "float32")):
        cls = Module
        y = cls.fused_matmul_relu(a, b)
        return y
)py");
}

TEST(BuilderTest, UpdateReplacesAndAddKeepsNamesApart) {
  const Var x = TensorVar("x", {Int(4)});
  const auto function = [&](const std::string& op) {
    KILN_EXPECT_OK(ModuleFromExpr(CallOp(op, {x})));
    return ModuleFromExpr(CallOp(op, {x}))->graph_functions[0];
  };
  BlockBuilder bb;
  bb.AddFunction(function("exp"));
  const Expr second = bb.AddFunction(function("sin"));
  EXPECT_EQ(second.As<GlobalVarNode>()->name, "main1");
  bb.UpdateFunction("main", function("cos"));
  ExpectMain(bb.Finish(), R"py(
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.cos(x)
        return y

    @R.function
    def main1(x: R.Tensor((4,), "float32")):
        y = R.sin(x)
        return y
)py");
}

TEST(BuilderTest, AnExpressionIsAModule) {
  const Var x = TensorVar("x", {Int(4)});
  const Var y = TensorVar("y", {Int(4)});
  ExpectMain(ModuleFromExpr(CallOp("add", {y, CallOp("exp", {x})})), R"py(
    @R.function
    def main(y: R.Tensor((4,), "float32"), x: R.Tensor((4,), "float32")):
        z = R.add(y, R.exp(x))
        return z
)py");
  EXPECT_THAT(Refusal(ModuleFromExpr(CallOp("add", {x}))),
              HasSubstr("`x2` is missing"));
}

TEST(BuilderTest, GoesOnFromAModule) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, ParseModule("m.py", kMatmulRelu));
  BlockBuilder bb(module);
  const Var x = TensorVar("x", {Int(128), Int(128)});
  const Scope again = bb.BeginFunction("again", {x});
  const Var y =
      bb.Emit(Expr(new CallNode(bb.GetGlobalVar("main"), {x, x}, {}, {})));
  bb.EmitFuncOutput(bb.EmitTe("relu", Relu, y));
  KILN_ASSERT_OK_AND_ASSIGN(const Module more, bb.Finish());
  EXPECT_EQ(more.functions.size(), 2);
  EXPECT_EQ(more.graph_functions.size(), 2);
}

}  // namespace
}  // namespace kiln::graph
