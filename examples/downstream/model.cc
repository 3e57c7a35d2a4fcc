// A model built in code, outside of Kiln's workspace: two linear layers for any
// number of rows, the first from a formula and the second from ops, compiled
// with the default schedules and run.
//
//   bazel run //:model
#include "kiln/tools/support/model.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/ir/expr/expr.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/te/te.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace {

namespace graph = kiln::graph;
using kiln::Int;

constexpr int64_t kRows = 3, kIn = 64, kHidden = 32, kOut = 10;
const kiln::DType kF32 = kiln::DType::Float(32);

// x @ w.T + b, and no less than zero.
kiln::te::Tensor DenseRelu(const kiln::te::Tensor& x, const kiln::te::Tensor& w,
                           const kiln::te::Tensor& b) {
  const kiln::te::IterVar k = kiln::te::ReduceAxis(Int(0), x.shape()[1], "k");
  const kiln::te::Tensor dense = kiln::te::Compute(
      {x.shape()[0], w.shape()[0]},
      [&](const auto& i) {
        return kiln::te::Sum(x(i[0], k) * w(i[1], k), {k});
      },
      "dense");
  return kiln::te::Compute(
      dense.shape(),
      [&](const auto& i) {
        return kiln::Max(dense(i) + b(i[1]), kiln::Constant(0, kF32));
      },
      "relu");
}

absl::StatusOr<kiln::Module> Mlp() {
  const auto tensor = [](std::string name, std::vector<kiln::Expr> extents) {
    return graph::Var(std::move(name), graph::Tensor(std::move(extents), kF32));
  };
  const kiln::Var n("n");
  const graph::Var x = tensor("x", {n, Int(kIn)});
  const graph::Var w0 = tensor("w0", {Int(kHidden), Int(kIn)});
  const graph::Var b0 = tensor("b0", {Int(kHidden)});
  const graph::Var w1 = tensor("w1", {Int(kOut), Int(kHidden)});
  graph::BlockBuilder bb;
  const auto main = bb.BeginFunction("main", {x, w0, b0, w1});
  auto dataflow = bb.BeginDataflow();
  const graph::Var h = bb.EmitTe("dense_relu", DenseRelu, x, w0, b0);
  const graph::Var w = bb.Emit(graph::CallOp("permute_dims", {w1}));
  const graph::Var y = bb.EmitOutput(graph::CallOp("matmul", {h, w}));
  dataflow.End();
  bb.EmitFuncOutput(y);
  return bb.Finish();
}

absl::StatusOr<kiln::vm::Value> CompileAndRun(
    const kiln::Module& model, const std::vector<kiln::vm::Value>& args) {
  const kiln::Target target = kiln::HostTarget();
  KILN_ASSIGN_OR_RETURN(const kiln::Module prepared, kiln::PrepareModel(model));
  KILN_ASSIGN_OR_RETURN(
      kiln::vm::Executable executable,
      kiln::CompileModel(prepared, target, kiln::DefaultSchedules(target)));
  kiln::ThreadPool pool;
  kiln::KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine, kiln::vm::Machine::Create(
                                          std::move(executable), {}, &host));
  return machine->Call("main", args);
}

// Whole numbers, whose products and sums floats hold exactly.
absl::StatusOr<kiln::NDArray> SmallInts(std::vector<int64_t> shape,
                                        uint64_t seed) {
  KILN_ASSIGN_OR_RETURN(auto array,
                        kiln::NDArray::Empty(std::move(shape), kF32));
  kiln::FillSmallInts(array, -4, 4, seed);
  return array;
}

// a @ b.T, of `inner` columns each.
std::vector<float> Product(const float* a, int64_t rows, const float* b,
                           int64_t columns, int64_t inner) {
  std::vector<float> c;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < inner; ++k) {
        sum += a[i * inner + k] * b[j * inner + k];
      }
      c.push_back(sum);
    }
  }
  return c;
}

absl::Status Run() {
  KILN_ASSIGN_OR_RETURN(const kiln::Module model, Mlp());
  std::printf("%s\n", kiln::PrintModule(model).c_str());
  KILN_ASSIGN_OR_RETURN(const auto x, SmallInts({kRows, kIn}, 1));
  KILN_ASSIGN_OR_RETURN(const auto w0, SmallInts({kHidden, kIn}, 2));
  KILN_ASSIGN_OR_RETURN(const auto b0, SmallInts({kHidden}, 3));
  KILN_ASSIGN_OR_RETURN(const auto w1, SmallInts({kOut, kHidden}, 4));
  KILN_ASSIGN_OR_RETURN(const kiln::vm::Value got,
                        CompileAndRun(model, {x, w0, b0, w1}));
  std::vector<float> h =
      Product(x.data_as<float>(), kRows, w0.data_as<float>(), kHidden, kIn);
  for (size_t i = 0; i < h.size(); ++i) {
    h[i] = std::max(0.0f, h[i] + b0.data_as<float>()[i % kHidden]);
  }
  const std::vector<float> expected =
      Product(h.data(), kRows, w1.data_as<float>(), kOut, kHidden);
  const auto* y = std::get_if<kiln::NDArray>(&got);
  if (!y ||
      !std::equal(expected.begin(), expected.end(), y->data_as<float>())) {
    return absl::InternalError("the model computes something else");
  }
  std::printf("%s: the right result\n", kiln::vm::Describe(got).c_str());
  return absl::OkStatus();
}

}  // namespace

int main() {
  const absl::Status status = Run();
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
