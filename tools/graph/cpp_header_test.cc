#include "kiln/tools/graph/cpp_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/graph/tensor_functions.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/testing.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = R"(
@I.ir_module
class Module:
    @T.prim_func
    def scale(a: T.handle, k: T.int64, b: T.handle):
        n = T.int64()
        m = T.int64()
        A = T.match_buffer(a, (n, n + m), "int8")
        B = T.match_buffer(b, (n, n + m), "int64")
        for i, j in T.grid(n, n + m):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.Cast("int64", A[vi, vj]) * k

    @T.prim_func(private=True)
    def hidden(A: T.Buffer((2,), "float32"), B: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("B"):
                vi = T.axis.spatial(2, i)
                B[vi] = A[vi]
)";

absl::StatusOr<vm::Executable> Compiled() {
  const absl::StatusOr<Module> module = ParseModule("m.py", kProgram);
  if (!module.ok()) return module.status();
  vm::Executable executable;
  const absl::Status status =
      AddTensorFunctions(*module, HostTarget(), KeepSchedules(), &executable);
  if (!status.ok()) return status;
  return executable;
}

TEST(TensorFunctionsTest, ThoseThatAreNotPrivateCanBeCalled) {
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable executable, Compiled());
  ASSERT_EQ(executable.functions.size(), 1);
  EXPECT_EQ(vm::SignatureText(executable, executable.functions[0]),
            "scale(A: tensor int8[rank 2], k: number int64 k, B: tensor "
            "int64[rank 2])");
  EXPECT_THAT(vm::ToString(executable), HasSubstr("kernel scale(%0, %1, %2)"));
}

TEST(CppHeaderTest, ArgumentsHaveTypes) {
  KILN_ASSERT_OK_AND_ASSIGN(const vm::Executable executable, Compiled());
  EXPECT_THAT(
      CppHeader(executable, "scaling", "kiln_model_scaling"),
      IsOkAndHolds(AllOf(
          HasSubstr("#ifndef KILN_MODULE_SCALING_H_"),
          HasSubstr("extern \"C\" const char kiln_model_scaling[];"),
          HasSubstr("namespace scaling {"),
          HasSubstr("::kiln::rt::Result scale(::kiln::rt::Tensor<const "
                    "int8_t, 2> A, int64_t k, ::kiln::rt::Tensor<int64_t, 2> "
                    "B) {"),
          HasSubstr("return Call(\"scale\", {A, k, B});"))));
}

TEST(CppHeaderTest, WhatHasNoTypeIsAsInC) {
  KILN_ASSERT_OK_AND_ASSIGN(
      const std::string header,
      CppHeader(vm::SmallExecutable(), "small", "kiln_small"));
  EXPECT_THAT(header,
              HasSubstr("::kiln::rt::Result main(::kiln::rt::Tensor<"
                        "const float, 2> x, const KilnArgument& flag)"));
  EXPECT_THAT(header, Not(HasSubstr("twice")));
}

TEST(CppHeaderTest, WhatHasNoNameIsRefused) {
  const auto refused = StatusIs(absl::StatusCode::kInvalidArgument,
                                HasSubstr("is no name in C++"));
  EXPECT_THAT(CppHeader({}, "class", "kiln_x"), refused);
  EXPECT_THAT(CppHeader({}, "x", ""), refused);
  EXPECT_THAT(CppHeader({}, "a-b", "kiln_x"), refused);
  vm::Executable executable = vm::SmallExecutable();
  executable.functions[0].name = "delete";
  EXPECT_THAT(CppHeader(executable, "x", "kiln_x"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("\"delete\" has no name in C++")));
}

}  // namespace
}  // namespace kiln
