// Profiles of small models: what each call moves and computes, beside formulas.
#include "kiln/tools/graph/measure_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/target/target.h"
#include "kiln/ir/tensor/module.h"
#include "kiln/ir/text/reader/reader.h"
#include "kiln/tools/graph/profile.h"
#include "kiln/tools/support/model.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/machine/function_table.h"
#include "kiln/vm/machine/loaded_executable.h"
#include "kiln/vm/machine/value.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr char kLayers[] = R"py(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 24), "float32"), w: R.Tensor((24, 40), "float32"), v: R.Tensor((40, 8), "float32")):
        h = R.nn.relu(R.matmul(x, w))
        y = R.matmul(h, v)
        return y
)py";

constexpr char kPacked[] = R"py(
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "float32")):
        y = R.call_pure_packed("test.same", x, sinfo_args=(R.Tensor((6,), "float32"),))
        z = R.add(y, y)
        return z
)py";

constexpr char kBranch[] = R"py(
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((6,), "float32")):
        c = R.call_packed("test.turn", x, sinfo_args=(R.Tensor((), "bool"),))
        if c:
            y = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y
)py";

NDArray Zeros(std::vector<int64_t> shape) {
  return *NDArray::Zeros(std::move(shape), DType::Float(32));
}

absl::StatusOr<Profile> ProfileOf(const std::string& text,
                                  const std::vector<vm::Value>& args,
                                  const vm::FunctionTable& functions,
                                  bool scheduled) {
  KILN_ASSIGN_OR_RETURN(const Module module, ParseModule("m.py", text));
  KILN_ASSIGN_OR_RETURN(const Target target, ParseTarget("llvm"));
  KILN_ASSIGN_OR_RETURN(const Module prepared, PrepareModel(module));
  KILN_ASSIGN_OR_RETURN(
      vm::Executable executable,
      CompileModel(prepared, target,
                   scheduled ? DefaultSchedules(target) : KeepSchedules()));
  KILN_ASSIGN_OR_RETURN(const auto loaded,
                        vm::LoadedExecutable::Load(std::move(executable)));
  ThreadPool pool;
  const KernelHost host(&pool, 1);
  return MeasureProfile(loaded, functions, host, "main", args);
}

TEST(MeasureProfileTest, LayersOfAnyBatch) {
  for (const bool scheduled : {false, true}) {
    for (const int64_t n : {1, 2, 31}) {
      KILN_ASSERT_OK_AND_ASSIGN(
          const Profile profile,
          ProfileOf(kLayers, {Zeros({n, 24}), Zeros({24, 40}), Zeros({40, 8})},
                    {}, scheduled));
      ASSERT_EQ(profile.calls.size(), 2);
      const ProfiledCall &first = profile.calls[0], &second = profile.calls[1];
      EXPECT_THAT(first.flop, Optional(n * 40 * (2 * 24 + 1))) << n;
      EXPECT_THAT(second.flop, Optional(n * 8 * 2 * 40)) << n;
      EXPECT_EQ(first.bytes_read, 4 * (n * 24 + 24 * 40));
      EXPECT_EQ(first.bytes_written, 4 * n * 40);
      EXPECT_EQ(second.bytes_written, 4 * n * 8);
      EXPECT_FALSE(first.flop_is_bound);
      EXPECT_EQ(second.variable, "y");
      EXPECT_GT(second.seconds, 0);
      EXPECT_GE(second.start_s, first.start_s + first.typical_s);
      EXPECT_GE(profile.runs, 5);
      EXPECT_GT(profile.run_s, 0);
      EXPECT_EQ(profile.threads, 1);
    }
  }
}

TEST(MeasureProfileTest, PackedFunctionsTellBytes) {
  vm::FunctionTable functions;
  functions.Add("test.same", [](absl::Span<const vm::Value> args) {
    return absl::StatusOr<vm::Value>(args[0]);
  });
  KILN_ASSERT_OK_AND_ASSIGN(const Profile profile,
                            ProfileOf(kPacked, {Zeros({6})}, functions, false));
  ASSERT_EQ(profile.calls.size(), 2);
  EXPECT_EQ(profile.calls[0].callee, "test.same");
  EXPECT_EQ(profile.calls[0].bytes(), 24);
  EXPECT_FALSE(profile.calls[0].flop);
  EXPECT_THAT(profile.calls[1].flop, Optional(6));
}

TEST(MeasureProfileTest, RunsThatDifferHaveNoProfile) {
  vm::FunctionTable functions;
  functions.Add("test.turn",
                [turn = std::make_shared<int>()](absl::Span<const vm::Value>) {
                  NDArray flag = *NDArray::Zeros({}, DType::Bool());
                  *flag.data_as<uint8_t>() = ++*turn % 3 == 0;
                  return absl::StatusOr<vm::Value>(flag);
                });
  EXPECT_THAT(ProfileOf(kBranch, {Zeros({6})}, functions, false),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("of main called")));
}

TEST(MeasureProfileTest, ErrorsOfTheMachineAreReturned) {
  EXPECT_THAT(
      ProfileOf(kLayers, {Zeros({3, 24})}, {}, false),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("takes 3")));
}

}  // namespace
}  // namespace kiln
