// Graph functions from text to values: inferred, legalized, compiled, written,
// read back and run, against the interpreter of graph functions. Each test is a
// program and its arguments; RunSame compares both and gives the result.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "kiln/base/blob.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/graph_interp/graph_interp.h"
#include "kiln/ir/ops/infer.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/ir/type/tolerance.h"
#include "kiln/tools/support/graph_values.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/library/kernel_fault.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/builtins.h"
#include "kiln/vm/machine/machine.h"
#include "kiln/vm/ndarray/compare.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

using testing::HasSubstr;

struct Outcome {
  absl::StatusOr<vm::Value> compiled;
  absl::StatusOr<vm::Value> interpreted;
};

absl::StatusOr<vm::Value> Compiled(const Module& module,
                                   const std::vector<vm::Value>& args,
                                   const vm::FunctionTable& functions) {
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  KILN_ASSIGN_OR_RETURN(const vm::Executable built,
                        CompileModel(prepared, target, KeepSchedules()));
  KILN_ASSIGN_OR_RETURN(const Blob bytes, Blob::Copy(vm::Serialize(built)));
  KILN_ASSIGN_OR_RETURN(vm::Executable read, vm::Parse(bytes));
  EXPECT_TRUE(read == built);
  ThreadPool pool;
  KernelHost host(&pool);
  KILN_ASSIGN_OR_RETURN(auto machine,
                        vm::Machine::Create(std::move(read), functions, &host));
  // Twice: a frame and memory are used again.
  KILN_RETURN_IF_ERROR(machine->Call("main", args).status());
  return machine->Call("main", args);
}

absl::StatusOr<vm::Value> Interpreted(const Module& module,
                                      const std::vector<vm::Value>& args,
                                      const vm::FunctionTable& functions) {
  KILN_ASSIGN_OR_RETURN(const Module inferred, InferModule(module));
  std::vector<graph::Value> values;
  for (const vm::Value& arg : args) {
    KILN_ASSIGN_OR_RETURN(graph::Value value, ToGraphValue(arg));
    values.push_back(std::move(value));
  }
  vm::FunctionTable known = functions;
  known.AddAll(vm::Builtins());
  const graph::PackedTable packed = ToPackedTable(known);
  graph::GraphInterpOptions options;
  options.packed = &packed;
  KILN_ASSIGN_OR_RETURN(
      const graph::Value result,
      graph::InterpretGraph(inferred, "main", values, options));
  return ToVmValue(result);
}

Outcome RunBoth(const std::string& text, const std::vector<vm::Value>& args,
                const vm::FunctionTable& functions = {}) {
  const absl::StatusOr<Module> module = ParseModule("m.py", text);
  if (!module.ok()) return {module.status(), module.status()};
  return {Compiled(*module, args, functions),
          Interpreted(*module, args, functions)};
}

vm::Value Random(std::vector<int64_t> shape, DType dtype = DType::Float(32),
                 uint64_t seed = 1) {
  NDArray array = *NDArray::Empty(std::move(shape), dtype);
  FillRandom(array, seed);
  return array;
}

vm::Value BoolOf(bool value) {
  NDArray array = *NDArray::Empty({}, DType::Bool());
  *array.data_as<uint8_t>() = value;
  return array;
}

void ExpectSame(const vm::Value& got, const vm::Value& expected) {
  if (const auto* tuple = std::get_if<vm::Tuple>(&got)) {
    const auto& other = std::get<vm::Tuple>(expected);
    ASSERT_EQ((*tuple)->fields.size(), other->fields.size());
    for (size_t i = 0; i < other->fields.size(); ++i) {
      ExpectSame((*tuple)->fields[i], other->fields[i]);
    }
    return;
  }
  const auto* array = std::get_if<NDArray>(&got);
  if (!array) {
    EXPECT_EQ(vm::Describe(got), vm::Describe(expected));
    return;
  }
  const absl::StatusOr<CompareReport> report =
      Compare(*array, std::get<NDArray>(expected), Tolerance{1e-5, 1e-5});
  KILN_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
}

// What both compute, which has to be the same.
vm::Value RunSame(const std::string& text, const std::vector<vm::Value>& args,
                  const vm::FunctionTable& functions = {}) {
  Outcome outcome = RunBoth(text, args, functions);
  KILN_EXPECT_OK(outcome.compiled);
  KILN_EXPECT_OK(outcome.interpreted);
  if (!outcome.compiled.ok() || !outcome.interpreted.ok()) return vm::Value();
  ExpectSame(*outcome.compiled, *outcome.interpreted);
  return *outcome.compiled;
}

std::string ShapeText(const vm::Value& value) { return vm::Describe(value); }

TEST(GraphTest, TwoLayersOfOps) {
  const vm::Value y = RunSame(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 784), "float32"), w0: R.Tensor((128, 784), "float32"), b0: R.Tensor((128,), "float32"), w1: R.Tensor((10, 128), "float32"), b1: R.Tensor((10,), "float32")):
        with R.dataflow():
            lv0 = R.add(R.matmul(x, R.permute_dims(w0)), b0)
            lv1 = R.nn.relu(lv0)
            out = R.add(R.matmul(lv1, R.permute_dims(w1)), b1)
            R.output(out)
        return out
)",
                              {Random({1, 784}), Random({128, 784}),
                               Random({128}), Random({10, 128}), Random({10})});
  EXPECT_EQ(ShapeText(y), "float32[1, 10]");
}

TEST(GraphTest, SymbolicExtents) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor((3,), "float32")):
        n = T.int64()
        z = R.add(x, y)
        s = R.sum(z, axis=1)
        return (z, s, R.shape([n * 2, n + 1]))
)";
  for (int64_t n : {1, 5}) {
    RunSame(kText, {Random({n, 3}), Random({3})});
  }
}

TEST(GraphTest, BranchesAndRecursion) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        if c:
            a = R.exp(x)
            y = R.add(a, a)
        else:
            y = R.negative(x)
        z = R.add(y, x)
        return z
)";
  for (bool c : {false, true}) RunSame(kText, {BoolOf(c), Random({4})});
}

TEST(GraphTest, FunctionsCallEachOther) {
  RunSame(R"(
@I.ir_module
class Module:
    @R.function(private=True)
    def twice(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = cls.twice(x)
        z = cls.twice(y)
        return (z, y, (x,))
)",
          {Random({4})});
}

TEST(GraphTest, CastsTellDimensions) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n, 3), "float32"))
        z = R.add(y, y)
        return z
)";
  RunSame(kText, {Random({2, 3})});
  const Outcome wrong = RunBoth(kText, {Random({2, 4})});
  EXPECT_THAT(wrong.compiled.status().message(),
              HasSubstr("main: y: an extent is 4 where 3 is expected"));
  EXPECT_TRUE(absl::IsInvalidArgument(wrong.interpreted.status()));
}

TEST(GraphTest, PackedFunctionsWriteAndGive) {
  vm::FunctionTable functions;
  functions.Add(
      "env.double",
      [](absl::Span<const vm::Value> args) -> absl::StatusOr<vm::Value> {
        const NDArray& from = std::get<NDArray>(args[0]);
        const NDArray& to = std::get<NDArray>(args[1]);
        for (int64_t i = 0; i < from.num_elements(); ++i) {
          to.data_as<float>()[i] = 2 * from.data_as<float>()[i];
        }
        return vm::Value();
      });
  functions.Add(
      "env.first",
      [](absl::Span<const vm::Value> args) -> absl::StatusOr<vm::Value> {
        KILN_ASSIGN_OR_RETURN(NDArray one,
                              NDArray::Empty({1}, DType::Float(32)));
        *one.data_as<float>() = *std::get<NDArray>(args[0]).data_as<float>();
        return vm::Value(one);
      });
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_dps_packed("env.double", (x,), R.Tensor((4,), dtype="float32"))
        z = R.call_pure_packed("env.first", y, sinfo_args=(R.Tensor((1,), dtype="float32"),))
        w = R.add(y, z)
        return w
)";
  RunSame(kText, {Random({4})}, functions);
  const Outcome missing = RunBoth(kText, {Random({4})});
  EXPECT_THAT(missing.compiled.status().message(),
              HasSubstr("calls the packed function env.double"));
}

TEST(GraphTest, ExtentsThatTheDataTell) {
  RunSame(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "int32")):
        n = T.int64()
        y = R.nonzero(x)
        z = R.match_cast(y, R.Tensor((2, n), "int64"))
        w = R.add(z, z)
        u = R.unique(x, R.prim_value(True), R.prim_value(False), R.prim_value(True), R.prim_value(True))
        return (w, u, R.shape([n]))
)",
          {[] {
            NDArray x = *NDArray::Zeros({2, 3}, DType::Int(32));
            x.data_as<int32_t>()[1] = 7;
            x.data_as<int32_t>()[5] = -1;
            return vm::Value(x);
          }()});
}

TEST(GraphTest, LocalFunctionsSeeWhatIsAround) {
  RunSame(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32"), y: R.Tensor((2,), "float32")):
        @R.function
        def inner(z: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            s: R.Tensor((2,), "float32") = R.add(z, y)
            return s
        w = inner(x)
        v = inner(w)
        return (v, w)
)",
          {Random({2}), Random({2})});
}

// Memory is used again, but not while anybody holds it.
TEST(GraphTest, ParametersTellDimensionsInAnyOrder) {
  RunSame(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        @R.function
        def twice(p: R.Tensor((n * 2, 4), "float32")) -> R.Tensor((n, 8), "float32"):
            q = R.reshape(p, R.shape([n, 8]))
            return q
        y = R.concat((x, x), axis=0)
        z = twice(y)
        return z
)",
          {Random({3, 4})});
}

TEST(GraphTest, ExtentsKnownInNumberOnlyAreToldByValues) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2), s: R.Shape(ndim=3),
             t: R.Tensor((2,), "int64")):
        with R.dataflow():
            y = R.reshape(x, s)
            z = R.nn.relu(R.add(y, R.const(0.25, "float32")))
            u = R.broadcast_to(R.sum(z), R.tensor_to_shape(t))
            R.output(z, u)
        return (z, u, R.zeros(s, "int32"))
)";
  NDArray to = std::get<NDArray>(Random({2}, DType::Int(64)));
  to.elements<int64_t>()[0] = 3;
  to.elements<int64_t>()[1] = 0;
  RunSame(kText, {Random({6, 4}), vm::MakeShape({2, 3, 4}), to});
  to.elements<int64_t>()[1] = 5;
  RunSame(kText, {Random({6, 4}), vm::MakeShape({1, 24, 1}), to});
  const Outcome wrong =
      RunBoth(kText, {Random({6, 4}), vm::MakeShape({2, 3, 5}), to});
  EXPECT_FALSE(wrong.compiled.ok());
  EXPECT_FALSE(wrong.interpreted.ok());
}

// A kernel that follows indices from its data, which nobody checks in
// compiled code.
constexpr char kFaulty[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def pick(x: T.Buffer((4,), "float32"), at: T.Buffer((40,), "int64"),
             y: T.Buffer((40,), "float32")):
        for i in T.$0(40):
            with T.block("y"):
                v = T.axis.spatial(40, i)
                y[v] = x[at[v]]
    @R.function
    def main(x: R.Tensor((4,), "float32"), at: R.Tensor((40,), "int64")):
        cls = Module
        z = R.call_tir(cls.pick, (x, at), out_sinfo=R.Tensor((40,), "float32"))
        return z
)";

TEST(GraphTest, AFaultOfAKernelIsAnErrorThatNamesTheCall) {
  const KernelFaultGuard guard;
  for (const char* kind : {"serial", "parallel"}) {
    NDArray at = std::get<NDArray>(Random({40}, DType::Int(64)));
    for (int64_t& index : at.elements<int64_t>()) index = 1;
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module module,
        ParseModule("m.py", absl::Substitute(kFaulty, kind)));
    KILN_ASSERT_OK(Compiled(module, {Random({4}), at}, {}));
    at.elements<int64_t>()[39] = int64_t{1} << 40;
    const auto faulty = Compiled(module, {Random({4}), at}, {});
    EXPECT_TRUE(absl::IsOutOfRange(faulty.status())) << faulty.status();
    EXPECT_THAT(faulty.status().message(),
                HasSubstr("main: z: kernel pick reached outside"));
  }
}

TEST(GraphTest, AConstantWithoutItsElementsIsNamed) {
  const char* kBody[] = {"R.permute_dims(metadata[\"Constant\"][3])",
                         "R.add(x, metadata[\"Constant\"][3])"};
  for (const char* body : kBody) {
    KILN_ASSERT_OK_AND_ASSIGN(
        const Module module,
        ParseModule("m.py", absl::StrCat(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = )",
                                         body, "\n        return y\n")));
    KILN_ASSERT_OK_AND_ASSIGN(const Module prepared, PrepareModel(module));
    KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("llvm"));
    const absl::Status refused =
        CompileModel(prepared, target, KeepSchedules()).status();
    EXPECT_TRUE(absl::IsInvalidArgument(refused));
    EXPECT_THAT(refused.message(), HasSubstr("y: the elements of constant 3"));
  }
}

TEST(GraphTest, ResultsOfEarlierCallsStay) {
  KILN_ASSERT_OK_AND_ASSIGN(const Module module, ParseModule("m.py", R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        return (y, R.add(y, y))
)"));
  KILN_ASSERT_OK_AND_ASSIGN(const Target target, ParseTarget("llvm"));
  const absl::StatusOr<Module> prepared =
      PrepareModel(module, {.fusion = Fusion::kNone});
  KILN_ASSERT_OK(prepared);
  absl::StatusOr<vm::Executable> executable =
      CompileModel(*prepared, target, KeepSchedules());
  KILN_ASSERT_OK(executable);
  ThreadPool pool;
  KernelHost host(&pool);
  KILN_ASSERT_OK_AND_ASSIGN(
      const auto machine,
      vm::Machine::Create(*std::move(executable), {}, &host));
  std::vector<vm::Value> inputs, results;
  for (int i = 0; i < 20; ++i) {
    inputs.push_back(Random({4}, DType::Float(32), i));
    const absl::StatusOr<vm::Value> result =
        machine->Call("main", {inputs.back()});
    KILN_ASSERT_OK(result);
    results.push_back(*result);
  }
  for (int i = 0; i < 20; ++i) {
    const auto x = std::get<NDArray>(inputs[i]).elements<float>();
    const auto& fields = std::get<vm::Tuple>(results[i])->fields;
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(std::get<NDArray>(fields[0]).elements<float>()[k], 2 * x[k]);
      EXPECT_EQ(std::get<NDArray>(fields[1]).elements<float>()[k], 4 * x[k]);
    }
  }
}

TEST(GraphTest, WrongArgumentsAreNamed) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n",), "float32")):
        z = R.sum(x, axis=1)
        w = R.add(z, y)
        return w
)";
  EXPECT_THAT(
      RunBoth(kText, {Random({2, 3}), Random({3})}).compiled.status().message(),
      HasSubstr("main: y: an extent is 3 where n = 2 is expected"));
  EXPECT_THAT(RunBoth(kText, {Random({2, 3})}).compiled.status().message(),
              HasSubstr("main takes 2 arguments (x, y), got 1"));
  EXPECT_THAT(RunBoth(kText, {Random({2, 3}), Random({2}, DType::Int(32))})
                  .compiled.status()
                  .message(),
              HasSubstr("expected a tensor of float32, got int32[2]"));
}

TEST(GraphTest, ReductionsOfNothingGiveTheirIdentity) {
  const vm::Value y = RunSame(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, "n", "m"), "float32")):
        a = R.sum(x, axis=1)
        b = R.prod(x, axis=2)
        c = R.min(x, axis=[0, 2])
        return (a, b, c)
)",
                              {Random({2, 3, 0})});
  const auto& fields = std::get<vm::Tuple>(y)->fields;
  EXPECT_EQ(ShapeText(fields[1]), "float32[2, 3]");
  EXPECT_EQ(std::get<NDArray>(fields[1]).data_as<float>()[5], 1);
}

// Of static extents as of those that are 0 in a call.
TEST(GraphTest, SearchesOfNothingGiveTheFirstPlace) {
  for (const char* shape : {"(3, 0, 2)", "(3, \"n\", 2)"}) {
    for (const char* op : {"argmax", "argmin"}) {
      RunSame(absl::Substitute(R"(
@R.function
def main(x: R.Tensor($0, "float32")):
    y = R.$1(x, axis=1, keepdims=True)
    z = R.$1(x)
    return (y, z)
)",
                               shape, op),
              {Random({3, 0, 2})});
    }
  }
}

TEST(GraphTest, ExtentsThatDoNotMeetAreRefusedAheadOfTheKernel) {
  const Outcome outcome = RunBoth(R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "c", 9, 9), "float32"), w: R.Tensor((4, "d", 3, 3), "float32")):
        y = R.nn.conv2d(x, w)
        return y
)",
                                  {Random({1, 3, 9, 9}), Random({4, 5, 3, 3})});
  EXPECT_THAT(outcome.compiled.status().message(),
              HasSubstr("an extent is 3 where d = 5 is expected"));
  EXPECT_FALSE(outcome.interpreted.ok());
}

// Results that inference leaves open until extents are compared, and ops of
// these results.
TEST(GraphTest, JoinsOfExtentsThatMeetAtTheCall) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", "k"), "float32")):
        a = R.concat((x, y), axis=1)
        b = R.exp(a)
        c = R.concat((y, b, x), axis=-1)
        return (a, c)
)";
  for (int64_t n : {0, 1, 2, 3, 7, 33}) {
    for (int64_t k : {1, 4, 5})
      RunSame(kText, {Random({n, 4}), Random({n, k})});
  }
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{2, 3}, {1, 5}}) {
    const Outcome outcome = RunBoth(kText, {Random({n, 4}), Random({m, 4})});
    EXPECT_THAT(outcome.compiled.status().message(),
                HasSubstr(absl::StrCat("an extent is ", n, " where m = ", m)));
    EXPECT_THAT(outcome.interpreted.status().message(),
                HasSubstr(absl::StrCat("differ, ", n, " and ", m)));
  }
}

TEST(GraphTest, StacksAndBatchesOfExtentsThatMeetAtTheCall) {
  constexpr char kText[] = R"(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("b", 2, 3), "float32"), y: R.Tensor(("c", 3, "k"), "float32"), z: R.Tensor(("d", 2, "l"), "float32")):
        a = R.matmul(x, y)
        s = R.stack((z, a), axis=1)
        t = R.sum(s, axis=[0])
        return (a, s, t)
)";
  for (int64_t b : {0, 1, 2, 5}) {
    RunSame(kText, {Random({b, 2, 3}), Random({b, 3, 7}), Random({b, 2, 7})});
  }
  const auto message = [&](int64_t b, int64_t c, int64_t d, int64_t l) {
    return std::string(RunBoth(kText, {Random({b, 2, 3}), Random({c, 3, 7}),
                                       Random({d, 2, l})})
                           .compiled.status()
                           .message());
  };
  EXPECT_THAT(message(2, 3, 2, 7), HasSubstr("is 2 where c = 3"));
  EXPECT_THAT(message(3, 2, 3, 7), HasSubstr("is 3 where c = 2"));
  EXPECT_THAT(message(2, 2, 4, 7), HasSubstr("is 4 where a_0 = 2"));
  EXPECT_THAT(message(2, 2, 2, 9), HasSubstr("is 9 where a_2 = 7"));
}

TEST(GraphTest, WhatATensorIsLikeIsANumber) {
  RunSame(R"(
@R.function
def main(x: R.Tensor(("n", 4, "m"), "float16"), y: R.Tensor(ndim=2, dtype="int8")):
    a = R.inspect.tensor_shape_i(x, 2)
    b = R.inspect.tensor_stride_i(x, 0)
    c = R.inspect.tensor_ndim(x)
    d = R.inspect.tensor_dtype_code(x)
    e = R.inspect.tensor_dtype_bits(x)
    f = R.inspect.tensor_dtype_lanes(x)
    g = R.inspect.tensor_elem_offset(x)
    h = R.inspect.tensor_byte_offset(y)
    i = R.inspect.tensor_shape_i(y, 1)
    j = R.inspect.tensor_stride_i(y, 0)
    return (a, b, c, d, e, f, g, h, i, j)
)",
          {Random({3, 4, 5}, DType::Float(16)), Random({2, 3}, DType::Int(8))});
}

}  // namespace
}  // namespace kiln
