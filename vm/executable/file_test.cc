// What is written is read, and nothing else is: files that are cut, damaged or
// of another version, and executables that name what does not exist.
#include "kiln/vm/executable/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "kiln/base/blob.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/vm/executable/testing.h"
#include "kiln/vm/executable/verify.h"

namespace kiln::vm {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<Executable> ParseBytes(const std::string& bytes) {
  const absl::StatusOr<Blob> blob = Blob::Copy(bytes);
  if (!blob.ok()) return blob.status();
  return Parse(*blob);
}

auto Refused(const std::string& reason) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(reason));
}

TEST(FileTest, WhatIsWrittenIsRead) {
  const std::string path = testing::TempDir() + "/small.kiln";
  KILN_ASSERT_OK(WriteExecutable(SmallExecutable(), path));
  KILN_ASSERT_OK_AND_ASSIGN(const Executable read, ReadExecutable(path));
  EXPECT_TRUE(read == SmallExecutable());
  EXPECT_EQ(ToString(read), ToString(SmallExecutable()));
}

// A kernel without code, of k(n, X: float32[n]).
Kernel SomeKernel(std::optional<KernelFlop> flop) {
  Kernel kernel;
  kernel.symbol = "kiln_k";
  kernel.signature.name = "k";
  kernel.signature.scalars = {{"n", DType::Int(64)}};
  kernel.signature.buffers = {
      {"X", DType::Float(32), {KernelDim::Symbolic(0)}}};
  kernel.signature.params = {{KernelParam::Kind::kBuffer, 0}};
  kernel.object = *Blob::Copy("code");
  kernel.flop = std::move(flop);
  return kernel;
}

TEST(FileTest, OperationsOfKernelsAreKept) {
  const KernelDim twice = KernelDim::Compound(
      KernelDim::Op::kMul, KernelDim::Symbolic(0), KernelDim::Constant(2));
  Executable executable = SmallExecutable();
  executable.kernels = {
      SomeKernel(std::nullopt),
      SomeKernel(KernelFlop{KernelDim::Constant(int64_t{1} << 62), true}),
      SomeKernel(KernelFlop{KernelDim::Constant(0)}),
      SomeKernel(KernelFlop{twice})};
  KILN_ASSERT_OK_AND_ASSIGN(const Executable read,
                            ParseBytes(Serialize(executable)));
  EXPECT_TRUE(read == executable);
  executable.kernels = {SomeKernel(KernelFlop{KernelDim::Symbolic(1)})};
  EXPECT_THAT(Verify(executable),
              Refused("the operations of kiln_k speak of unknown scalars"));
}

TEST(FileTest, EveryCutIsAnError) {
  const std::string bytes = Serialize(SmallExecutable());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseBytes(bytes.substr(0, size)).ok()) << size;
  }
}

TEST(FileTest, DamageIsToldButInConstants) {
  const std::string bytes = Serialize(SmallExecutable());
  const size_t constants = bytes.size() - 3 * sizeof(float);
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    const bool is_padding = bytes[i] == 0;
    if (i >= constants || is_padding) {
      (void)ParseBytes(damaged);
      continue;
    }
    EXPECT_FALSE(ParseBytes(damaged).ok()) << i;
  }
}

TEST(FileTest, OtherFilesAndVersionsSayWhatTheyAre) {
  EXPECT_THAT(ParseBytes("@I.ir_module"), Refused("is no executable of Kiln"));
  std::string newer = Serialize(SmallExecutable());
  newer[8] = 9;
  EXPECT_THAT(ParseBytes(newer),
              Refused("version 9; this runtime reads version 1"));
  EXPECT_THAT(ReadExecutable("/nowhere/m.kiln"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("m.kiln")));
}

TEST(VerifyTest, WhatNamesNothingIsRefused) {
  const auto refused = [](auto change) {
    Executable executable = SmallExecutable();
    change(executable.functions[0], executable);
    return Verify(executable);
  };
  EXPECT_THAT(refused([](Function& f, Executable&) { f.code[0].index = 7; }),
              Refused("function main, instruction 0: names what does not"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.code[1].target = 1; }),
              Refused("instruction 1: a jump has to lead forward"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.code.pop_back(); }),
              Refused("a jump has to lead forward"));
  EXPECT_THAT(
      refused([](Function& f, Executable&) { f.code[4].args[1].index = 4; }),
      Refused("%4 holds nothing"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.code[2].args.clear(); }),
              Refused("a wrong number of arguments"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.num_registers = 1; }),
              Refused("impossible number of registers"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.name = "pair"; }),
              Refused("two functions are called pair"));
  EXPECT_THAT(refused([](Function&, Executable& e) {
                std::get<TensorConstant>(e.constants[0]).shape = {4};
              }),
              Refused("12 bytes where its shape needs 16"));
  EXPECT_THAT(refused([](Function& f, Executable&) { f.dims.clear(); }),
              Refused("unknown dims"));
}

}  // namespace
}  // namespace kiln::vm
