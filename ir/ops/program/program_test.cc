// Ops that are no computation on tensors: what inference says of a call, as the
// module prints, and what they become:
//
//   y = R.vm.kill_object(o)     y: R.Tuple
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/ops/legalize.h"
#include "kiln/ir/ops/run_lowered.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Module> Inferred(const std::string& params,
                                const std::string& call) {
  const absl::StatusOr<Module> read =
      ParseModule("g.py", "@R.function(pure=False)\ndef main(" + params +
                              "):\n    y = R." + call + "\n    return y\n");
  if (!read.ok()) return read.status();
  return InferModule(*read);
}

constexpr char kParams[] =
    "x: R.Tensor((\"n\", 4), \"float32\"), s: R.Shape([\"n\", 3]), "
    "o: R.Object, b: R.Tensor((), \"bool\"), t: R.Tensor((3,), \"int64\")";

// What the call is found to be.
std::string InfoOf(const std::string& call) {
  const absl::StatusOr<Module> module = Inferred(kParams, call);
  return module.ok() ? PrintModule(*module)
                     : std::string(module.status().message());
}

// Text says so where it is read; a message, or a program in C++, may not.
TEST(ProgramTest, CallsTakeAFunctionAndATupleOfArguments) {
  for (const char* op : {"call_tir", "call_tir_inplace", "call_tir_with_grad",
                         "vm.call_tir_dyn", "call_dps_packed", "make_closure",
                         "invoke_closure", "invoke_pure_closure"}) {
    const graph::Var y("y");
    graph::FunctionFields fields;
    fields.name = "main";
    fields.body = graph::Seq({{false,
                               {{y, graph::CallOp(op, {graph::Extern("f")}, {},
                                                  {graph::Object()})}}}},
                             y);
    Module module;
    module.graph_functions.emplace_back(std::move(fields));
    EXPECT_THAT(InferModule(module).status().message(),
                HasSubstr("a function and a tuple of its arguments"))
        << op;
  }
}

TEST(ProgramTest, MemoryAndItsEnd) {
  EXPECT_THAT(InfoOf("builtin.alloc_tensor(R.shape([2, 3]), "
                     "R.dtype(\"float16\"), R.prim_value(0), "
                     "R.str(\"global\"))"),
              HasSubstr("y: R.Tensor((2, 3), dtype=\"float16\")"));
  EXPECT_THAT(InfoOf("memory.alloc_storage(R.shape([24]), R.prim_value(0), "
                     "R.str(\"global\"), R.dtype(\"float32\"))"),
              HasSubstr("y: R.Object"));
  EXPECT_THAT(InfoOf("memory.alloc_tensor(o, R.prim_value(0), s, "
                     "R.dtype(\"int8\"))"),
              HasSubstr("y: R.Tensor((n, 3), dtype=\"int8\")"));
  EXPECT_THAT(InfoOf("vm.kill_object(o)"), HasSubstr("y: R.Tuple"));
  EXPECT_THAT(InfoOf("memory.ensure_zero_offset(x)"),
              HasSubstr("y: R.Tensor((n, 4), dtype=\"float32\")"));
}

TEST(ProgramTest, ViewsStayInsideOfTheirTensor) {
  // What is left out is as in the tensor.
  EXPECT_THAT(InfoOf("memory.view(x, R.tuple(), R.dtype(\"int32\"), "
                     "R.tuple())"),
              HasSubstr("y: R.Tensor((n, 4), dtype=\"int32\")"));
  EXPECT_THAT(InfoOf("memory.view(x, R.shape([n * 4]), R.tuple(), R.tuple())"),
              HasSubstr("y: R.Tensor((n * 4,), dtype=\"float32\")"));
  EXPECT_THAT(InfoOf("memory.view(t, R.shape([2, 3]), R.dtype(\"int32\"), "
                     "R.prim_value(0))"),
              HasSubstr("y: R.Tensor((2, 3), dtype=\"int32\")"));
  EXPECT_THAT(InfoOf("memory.view(t, R.shape([2]), R.dtype(\"int64\"), "
                     "R.prim_value(16))"),
              HasSubstr("reaches behind"));
  EXPECT_THAT(InfoOf("memory.view(t, R.shape([2]), R.dtype(\"int64\"), "
                     "R.prim_value(-8))"),
              HasSubstr("ahead of the tensor"));
}

TEST(ProgramTest, ShapesAsTensorsAndBack) {
  EXPECT_THAT(InfoOf("shape_to_tensor(s)"),
              HasSubstr("y: R.Tensor((2,), dtype=\"int64\")"));
  EXPECT_THAT(InfoOf("tensor_to_shape(t)"), HasSubstr("y: R.Shape(ndim=3)"));
  EXPECT_THAT(InfoOf("tensor_to_shape(x)"), HasSubstr("1 dimensions"));
  // Nothing of x is read, so that its function takes the extent alone.
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, Inferred(kParams, "size(x)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal, LegalizeOps(module));
  KILN_ASSERT_OK_AND_ASSIGN(const Interpreter size,
                            Interpreter::Create(legal.functions[0]));
  Tensor result(DType::Int(64), {});
  KILN_ASSERT_OK(size.Run({int64_t{3}, &result}));
  EXPECT_THAT(ValuesOf(result), ElementsAre(12));
}

TEST(ProgramTest, EffectsGiveNothingAndConditionsAreBools) {
  EXPECT_THAT(InfoOf("print(x, format=\"{}\")"), HasSubstr("y: R.Tuple"));
  EXPECT_THAT(InfoOf("assert_op(b)"), HasSubstr("y: R.Tuple"));
  EXPECT_THAT(InfoOf("assert_op(x)"), HasSubstr("has to be one bool"));
  EXPECT_THAT(InfoOf("null_value()"), HasSubstr("y: R.Object"));
}

TEST(ProgramTest, NoValueIsAnEmptyTuple) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      ParseModule("g.py",
                  "@R.function\ndef main():\n    y = R.null_value()\n"
                  "    return y\n"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module inferred, InferModule(module));
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal, LegalizeOps(inferred));
  EXPECT_THAT(PrintModule(legal), HasSubstr("R.tuple()"));
}

TEST(ProgramTest, DevicesAndWorkers) {
  EXPECT_THAT(InfoOf("to_vdevice(x, dst_vdevice=\"cuda:0:global\")"),
              HasSubstr("vdevice=\"cuda:0:global\""));
  EXPECT_THAT(InfoOf("ccl.scatter_from_worker0(x, num_workers=2, axis=1)"),
              HasSubstr("y: R.Tensor((n, 2), dtype=\"float32\")"));
  EXPECT_THAT(InfoOf("ccl.scatter_from_worker0(x, num_workers=3, axis=1)"),
              HasSubstr("cannot be shared evenly"));
  EXPECT_THAT(InfoOf("ccl.scatter_from_worker0(x, num_workers=0)"),
              HasSubstr("at least one"));
}

TEST(ProgramTest, ReductionsAndGathersOfWorkers) {
  EXPECT_THAT(InfoOf("ccl.allgather(x, num_workers=2)"),
              HasSubstr("y: R.Tensor((n * 2, 4), dtype=\"float32\")"));
  EXPECT_THAT(InfoOf("ccl.allreduce(x, op_type=\"xor\")"),
              HasSubstr("sum, prod, min, max or avg"));
  KILN_ASSERT_OK_AND_ASSIGN(
      const Module module,
      Inferred(kParams, "ccl.allreduce(x, op_type=\"max\")"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal, LegalizeOps(module));
  EXPECT_THAT(PrintModule(legal),
              HasSubstr("\"runtime.disco.allreduce\", (x, R.shape([3]), "
                        "R.prim_value(1))"));
}

TEST(ProgramTest, CollectivesBecomePackedCallsAndHintsVanish) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module collective,
                            Inferred(kParams, "ccl.broadcast_from_worker0(x)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module legal, LegalizeOps(collective));
  EXPECT_THAT(PrintModule(legal),
              HasSubstr("call_dps_packed(\"runtime.disco.broadcast_from_"
                        "worker0\", (x, "));
  KILN_ASSERT_OK_AND_ASSIGN(const Module hint,
                            Inferred(kParams, "grad.no_grad(x)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Module gone, LegalizeOps(hint));
  EXPECT_THAT(PrintModule(gone), ::testing::Not(HasSubstr("no_grad")));
}

}  // namespace
}  // namespace kiln
