#include "kiln/ir/text/printer/printer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

PrintOptions Newest() {
  PrintOptions options;
  options.spelling = PrintOptions::Spelling::kNewest;
  return options;
}

// Texts as TVM prints them.
constexpr char kTiled[] = R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def mm_relu(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        # with T.block("root"):
        Y = T.alloc_buffer((128, 128))
        for i, j_0, k, j_1 in T.grid(128, 32, 128, 4):
            with T.block("Y"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j_0 * 4 + j_1)
                vk = T.axis.reduce(128, k)
                T.reads(A[vi, vk], B[vk, vj])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj])
                T.writes(C[vi, vj])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";
constexpr char kFused[] = R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def mm_relu(A: T.Buffer((128, 128), "float32"), B: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")):
        T.func_attr({"global_symbol": "mm_relu", "tir.noalias": True})
        # with T.block("root"):
        Y = T.alloc_buffer((128, 128))
        for i, j_0 in T.grid(128, 32):
            for k, j_1 in T.grid(128, 4):
                with T.block("Y"):
                    vi = T.axis.spatial(128, i)
                    vj = T.axis.spatial(128, j_0 * 4 + j_1)
                    vk = T.axis.reduce(128, k)
                    T.reads(A[vi, vk], B[vk, vj])
                    T.writes(Y[vi, vj])
                    with T.init():
                        Y[vi, vj] = T.float32(0)
                    Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
            for ax0 in range(4):
                with T.block("C"):
                    vi = T.axis.spatial(128, i)
                    vj = T.axis.spatial(128, j_0 * 4 + ax0)
                    T.reads(Y[vi, vj])
                    T.writes(C[vi, vj])
                    C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
)";
constexpr char kSymbolic[] = R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (1, m))
        n = T.int64()
        W = T.match_buffer(w, (n, m))
        B = T.match_buffer(b, (n,))
        Z = T.match_buffer(z, (1, n))
        # with T.block("root"):
        Y = T.alloc_buffer((1, n))
        for i, j, k in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj], B[vj])
                T.writes(Z[vi, vj])
                Z[vi, vj] = Y[vi, vj] + B[vj]
)";

TEST(PrinterTest, PrintedProgramsPrintAgainAsTheyStand) {
  for (const char* text : {kTiled, kFused, kSymbolic}) {
    KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("m.py", text));
    EXPECT_EQ(PrintModule(m), text);
  }
}

constexpr char kNewest[] = R"(# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def main(A: T.Buffer((1, "n", 2048), "float16"), B: T.Buffer((1, n, 2048), "float16", strides=("s0", "s1", "s2"), scope="shared", offset_factor=16)):
        n = T.int64()
        T.func_attr({"tirx.noalias": True, "x": [1, 2.5, "a", None, {"k": False}]})
        # with T.sblock("root"):
        C = T.sblock_alloc_buffer((1, (n + 127) // 128 * 128, 2048), "float16", scope="shared.dyn")
        for bx in T.thread_binding(n, thread="blockIdx.x"):
            for i in T.serial(2, 16, annotations={"pragma_auto_unroll_max_step": 64}):
                for j in T.vectorized(128):
                    with T.sblock("C"):
                        v0 = T.axis.spatial(1, 0)
                        v1 = T.axis.spatial((2, 10), bx)
                        v2 = T.axis.opaque(2048, i * 128 + j)
                        T.where(i * 128 + j < 2047 and not bx == 3)
                        T.reads(A[v0, v1, v2])
                        T.writes(C[v0, v1, v2])
                        T.sblock_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                        C[v0, v1, v2] = T.if_then_else(v1 < n, A[v0, v1, v2], T.float16(0.0))
        for i in range(16):
            with T.sblock("opaque"):
                vi = T.axis.spatial(16, i)
                T.reads(C[0, vi * 16:vi * 16 + 16, 0:2048])
                T.writes(B[0, vi * 16:vi * 16 + 16, 0:2048])
                D = T.match_buffer(C[0, vi * 16:vi * 16 + 16, 0:16], (16, 16), "float16", strides=("d1", "d0"), scope="shared.dyn", offset_factor=1)
                T.tvm_load_matrix_sync(D.data, 16, 16, 16, D.elem_offset // D.strides[0], T.tvm_access_ptr(T.type_annotation("float16"), B.data, B.elem_offset, B.strides[1] * 16, 1), 128, "row_major")
)";

TEST(PrinterTest, TheNewestSpellingPrintsAgainAsItStands) {
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("m.py", kNewest));
  EXPECT_EQ(PrintModule(m, Newest()), kNewest);
}

// Reads `text`, prints it in both spellings, reads that, and compares.
void ExpectRoundTrip(const std::string& text) {
  KILN_ASSERT_OK_AND_ASSIGN(Module m, ParseModule("m.py", text));
  for (const PrintOptions& options : {PrintOptions(), Newest()}) {
    const std::string printed = PrintModule(m, options);
    KILN_ASSERT_OK_AND_ASSIGN(Module again, ParseModule("printed", printed));
    EXPECT_EQ(CanonicalForm(m, {.block_names = true}),
              CanonicalForm(again, {.block_names = true}))
        << printed;
    EXPECT_EQ(PrintModule(again, options), printed);
  }
}

// A function around `body`, with some buffers to use.
std::string Wrap(const std::string& body) {
  std::string text =
      "@T.prim_func\n"
      "def f(A: T.Buffer((16, 16), \"float32\"), B: T.Buffer((16, 16), "
      "\"float32\"), I: T.Buffer((16,), \"int32\"), U: T.Buffer((16,), "
      "\"uint64\"), L: T.Buffer((16,), \"int64\"), n: T.int64):\n";
  std::string line;
  for (char c : body + "\n") {
    line += c;
    if (c != '\n') continue;
    text += "    " + line;
    line.clear();
  }
  return text;
}

TEST(PrinterTest, WhatPeopleWriteRoundTrips) {
  const std::vector<std::string> bodies = {
      "A[0, 0] = -B[0, 0] * (B[1, 1] - (B[2, 2] - 1.0)) / 3",
      "I[0] = (I[1] + 2) * 3 - I[2] // 2 % 5 & 7 | 1 << I[3]",
      "I[0] = T.if_then_else(n < 3, 1, 2)\nI[1] = T.Select(n < 3, I[0], 2)",
      "I[n] = n\nL[n] = I[n] + n",
      "A[I[0], I[I[1]] + n] = T.Cast(\"float32\", n)",
      "U[0] = T.uint64(18446744073709551615)",
      "A[0, 0] = T.float32(\"inf\")\nA[0, 1] = T.float32(\"-inf\")\n"
      "A[0, 2] = T.float32(\"nan\")\nA[0, 3] = -0.0",
      "A[0, 0] = T.max_value(\"float32\")\nA[0, 1] = 3.4028234663852886e38",
      "A[0, 0] = 340282346638528859811704183484516925440.0",
      "if n < 3 and (n > 1 or n == 0) and not n == 7:\n    A[0, 0] = 1.0\n"
      "else:\n    A[0, 0] = 2.0",
      "for i in range(4):\n    for j in range(i):\n"
      "        for k in range(2, 5):\n            A[i, j] = B[j, k]",
      "for i in T.unroll(2, 6):\n    for j in T.parallel(n):\n"
      "        A[i, j] = 1.0",
      "x = A[0, 0] + 1.0\nA[0, 1] = x\nA[0, 2] = x * x",
      "with T.LetStmt(A[0, 0]) as x:\n    A[0, 1] = x\n"
      "with T.LetStmt(n) as x:\n    I[0] = x\nA[1, 1] = 2.0",
      "A[0, 0] = T.Let(x + y, where={x: B[0, 0], y: B[1, 1]})",
      "A[0, 0:16] = B[1, 0:16] + T.Broadcast(T.float32(2), 16)",
      "A[0, T.Ramp(0, 2, 8)] = B[1, T.Ramp(n, 2, 8)]",
      "acc = T.allocate([16], \"float32\", \"global\")\n"
      "acc_1 = T.Buffer((16,), data=acc)\nacc_1[0] = 1.0",
      "acc = T.decl_buffer((16,), \"float32\", scope=\"local\")\n"
      "acc[3] = 1.0",
      "with T.decl_buffer((16,)) as acc:\n    acc[3] = 1.0\nA[0, 0] = 2.0",
      "z = T.decl_buffer(())\nz[()] = 1.0\nA[0, 0] = z[()] + z",
      "T.evaluate(T.call_extern(\"int32\", \"puts\", \"a\\n\\\"b\", 1))",
      "T.prefetch(T.address_of(A[n + 64, 0]), 0, 3, 1)",
      "T.evaluate(T.prefetch(T.address_of(I[L[0]]), 1, 0, 1))",
      "T.call_extern(\"void\", \"f\", T.address_of(A[0, 0]), A.data, "
      "T.int32(5))",
      "T.call_packed(\"f\", T.tvm_stack_make_array(A.data, "
      "T.tvm_stack_make_shape(16, 16), 0, 2, T.float32(0), 0), 1, "
      "T.bool(False))",
      "T.tvm_call_packed(\"f\", T.tvm_stack_make_array(I.data, "
      "T.tvm_stack_make_shape(n), T.tvm_stack_make_shape(1), 1, 0, n + 2))",
      "T.call_packed(\"f\", T.tvm_stack_make_array(L.data, "
      "T.tvm_stack_make_shape(n), 0, 1, T.int64(0), T.int64(0)))",
      "T.call_cpacked(\"f\", A.data, I)\nT.call_packed(\"g\", A, I, n)",
      "T.evaluate(T.tvm_stack_alloca(\"shape\", 3))",
      "x = T.alloc_local((1,), \"int32\")\nx[0] = 3\nI[0] = x[0]",
      "for i in T.parallel(4):\n    x = T.alloc_local((1,))\n"
      "    x[0] = A[i, 0]\n    y = T.alloc_shared((2,), \"int8\", align=8)\n"
      "    y[1] = T.int8(3)\n    A[i, 1] = x[0] + T.Cast(\"float32\", y[1])",
      "T.attr({\"k\": 1})\nI[0] = 1",
      "with T.attr({\"k\": 1, \"m\": \"x\"}):\n    I[0] = 1\nI[1] = 2",
      "with T.attr(A.data, \"k\", n + 1):\n    I[0] = 1\n"
      "with T.attr(0, \"k\", T.float32(2)):\n    I[0] = 1\n"
      "T.attr({\"z\": T.bool(True)})\nT.attr(I.data, \"q\", 1)\nI[1] = 2",
      "for i in range(4):\n    T.attr({\"k\": \"v\"})\n    I[i] = 1",
      "T.attr({\"last\": -1})",
      "I[0] = T.reinterpret(\"int32\", A[0, 0]) ^ ~I[1]",
      "A[0, 0] = T.exp(T.min(T.max(A[0, 0], 0), B[0, 0])) ** 2.0",
      "L[0] = T.truncdiv(L[1], 3) + T.truncmod(n, 4) + T.popcount(L[2])",
      "with T.block(\"root\"):\n    T.reads(A[0:16, 0:16])\n    T.writes()\n"
      "    T.evaluate(0)",
      "with T.block(\"root\"):\n    T.evaluate(0)",
      "with T.block(\"x\"):\n    A[0, 0] = 1.0",
      "for i in T.serial(4):\n    with T.block(\"a b.c\"):\n"
      "        vi = T.axis.scan(4, i)\n        C = T.alloc_buffer((4,))\n"
      "        C[vi] = 1.0\n        with T.block(\"\"):\n"
      "            A[vi, 0] = C[vi]",
      "for vi in range(4):\n    with T.block(\"x\"):\n"
      "        T = T.axis.spatial(4, vi)\n",
      "pass",
  };
  for (const std::string& body : bodies) {
    SCOPED_TRACE(body);
    ExpectRoundTrip(Wrap(body));
  }
}

TEST(PrinterTest, GraphFunctionsAndModuleAttributesRoundTrip) {
  ExpectRoundTrip(R"(
@I.ir_module
class M:
    I.module_attrs({"runtime": None, "version": 3})
    @R.function
    def main(x: R.Tensor((1, 784), "float32")):
        with R.dataflow():
            out = x
            R.output(out)
        return out

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        A[0] = 1.0
)");
}

TEST(PrinterTest, NamesThatClashAreTellApart) {
  Var i("i"), other("i"), keyword("lambda"), dotted("a.b");
  const Expr sum = Add(Add(i, other), Add(keyword, dotted));
  EXPECT_EQ(PrintExpr(sum), "i + i_1 + (lambda_1 + a_b)");
}

TEST(PrinterTest, TwoNumbersShowTheirTypes) {
  const Expr big = Int(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(PrintExpr(Add(big, Int(1))),
            "T.int64(9223372036854775807) + T.int64(1)");
  EXPECT_EQ(PrintExpr(Add(Float(1), Float(2))), "T.float32(1) + T.float32(2)");
}

TEST(PrinterTest, RegionsPrintAsSlices) {
  Buffer a = MakeBuffer("A", DType::Float(32), {Int(16), Int(16)});
  Var v("v");
  BufferRegion region{a, {{v, Int(1)}, {Mul(v, Int(4)), Int(4)}}};
  EXPECT_EQ(PrintRegion(region), "A[v, v * 4:v * 4 + 4]");
  EXPECT_EQ(PrintRegion(FullRegion(a)), "A[0:16, 0:16]");
}

// Random integer and float expressions over a few variables.
class RandomExpr {
 public:
  explicit RandomExpr(unsigned seed) : random_(seed) {}

  Expr Make(int depth) {
    if (depth == 0 || Pick(6) == 0) return Leaf();
    switch (Pick(7)) {
      case 0:
        return Add(Make(depth - 1), Make(depth - 1));
      case 1:
        return Sub(Make(depth - 1), Make(depth - 1));
      case 2:
        return Mul(Make(depth - 1), Make(depth - 1));
      case 3:
        return FloorDiv(Make(depth - 1), Int(1 + Pick(9)));
      case 4:
        return FloorMod(Make(depth - 1), Int(1 + Pick(9)));
      case 5:
        return Min(Make(depth - 1), Make(depth - 1));
      default: {
        const Expr values = Make(depth - 1);
        return Call(DType::Index(), Intrinsic::kIfThenElse,
                    {Condition(depth - 1), values, Make(depth - 1)});
      }
    }
  }

 private:
  int Pick(int n) { return static_cast<int>(random_() % n); }
  Expr Leaf() { return Pick(2) ? Expr(vars_[Pick(3)]) : Int(Pick(20) - 10); }
  Expr Condition(int depth) {
    const Expr a = LT(Make(depth), vars_[0]), b = EQ(vars_[1], Make(depth));
    switch (Pick(4)) {
      case 0:
        return And(a, b);
      case 1:
        return Or(a, And(b, a));
      case 2:
        return And(Or(a, b), Not(a));
      default:
        return a;
    }
  }

  std::mt19937 random_;
  std::vector<Var> vars_ = {Var("x"), Var("y"), Var("z")};

 public:
  const std::vector<Var>& vars() const { return vars_; }
};

TEST(PrinterTest, RandomExpressionsRoundTrip) {
  const unsigned seed = 20240607;
  SCOPED_TRACE(absl::StrCat("seed ", seed));
  RandomExpr random(seed);
  for (int i = 0; i < 500; ++i) {
    const Expr e = random.Make(5);
    Function f;
    f.name = "f";
    Buffer out = MakeBuffer("out", DType::Int(64), {Int(1)});
    for (const Var& var : random.vars()) f.params.push_back({var, nullptr});
    f.params.push_back({Var("h", DType::Handle()), out});
    f.body = MakeStore(out, e, {Int(0)});
    const std::string text = PrintFunction(f);
    KILN_ASSERT_OK_AND_ASSIGN(Function again, ParseFunction("printed", text));
    EXPECT_TRUE(StructurallyEqual(f, again)) << text;
  }
}

}  // namespace
}  // namespace kiln
