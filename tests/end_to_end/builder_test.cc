// Models that code builds, compiled, run by the machine, and compared with what
// loops of the test compute:
//
//   y = bb.EmitTe("dense", Dense, x, w)       for (i, j) y[i][j] = sum ...
#include "kiln/frontends/builder/builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

using graph::BlockBuilder;
using graph::CallOp;
using Floats = std::vector<float>;

const DType kF32 = DType::Float(32);

te::Tensor Dense(const te::Tensor& x, const te::Tensor& w) {
  const te::IterVar k = te::ReduceAxis(Int(0), x.shape()[1], "k");
  return te::Compute(
      {x.shape()[0], w.shape()[0]},
      [&](const auto& i) { return te::Sum(x(i[0], k) * w(i[1], k), {k}); },
      "dense");
}

te::Tensor ScaledSum(const std::vector<te::Tensor>& in, double by) {
  return te::Compute(
      in[0].shape(),
      [&](const auto& i) {
        return (in[0](i) + in[1](i)) * Constant(by, in[0].dtype());
      },
      "scaled_sum");
}

// Layers of 6-5-3 for any number of rows; the first from a formula, the second
// from ops.
absl::StatusOr<Module> Mlp() {
  const Var n("n");
  const auto tensor = [](std::string name, std::vector<Expr> extents) {
    return graph::Var(std::move(name), graph::Tensor(std::move(extents), kF32));
  };
  const graph::Var x = tensor("x", {n, Int(6)});
  const graph::Var w0 = tensor("w0", {Int(5), Int(6)});
  const graph::Var b0 = tensor("b0", {Int(5)});
  const graph::Var w1 = tensor("w1", {Int(3), Int(5)});
  BlockBuilder bb;
  const BlockBuilder::Scope main = bb.BeginFunction("main", {x, w0, b0, w1});
  BlockBuilder::Scope dataflow = bb.BeginDataflow();
  const graph::Var h = bb.Emit(CallOp(
      "nn.relu", {CallOp("add", {bb.EmitTe("dense", Dense, x, w0), b0})}));
  const graph::Var y =
      bb.Emit(CallOp("matmul", {h, CallOp("permute_dims", {w1})}));
  const graph::Var out = bb.EmitOutput(
      bb.CallTe("scaled_sum", ScaledSum, std::vector<graph::Var>{y, y}, 0.25));
  dataflow.End();
  bb.EmitFuncOutput(out);
  return bb.Finish();
}

absl::StatusOr<vm::Value> CompileAndRun(const Module& module,
                                        const std::vector<vm::Value>& args) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  KILN_ASSIGN_OR_RETURN(vm::Executable executable,
                        CompileModel(prepared, target, KeepSchedules()));
  ThreadPool pool;
  KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine,
                        vm::Machine::Create(std::move(executable), {}, &host));
  return machine->Call("main", args);
}

NDArray Random(std::vector<int64_t> shape, uint64_t seed) {
  NDArray array = *NDArray::Empty(std::move(shape), kF32);
  FillRandom(array, seed);
  return array;
}

// a @ b.T, of `inner` columns each.
Floats TimesTransposed(const Floats& a, const Floats& b, size_t inner) {
  Floats c;
  for (size_t i = 0; i < a.size(); i += inner) {
    for (size_t j = 0; j < b.size(); j += inner) {
      float sum = 0;
      for (size_t k = 0; k < inner; ++k) sum += a[i + k] * b[j + k];
      c.push_back(sum);
    }
  }
  return c;
}

Floats ElementsOf(const NDArray& array) {
  const float* data = array.data_as<float>();
  return Floats(data, data + array.num_elements());
}

TEST(BuilderTest, AnMlpForAnyNumberOfRows) {
  const absl::StatusOr<Module> module = Mlp();
  KILN_ASSERT_OK(module);
  for (const int64_t rows : {1, 4}) {
    const NDArray x = Random({rows, 6}, 1), w0 = Random({5, 6}, 2);
    const NDArray b0 = Random({5}, 3), w1 = Random({3, 5}, 4);
    KILN_ASSERT_OK_AND_ASSIGN(const vm::Value got,
                              CompileAndRun(*module, {x, w0, b0, w1}));
    Floats h = TimesTransposed(ElementsOf(x), ElementsOf(w0), 6);
    for (size_t i = 0; i < h.size(); ++i) {
      h[i] = std::max(0.0f, h[i] + ElementsOf(b0)[i % 5]);
    }
    const Floats y = TimesTransposed(h, ElementsOf(w1), 5);
    const Floats result = ElementsOf(std::get<NDArray>(got));
    ASSERT_EQ(result.size(), y.size());
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(result[i], (y[i] + y[i]) * 0.25f, 1e-5);
    }
  }
}

TEST(BuilderTest, BranchesTuplesAndCasts) {
  const Var n("n");
  const graph::Var c("c", graph::Tensor({}, DType::Bool()));
  const graph::Var x("x", graph::TensorOfRank(1, kF32));
  BlockBuilder bb;
  const BlockBuilder::Scope main = bb.BeginFunction("main", {c, x});
  const graph::Var y = bb.MatchCast(x, graph::Tensor({n}, kF32));
  const graph::Var z = bb.EmitIf(
      c, [&] { return bb.Emit(CallOp("add", {y, y})); },
      [&] { return bb.Emit(CallOp("negative", {y})); });
  bb.EmitFuncOutput(graph::TupleOf({z, graph::ShapeOf({n * Int(2)})}));
  const absl::StatusOr<Module> module = bb.Finish();
  KILN_ASSERT_OK(module);
  const NDArray input = Random({3}, 5);
  for (const bool flag : {false, true}) {
    NDArray condition = *NDArray::Empty({}, DType::Bool());
    *condition.data_as<uint8_t>() = flag;
    KILN_ASSERT_OK_AND_ASSIGN(const vm::Value got,
                              CompileAndRun(*module, {condition, input}));
    const auto& fields = std::get<vm::Tuple>(got)->fields;
    EXPECT_EQ(vm::Describe(fields[0]), "float32[3]");
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_FLOAT_EQ(ElementsOf(std::get<NDArray>(fields[0]))[i],
                      ElementsOf(input)[i] * (flag ? 2 : -1));
    }
    EXPECT_EQ(vm::Describe(fields[1]), "shape (6)");
  }
}

}  // namespace
}  // namespace kiln
