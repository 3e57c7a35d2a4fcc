// Functions that prepare a constant, called with constants and with others. The
// program has to compute the same, and the number of preparations that ran is
// known:
//
//   a = dense(x, W), b = dense(x, W)    W is turned once
#include "kiln/ir/transform/graph/constants/prepare_constants.h"

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/layout_free.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/transform/graph/pass_testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// dense(x, w, y): y = x * turned(w), where turning is marked as a preparation,
// and add reads w, too. `main` is the body of a graph function over x.
std::string Program(const std::string& main) {
  return absl::StrCat(R"(
@I.ir_module
class M:
    @T.prim_func
    def dense(x: T.Buffer((2, 3), "float32"), w: T.Buffer((4, 3), "float32"), y: T.Buffer((2, 4), "float32")):
        T.func_attr({"layout_free_buffers": [1]})
        turned = T.alloc_buffer((3, 4))
        for k, j in T.grid(3, 4):
            with T.block("turned"):
                vk, vj = T.axis.remap("SS", [k, j])
                T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
                turned[vk, vj] = w[vj, vk]
        for i, j, k in T.grid(2, 4, 3):
            with T.block("y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    y[vi, vj] = T.float32(0)
                y[vi, vj] = y[vi, vj] + x[vi, vk] * turned[vk, vj]
    @T.prim_func
    def both(x: T.Buffer((4, 3), "float32"), w: T.Buffer((4, 3), "float32"), y: T.Buffer((4, 3), "float32")):
        T.func_attr({"layout_free_buffers": [1]})
        twice = T.alloc_buffer((4, 3))
        for i, j in T.grid(4, 3):
            with T.block("twice"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"meta_schedule.layout_rewrite_preproc": True})
                twice[vi, vj] = w[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 3):
            with T.block("y"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] + w[vi, vj] * twice[vi, vj]
    @R.function
    def main(x: R.Tensor((2, 3), "float32"), v: R.Tensor((4, 3), "float32")):
        cls = M
)",
                      main);
}

constexpr char kW[] =
    "R.const([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], "
    "[10.0, 11.0, 12.0]], \"float32\")";

std::string Dense(const std::string& name, const std::string& args) {
  return absl::StrCat("        ", name, " = R.call_tir(cls.dense, (", args,
                      "), out_sinfo=R.Tensor((2, 4), \"float32\"))\n");
}

std::string Both(const std::string& name, const std::string& args) {
  return absl::StrCat("        ", name, " = R.call_tir(cls.both, (", args,
                      "), out_sinfo=R.Tensor((4, 3), \"float32\"))\n");
}

std::vector<double> Computed(const Module& module) {
  Tensor x(DType::Float(32), {2, 3}), v(DType::Float(32), {4, 3});
  for (int i = 0; i < 6; ++i) x.Set(i, i * 0.5 - 1);
  for (int i = 0; i < 12; ++i) v.Set(i, 3 - i);
  const absl::StatusOr<graph::Value> result = graph::InterpretGraph(
      module, "main",
      {graph::TensorOf(std::move(x)), graph::TensorOf(std::move(v))});
  KILN_EXPECT_OK(result);
  std::vector<double> elements;
  const auto* tensor =
      result.ok() ? std::get_if<graph::TensorValue>(&*result) : nullptr;
  for (int64_t i = 0; tensor && i < (*tensor)->size(); ++i) {
    elements.push_back((*tensor)->GetReal(i));
  }
  return elements;
}

struct Prepared {
  Module module;
  int runs = 0;  // of preparations
};

// Checks that the program computes the same as before.
Prepared PrepareProgram(const std::string& text) {
  Prepared result;
  const absl::StatusOr<Module> module = InferModule(ReadModule(text));
  KILN_EXPECT_OK(module);
  absl::StatusOr<Module> prepared = PrepareConstants(
      *module, [&](const Function& f, std::vector<Tensor>& args) {
        ++result.runs;
        return Interpret(f, args);
      });
  KILN_EXPECT_OK(prepared);
  result.module = *std::move(prepared);
  const std::vector<double> wanted = Computed(*module);
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(Computed(result.module), wanted);
  return result;
}

Prepared Prepare(const std::string& main) {
  return PrepareProgram(Program(main));
}

TEST(PrepareConstantsTest, ConstantsAreLaidOutAhead) {
  const Prepared prepared =
      Prepare(Dense("y", absl::StrCat("x, ", kW)) + "        return y\n");
  EXPECT_EQ(prepared.runs, 1);
  const Function& dense = *prepared.module.Find("dense");
  ASSERT_EQ(dense.params.size(), 3u);
  EXPECT_EQ(dense.params[1].buffer->name, "turned");
  EXPECT_EQ(dense.params[2].buffer->name, "y");
}

TEST(PrepareConstantsTest, OneConstantIsPreparedOnce) {
  const auto twice = [](const std::string& a, const std::string& b) {
    return Prepare(Dense("a", "x, " + a) + Dense("b", "x, " + b) +
                   "        y = R.add(a, b)\n        return y\n")
        .runs;
  };
  const std::string w = kW;
  EXPECT_EQ(twice(w, w), 1);
  EXPECT_EQ(twice(w, absl::StrReplaceAll(w, {{"7.0", "7.5"}})), 2);
}

TEST(PrepareConstantsTest, OtherExtentsMayBeSymbolic) {
  const std::string text =
      Program(Dense("y", absl::StrCat("x, ", kW)) + "        return y\n");
  const Prepared prepared = PrepareProgram(absl::StrReplaceAll(
      text,
      {{"def dense(x: T.Buffer((2, 3), \"float32\")", "def dense(a: T.handle"},
       {"y: T.Buffer((2, 4), \"float32\")):",
        "b: T.handle):\n        n = T.int64()\n"
        "        x = T.match_buffer(a, (n, 3))\n"
        "        y = T.match_buffer(b, (n, 4))"},
       {"T.grid(2, 4, 3)", "T.grid(n, 4, 3)"}}));
  EXPECT_EQ(prepared.runs, 1);
  EXPECT_EQ(prepared.module.Find("dense")->params[1].buffer->name, "turned");
}

// What is prepared stands behind what is read, ahead of what is written.
TEST(PrepareConstantsTest, AConstantThatTheRestReadsStays) {
  const Prepared prepared =
      Prepare(Both("y", absl::StrCat("v, ", kW)) + "        return y\n");
  const Function& both = *prepared.module.Find("both");
  ASSERT_EQ(both.params.size(), 4u);
  EXPECT_EQ(both.params[1].buffer->name, "w");
  EXPECT_EQ(both.params[2].buffer->name, "twice");
  EXPECT_EQ(both.params[3].buffer->name, "y");
}

TEST(PrepareConstantsTest, WhatLiesInMemoryIsKnownAfterwards) {
  const auto cold = [](const std::string& function, const std::string& main) {
    const std::string text = absl::StrReplaceAll(
        Program(main),
        {{"{\"layout_free", "{\"cold_constants\": True, \"layout_free"}});
    return ColdParams(*PrepareProgram(text).module.Find(function));
  };
  const std::string end = "        return y\n";
  EXPECT_THAT(cold("dense", Dense("y", absl::StrCat("x, ", kW)) + end),
              testing::ElementsAre(1));
  EXPECT_THAT(cold("both", Both("y", absl::StrCat("v, ", kW)) + end),
              testing::ElementsAre(1, 2));
}

TEST(PrepareConstantsTest, OtherArgumentsArePreparedInEachCall) {
  const Prepared prepared = Prepare(Dense("y", "x, v") + "        return y\n");
  EXPECT_EQ(prepared.runs, 0);
  EXPECT_EQ(prepared.module.Find("dense")->params[1].buffer->name, "w");
}

TEST(PrepareConstantsTest, ErrorsNameTheFunction) {
  const absl::StatusOr<Module> module = InferModule(ReadModule(
      Program(Dense("y", absl::StrCat("x, ", kW)) + "        return y\n")));
  KILN_ASSERT_OK(module);
  EXPECT_THAT(PrepareConstants(*module,
                               [](const Function&, std::vector<Tensor>&) {
                                 return absl::InternalError("no memory");
                               })
                  .status()
                  .message(),
              HasSubstr("constants of dense: no memory"));
}

}  // namespace
}  // namespace kiln
