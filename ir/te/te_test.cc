#include "kiln/ir/te/te.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/tensor/canonical.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

const DType kF32 = DType::Float(32);

te::Tensor Matmul(const te::Tensor& a, const te::Tensor& b) {
  te::IterVar k = te::ReduceAxis(Int(0), a.shape()[1], "k");
  return te::Compute(
      {a.shape()[0], b.shape()[1]},
      [&](const auto& i) { return te::Sum(a(i[0], k) * b(k, i[1]), {k}); },
      "matmul", {.axes = {"i", "j"}});
}

te::Tensor Relu(const te::Tensor& a) {
  return te::Compute(
      a.shape(), [&](const auto& i) { return Max(a(i), Float(0)); }, "relu");
}

void ExpectProgram(const Function& f, const char* text) {
  KILN_ASSERT_OK_AND_ASSIGN(Module expected, ParseModule("expected.py", text));
  ASSERT_EQ(expected.functions.size(), 1);
  EXPECT_EQ(CanonicalForm(f, {.block_names = true}),
            CanonicalForm(expected.functions[0], {.block_names = true}));
}

TEST(TeTest, AMatmulWithReluGivesTwoBlocksAndAnAllocation) {
  te::Tensor a = te::Placeholder({Int(16), Int(8)}, kF32, "A");
  te::Tensor b = te::Placeholder({Int(8), Int(4)}, kF32, "B");
  KILN_ASSERT_OK_AND_ASSIGN(Function f,
                            te::CreatePrimFunc({a, b, Relu(Matmul(a, b))}));
  ExpectProgram(f, R"(
@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), B: T.Buffer((8, 4), "float32"), relu: T.Buffer((16, 4), "float32")):
    T.func_attr({"tir.noalias": True})
    # with T.block("root"):
    matmul = T.alloc_buffer((16, 4))
    for i, j, k in T.grid(16, 4, 8):
        with T.block("matmul"):
            v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
            T.reads(A[v_i, v_k], B[v_k, v_j])
            T.writes(matmul[v_i, v_j])
            with T.init():
                matmul[v_i, v_j] = T.float32(0)
            matmul[v_i, v_j] = matmul[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
    for i0, i1 in T.grid(16, 4):
        with T.block("relu"):
            v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
            T.reads(matmul[v_i0, v_i1])
            T.writes(relu[v_i0, v_i1])
            relu[v_i0, v_i1] = T.max(matmul[v_i0, v_i1], T.float32(0))
)");
}

TEST(TeTest, ReadsOfNeighboursBecomeOneRegion) {
  te::Tensor a = te::Placeholder({Int(10)}, kF32, "A");
  te::Tensor b = te::Compute({Int(8)},
                             [&](const auto& i) {
                               return a(Add(i[0], Int(2))) + a(i[0]) +
                                      a(Add(i[0], Int(1)));
                             },
                             "B", {.axes = {"i"}});
  KILN_ASSERT_OK_AND_ASSIGN(Function f, te::CreatePrimFunc({a, b}));
  ExpectProgram(f, R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(8):
        with T.block("B"):
            v_i = T.axis.spatial(8, i)
            T.reads(A[v_i:v_i + 3])
            T.writes(B[v_i])
            B[v_i] = A[v_i + 2] + A[v_i] + A[v_i + 1]
)");
}

// Only the element that the index names, as far as it is taken as it is.
TEST(TeTest, ReadsAtLoadedIndicesArePoints) {
  te::Tensor a = te::Placeholder({Int(10)}, kF32, "A");
  te::Tensor at = te::Placeholder({Int(8)}, DType::Int(64), "I");
  const auto computed = [&](FunctionRef<Expr(const Expr&)> value) {
    te::Tensor b =
        te::Compute({Int(8)}, [&](const auto& i) { return value(at(i[0])); },
                    "B", {.axes = {"i"}});
    return te::CreatePrimFunc({a, at, b});
  };
  KILN_ASSERT_OK_AND_ASSIGN(Function point, computed([&](const Expr& i) {
                              return a(Add(i, Int(1))) * a(Add(i, Int(1)));
                            }));
  ExpectProgram(point, R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), I: T.Buffer((8,), "int64"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(8):
        with T.block("B"):
            v_i = T.axis.spatial(8, i)
            T.reads(A[I[v_i] + 1], I[v_i])
            T.writes(B[v_i])
            B[v_i] = A[I[v_i] + 1] * A[I[v_i] + 1]
)");
  KILN_ASSERT_OK_AND_ASSIGN(Function whole, computed([&](const Expr& i) {
                              return a(i) + a(Add(i, Int(1)));
                            }));
  ExpectProgram(whole, R"(
@T.prim_func
def main(A: T.Buffer((10,), "float32"), I: T.Buffer((8,), "int64"), B: T.Buffer((8,), "float32")):
    T.func_attr({"tir.noalias": True})
    for i in range(8):
        with T.block("B"):
            v_i = T.axis.spatial(8, i)
            T.reads(A[0:10], I[v_i])
            T.writes(B[v_i])
            B[v_i] = A[I[v_i]] + A[I[v_i] + 1]
)");
}

TEST(TeTest, ReductionsStartFromTheBoundsOfTheirType) {
  te::Tensor a = te::Placeholder({Int(4)}, DType::Int(8), "A");
  te::IterVar k = te::ReduceAxis(0, 4, "k");
  auto init_of = [&](te::Value (*reduce)(Expr, std::vector<te::IterVar>)) {
    te::Tensor b = te::Compute(
        {Int(1)}, [&](const auto&) { return reduce(a(k), {k}); }, "B");
    Function f = *te::CreatePrimFunc({a, b});
    int64_t value = 0;
    Visit(f.body, [&](const Stmt& s) {
      const auto* realize = s.As<BlockRealizeNode>();
      if (realize && realize->block->init) {
        value = *AsInt(realize->block->init.As<StoreNode>()->value);
      }
      return true;
    });
    return value;
  };
  EXPECT_EQ(init_of(te::Max), -128);
  EXPECT_EQ(init_of(te::Min), 127);
  EXPECT_EQ(init_of(te::Prod), 1);
  EXPECT_EQ(init_of(te::Sum), 0);
}

TEST(TeTest, ASumOverNothingIsItsIdentity) {
  const te::Tensor a = te::Placeholder({Int(2), Int(0)}, DType::Float(32), "A");
  const te::IterVar k = te::ReduceAxis(0, 0, "k");
  const te::Tensor b = te::Compute(
      {Int(2)},
      [&](const std::vector<Expr>& i) { return te::Prod(a(i[0], k), {k}); },
      "B");
  KILN_ASSERT_OK_AND_ASSIGN(const Function f, te::CreatePrimFunc({a, b}, "f"));
  std::vector<Tensor> args = {Tensor(DType::Float(32), {2, 0}),
                              Tensor(DType::Float(32), {2})};
  KILN_ASSERT_OK(Interpret(f, args));
  EXPECT_EQ(args[1].GetReal(0), 1);
  EXPECT_EQ(args[1].GetReal(1), 1);
}

TEST(TeTest, BlocksOfOneNameAreToldApart) {
  te::Tensor a = te::Placeholder({Int(4)}, kF32, "A");
  KILN_ASSERT_OK_AND_ASSIGN(Function f, te::CreatePrimFunc({a, Relu(Relu(a))}));
  EXPECT_THAT(CanonicalForm(f, {.block_names = true}), HasSubstr("relu_1"));
}

TEST(TeTest, AMissingPlaceholderAndARepeatedParameterAreErrors) {
  te::Tensor a = te::Placeholder({Int(4)}, kF32, "A");
  te::Tensor b = Relu(a);
  EXPECT_THAT(
      te::CreatePrimFunc({b}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("placeholder A")));
  EXPECT_THAT(te::CreatePrimFunc({a, b, a}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("twice")));
}

TEST(TeTest, SymbolicExtentsStay) {
  Var n("n");
  te::Tensor a = te::Placeholder({n}, kF32, "A");
  KILN_ASSERT_OK_AND_ASSIGN(Function f, te::CreatePrimFunc({a, Relu(a)}));
  ASSERT_EQ(SymbolicDims(f).size(), 1);
  EXPECT_EQ(SymbolicDims(f)[0], n);
}

TEST(TeTest, LayoutFreePlaceholdersBecomeAnAttribute) {
  te::Tensor a = te::Placeholder({Int(4)}, kF32, "A");
  te::Tensor b = Relu(a);
  KILN_ASSERT_OK_AND_ASSIGN(Function f,
                            te::CreatePrimFunc({b, a}, "main", {a}));
  EXPECT_EQ(LayoutFreeParams(f), std::vector<int>{1});
  EXPECT_THAT(te::CreatePrimFunc({a, b}, "main", {b}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("relu, which is computed")));
  te::Tensor other = te::Placeholder({Int(4)}, kF32, "other");
  EXPECT_THAT(te::CreatePrimFunc({a, b}, "main", {other}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("other, which is not among")));
}

}  // namespace
}  // namespace kiln
