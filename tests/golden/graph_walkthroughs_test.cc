// Models worked through in the literature: the module ahead of a step, the step
// and the module that it leads to, as TVM's printer gives it, constants without
// their bytes:
//
//   BindParams(module, "main", weights)      main(x), with metadata[...][0]
//   schedule, UpdateFunction("linear0", f)   another linear0, main as it was
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_matchers.h"
#include "kiln/frontends/builder/builder.h"
#include "kiln/frontends/builder/functions.h"
#include "kiln/ir/graph/expr.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/python/source.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/transform/graph/bind.h"
#include "kiln/schedule/trace/schedule.h"
#include "kiln/schedule/trace/script.h"
#include "kiln/tools/support/stated_difference.h"

namespace kiln {
namespace {

using Constants = std::map<std::string, graph::Expr>;

Module Read(const std::string& text) {
  absl::StatusOr<Module> module = ParseModule("m.py", text);
  KILN_EXPECT_OK(module);
  return module.ok() ? *std::move(module) : Module();
}

void ExpectShown(const absl::StatusOr<Module>& found,
                 const std::string& shown) {
  KILN_ASSERT_OK(found);
  EXPECT_EQ(StatedDifference(*found, Read(shown)).value_or(""), "");
}

// Elements that differ from one constant to the next.
graph::Expr ConstantOf(float first, std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + i % 7);
  const absl::StatusOr<Blob> data =
      Blob::Copy({reinterpret_cast<const char*>(values.data()),
                  values.size() * sizeof(float)});
  KILN_EXPECT_OK(data);
  return graph::Expr(
      new graph::ConstantNode(DType::Float(32), std::move(shape), *data));
}

Constants Weights() {
  return {{"w0", ConstantOf(1, {128, 784})},
          {"b0", ConstantOf(2, {128})},
          {"w1", ConstantOf(3, {10, 128})},
          {"b1", ConstantOf(4, {10})}};
}

// A layer for any extents, among functions that the host provides.
constexpr char kAnyExtents[] = R"(
@tvm.script.ir_module
class Mixture:
    @T.prim_func
    def linear0(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m, n, k = T.int64(), T.int64(), T.int64()
        X = T.match_buffer(x, (1, m), "float32")
        W = T.match_buffer(w, (n, m), "float32")
        B = T.match_buffer(b, (n, ), "float32")
        Z = T.match_buffer(z, (1, n), "float32")
        Y = T.alloc_buffer((1, n), "float32")
        for i, j, k in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @R.function
    def main(x: R.Tensor((1, "m"), "float32"),
             w0: R.Tensor(("n", "m"), "float32"),
             b0: R.Tensor(("n", ), "float32"),
             w1: R.Tensor(("k", "n"), "float32"),
             b1: R.Tensor(("k", ), "float32")):
        m, n, k = T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear0", (x, w0, b0), R.Tensor((1, n), "float32"))
            lv1 = R.call_dps_packed("env.relu", (lv0, ), R.Tensor((1, n), "float32"))
            out = R.call_dps_packed("env.linear", (lv1, w1, b1), R.Tensor((1, k), "float32"))
            R.output(out)
        return out
)";

constexpr char kBoundMain[] = R"(
    @R.function
    def main(x: R.Tensor((1, 784), dtype="float32")) -> R.Tensor((1, 10), dtype="float32"):
        with R.dataflow():
            lv0 = R.call_dps_packed("linear0", (x, metadata["relax.expr.Constant"][0], metadata["relax.expr.Constant"][1]), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            lv1 = R.call_dps_packed("env.relu", (lv0,), out_sinfo=R.Tensor((1, 128), dtype="float32"))
            out = R.call_dps_packed("env.linear", (lv1, metadata["relax.expr.Constant"][2], metadata["relax.expr.Constant"][3]), out_sinfo=R.Tensor((1, 10), dtype="float32"))
            R.output(out)
        return out
)";

// `linear0` stays as it is written: only main says what its extents are.
TEST(GraphWalkthroughs, WeightsBecomeConstants) {
  const std::string layer = R"(
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
  const Module module = Read(kAnyExtents);
  ExpectShown(BindParams(module, "main", Weights()), layer + kBoundMain);
  Constants wrong = Weights();
  std::swap(wrong["w0"], wrong["w1"]);
  EXPECT_FALSE(BindParams(module, "main", wrong).ok());
}

// The layer of kBoundMain, under a name of its own.
std::string WrittenLayer(const std::string& name) {
  return absl::StrCat(R"(
@I.ir_module
class Module:
    @T.prim_func
    def )",
                      name,
                      R"((X: T.Buffer((1, 784), "float32"),
             W: T.Buffer((128, 784), "float32"),
             B: T.Buffer((128,), "float32"),
             Z: T.Buffer((1, 128), "float32")):
        T.func_attr({"global_symbol": ")",
                      name, R"(", "tir.noalias": True})
        Y = T.alloc_buffer((1, 128), "float32")
        for i, j, k in T.grid(1, 128, 784):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, 128):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                Z[vi, vj] =  Y[vi, vj] + B[vj]
)");
}

constexpr char kMain[] = R"(
    @R.function
    def main(x: R.Tensor((1, 784), "float32"),
             w0: R.Tensor((128, 784), "float32"),
             b0: R.Tensor((128,), "float32"),
             w1: R.Tensor((10, 128), "float32"),
             b1: R.Tensor((10,), "float32")):
        with R.dataflow():
            lv0 = R.call_dps_packed("linear0", (x, w0, b0), R.Tensor((1, 128), dtype="float32"))
            lv1 = R.call_dps_packed("env.relu", (lv0,), R.Tensor((1, 128), dtype="float32"))
            out = R.call_dps_packed("env.linear", (lv1, w1, b1), R.Tensor((1, 10), dtype="float32"))
            R.output(out)
        return out
)";

// What a search found.
constexpr char kSteps[] = R"(def steps(sch):
    b0 = sch.get_block(name="Y", func_name="main")
    b1 = sch.get_block(name="Z", func_name="main")
    sch.annotate(block_or_loop=b0, ann_key="meta_schedule.tiling_structure", ann_val="SSRSRS")
    i, j, k = sch.get_loops(block=b0)
    i_0, i_1, i_2, i_3 = sch.split(loop=i, factors=[1, 1, 1, 1])
    j_0, j_1, j_2, j_3 = sch.split(loop=j, factors=[1, 8, 2, 8])
    k_0, k_1 = sch.split(loop=k, factors=[14, 56])
    sch.reorder(i_0, j_0, i_1, j_1, k_0, i_2, j_2, k_1, i_3, j_3)
    sch.reverse_compute_at(block=b1, loop=j_0, preserve_unit_loops=True)
    fused = sch.fuse(j_3)
    sch.vectorize(loop=fused)
    sch.decompose_reduction(block=b0, loop=k_0)
)";

constexpr char kTunedLayer[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def linear0(X: T.Buffer((1, 784), "float32"), W: T.Buffer((128, 784), "float32"), B: T.Buffer((128,), "float32"), Z: T.Buffer((1, 128), "float32")):
        T.func_attr({"global_symbol": "linear0", "tir.noalias": True})
        # with T.block("root"):
        Y = T.alloc_buffer((1, 128))
        for i_0, j_0 in T.grid(1, 1):
            for i_1, j_1 in T.grid(1, 8):
                for i_2_init, j_2_init, i_3_init in T.grid(1, 2, 1):
                    for j_3_fused_init in T.vectorized(8):
                        with T.block("Y_init"):
                            vi = T.axis.spatial(1, i_0 + i_1 + i_2_init + i_3_init)
                            vj = T.axis.spatial(128, j_0 * 128 + j_1 * 16 + j_2_init * 8 + j_3_fused_init)
                            T.reads()
                            T.writes(Y[vi, vj])
                            T.block_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            Y[vi, vj] = T.float32(0)
                for k_0, i_2, j_2, k_1, i_3 in T.grid(14, 1, 2, 56, 1):
                    for j_3_fused in T.vectorized(8):
                        with T.block("Y_update"):
                            vi = T.axis.spatial(1, i_0 + i_1 + i_2 + i_3)
                            vj = T.axis.spatial(128, j_0 * 128 + j_1 * 16 + j_2 * 8 + j_3_fused)
                            vk = T.axis.reduce(784, k_0 * 56 + k_1)
                            T.reads(Y[vi, vj], X[vi, vk], W[vj, vk])
                            T.writes(Y[vi, vj])
                            T.block_attr({"meta_schedule.tiling_structure": "SSRSRS"})
                            Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
            for ax0, ax1 in T.grid(1, 128):
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [ax0, ax1])
                    T.reads(Y[vi, vj], B[vj])
                    T.writes(Z[vi, vj])
                    Z[vi, vj] = Y[vi, vj] + B[vj]
)";

// The function of one layer, as a module of its own that calls it main.
Module LayerAsMain(const Module& model) {
  Module alone;
  Function f = graph::WithAttr(*model.Find("linear0"), "global_symbol",
                               Attr(std::string("main")));
  f.name = "main";
  alone.functions = {std::move(f)};
  return alone;
}

TEST(GraphWalkthroughs, AFunctionIsScheduledAloneAndPutBack) {
  const Module model = Read(WrittenLayer("linear0") + kMain);
  const Module alone = LayerAsMain(model);
  ExpectShown(alone, WrittenLayer("main"));
  Schedule sch(alone);
  KILN_ASSERT_OK(RunScript(python::Source("steps.py", kSteps), &sch));
  const absl::StatusOr<Module> bound = BindParams(model, "main", Weights());
  KILN_ASSERT_OK(bound);
  graph::BlockBuilder bb(*bound);
  Function tuned =
      graph::WithAttr(*sch.ToModule().Find("main"), "global_symbol",
                      Attr(std::string("linear0")));
  tuned.name = "linear0";
  bb.UpdateFunction("linear0", std::move(tuned));
  ExpectShown(bb.Finish(), std::string(kTunedLayer) + kBoundMain);
}

}  // namespace
}  // namespace kiln
