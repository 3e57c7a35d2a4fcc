// Programs in the forms in which people and printers write them: each is read,
// and printing and reading it again gives an equal program and equal text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

struct Program {
  const char* name;
  const char* text;
};

constexpr Program kPrograms[] = {
    {"BracketsAroundShapes", R"(
@T.prim_func
def main(A: T.Buffer[128, "float32"],
         B: T.Buffer[(128,), "float32"],
         C: T.Buffer[128, "float32"]):
    for i in range(128):
        with T.block("C"):
            vi = T.axis.spatial(128, i)
            C[vi] = A[vi] + B[vi]
)"},
    {"TabsForIndents", R"(
@tvm.script.ir_module
class MyModule:
	@T.prim_func
	def relu(x: T.handle, y: T.handle):
		n = T.int64()
		X = T.match_buffer(x, (1, n), "float32")
		Y = T.match_buffer(y, (1, n), "float32")
		for i, j in T.grid(1, n):
			with T.block("Y"):
				vi, vj = T.axis.remap("SS", [i, j])
				Y[vi, vj] = T.max(X[vi, vj], T.float32(0))
)"},
    {"SymbolsBetweenBuffers", R"(
@I.ir_module
class Module:
    @T.prim_func
    def linear(x: T.handle, w: T.handle, z: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (1, m))
        n = T.int64()
        W = T.match_buffer(w, (n, m))
        Z = T.match_buffer(z, (1, n))
        # with T.block("root"):
        for i, j, k in T.grid(1, n, m):
            with T.block("Z"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Z[vi, vj])
                with T.init():
                    Z[vi, vj] = T.float32(0)
                Z[vi, vj] = Z[vi, vj] + X[vi, vk] * W[vj, vk]
)"},
    {"WideConstantsAndPrivateFunctions", R"(
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def relu(x: T.Buffer((T.int64(1), T.int64(128)), "float32"), y: T.Buffer((T.int64(1), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 0, "tir.noalias": T.bool(True)})
        # with T.block("root"):
        for i0, i1 in T.grid(T.int64(1), T.int64(128)):
            with T.block("relu"):
                v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
                T.reads(x[v_i0, v_i1])
                T.writes(y[v_i0, v_i1])
                y[v_i0, v_i1] = T.max(x[v_i0, v_i1], T.float32(0.0))
)"},
    {"BlocksInTheInitOfABlock", R"(
@T.prim_func
def main(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64,), "float32")):
    for i0, k0 in T.grid(4, 4):
        with T.block("tile"):
            vi0, vk0 = T.axis.remap("SR", [i0, k0])
            T.reads(A[vi0 * 16:vi0 * 16 + 16, vk0 * 16:vk0 * 16 + 16])
            T.writes(C[vi0 * 16:vi0 * 16 + 16])
            with T.init():
                for i1 in range(16):
                    with T.block("init"):
                        vi1 = T.axis.spatial(16, i1)
                        C[vi0 * 16 + vi1] = T.float32(0)
            for i1, k1 in T.grid(16, 16):
                with T.block("sum"):
                    vi1, vk1 = T.axis.remap("SR", [i1, k1])
                    C[vi0 * 16 + vi1] = C[vi0 * 16 + vi1] + A[vi0 * 16 + vi1, vk0 * 16 + vk1]
)"},
    {"EveryKindOfLoopAndNote", R"(
@T.prim_func
def main(A: T.Buffer((13, 8, 4), "float16"), B: T.Buffer((13, 8, 4), "float32")):
    T.func_attr({"global_symbol": "main", "tir.noalias": True, "sizes": [1, 2]})
    with T.block("root"):
        T.block_attr({"note": "x"})
        for b in T.thread_binding(4, thread="blockIdx.x"):
            for i in T.parallel(4):
                for j in T.unroll(8, annotations={"explicit": 1}):
                    for k in T.vectorized(4):
                        with T.block("B"):
                            vi = T.axis.spatial(13, b * 4 + i)
                            vj, vk = T.axis.remap("SS", [j, k])
                            T.where(b * 4 + i < 13)
                            T.block_attr({"depth": 2, "list": [1, "a"]})
                            B[vi, vj, vk] = T.Cast("float32", A[vi, vj, vk])
)"},
    {"CastsEitherWayRound", R"(
@T.prim_func
def main(A: T.Buffer((8,), "int8"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.cast(A[vi], "float32") + T.Cast("float32", A[vi])
)"},
};

class Programs : public ::testing::TestWithParam<Program> {};

TEST_P(Programs, AreReadAndComeBackFromTheirText) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module,
                            ParseModule("program.py", GetParam().text));
  for (const auto spelling :
       {PrintOptions::Spelling::kClassic, PrintOptions::Spelling::kNewest}) {
    const PrintOptions options{.spelling = spelling};
    const std::string text = PrintModule(module, options);
    KILN_ASSERT_OK_AND_ASSIGN(const Module again,
                              ParseModule("again.py", text));
    EXPECT_TRUE(StructurallyEqual(module, again)) << text;
    EXPECT_EQ(PrintModule(again, options), text);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Programs, ::testing::ValuesIn(kPrograms),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kiln
