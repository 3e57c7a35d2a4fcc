// The machine on bytecode made by hand (vm/executable/testing.h), and on what
// random changes make of it: one field of an instruction becomes another
// number, and what the verifier lets pass has to end, with a value or an error.
#include "kiln/vm/machine/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/base/random.h"
#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/vm/executable/testing.h"
#include "kiln/vm/executable/verify.h"
#include "kiln/vm/library/kernel_host.h"

namespace kiln::vm {
namespace {

using ::testing::HasSubstr;

class MachineTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Machine>> Make(Executable executable) {
    MachineOptions options;
    options.max_depth = 20;
    options.max_instructions = 10000;
    return Machine::Create(std::move(executable), {}, &host_, options);
  }

  static std::vector<Value> Args(int64_t n, bool flag) {
    return {*NDArray::Zeros({n, 2}, DType::Float(32)), int64_t{flag}};
  }

  ThreadPool pool_;
  KernelHost host_{&pool_};
};

TEST_F(MachineTest, BranchesCallsAndClosures) {
  KILN_ASSERT_OK_AND_ASSIGN(auto machine, Make(SmallExecutable()));
  KILN_ASSERT_OK_AND_ASSIGN(const Value yes,
                            machine->Call("main", Args(5, true)));
  const auto& fields = std::get<Tuple>(yes)->fields;
  ASSERT_EQ(fields.size(), 3);
  EXPECT_EQ(Describe(fields[0]), "float32[5, 2]");
  EXPECT_EQ(Describe(fields[1]), "tuple of 2");
  EXPECT_EQ(Describe(fields[2]), "shape (10, 3)");
  KILN_ASSERT_OK_AND_ASSIGN(const Value no,
                            machine->Call("main", Args(4, false)));
  EXPECT_EQ(Describe(std::get<Tuple>(no)->fields[0]), "float32[3]");
  EXPECT_EQ(Describe(std::get<Tuple>(no)->fields[1]), "float32[4, 2]");
}

TEST_F(MachineTest, ErrorsNameTheFunctionAndTheVariable) {
  KILN_ASSERT_OK_AND_ASSIGN(auto machine, Make(SmallExecutable()));
  std::vector<Value> args = Args(3, true);
  args[0] = *NDArray::Zeros({3, 4}, DType::Float(32));
  EXPECT_THAT(machine->Call("main", args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("main: y: an extent is 4 where 2 is")));
  args = Args(3, true);
  args[1] = std::string("yes");
  EXPECT_THAT(machine->Call("main", args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a condition has to be one bool")));
  EXPECT_THAT(machine->Call("twice", {int64_t{1}}),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("no function is called twice; there are "
                                 "main, pair")));
  KILN_EXPECT_OK(machine->Call("main", Args(3, true)));
}

TEST_F(MachineTest, ARecursionWithoutEndIsAnError) {
  Executable executable = SmallExecutable();
  Function& twice = executable.functions[1];
  twice.code[0] = {Opcode::kFunction, 1, 1, -1, -1, {{}}};
  KILN_ASSERT_OK_AND_ASSIGN(auto machine, Make(executable));
  EXPECT_THAT(machine->Call("main", Args(3, true)),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("a recursion without end?")));
}

// main(x: float32[n, 2], k) gives the bytes of x from k on as a vector of 2.
Executable ViewingExecutable() {
  Executable executable = SmallExecutable();
  Type vector = executable.types[0];
  vector.rank = 1;
  vector.dims = {KernelDim::Constant(2)};
  executable.types.push_back(vector);
  Function& main = executable.functions[0];
  const auto index = static_cast<int32_t>(executable.types.size()) - 1;
  main.code = {
      main.code[0],
      {Opcode::kView,
       2,
       index,
       -1,
       -1,
       {{Operand::Kind::kRegister, true, 0},
        {Operand::Kind::kRegister, true, 1}}},
      {Opcode::kReturn, -1, -1, -1, -1, {{Operand::Kind::kRegister, true, 2}}}};
  return executable;
}

TEST_F(MachineTest, AViewSharesTheBytesOfItsTensor) {
  KILN_ASSERT_OK_AND_ASSIGN(auto machine, Make(ViewingExecutable()));
  std::vector<Value> args = Args(3, false);
  args[1] = int64_t{8};
  const auto& x = std::get<NDArray>(args[0]);
  KILN_ASSERT_OK_AND_ASSIGN(const Value view, machine->Call("main", args));
  EXPECT_EQ(Describe(view), "float32[2]");
  x.data_as<float>()[3] = 5;
  EXPECT_EQ(std::get<NDArray>(view).data_as<float>()[1], 5);
  for (const int64_t outside : {int64_t{-4}, int64_t{20}, INT64_MAX}) {
    args[1] = outside;
    EXPECT_THAT(machine->Call("main", args),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("does not fit into float32[3, 2]")));
  }
  args[1] = std::string("8");
  EXPECT_THAT(machine->Call("main", args),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("a view needs a tensor and an offset")));
}

TEST_F(MachineTest, AFunctionOfAnotherMachineIsRefused) {
  Executable executable = SmallExecutable();
  executable.functions[0].code[7] = {
      Opcode::kCopy, 4, -1, -1, -1, {{Operand::Kind::kRegister, true, 2}}};
  KILN_ASSERT_OK_AND_ASSIGN(auto one, Make(executable));
  KILN_ASSERT_OK_AND_ASSIGN(auto two, Make(executable));
  KILN_ASSERT_OK_AND_ASSIGN(const Value f, one->Call("main", Args(3, false)));
  const auto& closure = std::get<Closure>(f);
  KILN_EXPECT_OK(one->CallClosure(closure, {int64_t{1}}));
  EXPECT_THAT(two->CallClosure(closure, {int64_t{1}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("of another machine")));
}

// One field of an instruction becomes another number.
void Change(Executable& executable, Random& random) {
  Function& f = executable.functions[random.Below(executable.functions.size())];
  Instruction& in = f.code[random.Below(f.code.size())];
  const auto number = static_cast<int32_t>(random.Between(-2, 10));
  switch (random.Below(7)) {
    case 0:
      in.op = static_cast<Opcode>(random.Below(kNumOpcodes));
      return;
    case 1:
      in.dst = number;
      return;
    case 2:
      in.index = number;
      return;
    case 3:
      in.target = number;
      return;
    case 4:
      f.num_registers = number;
      return;
    case 5:
      if (random.Below(2) == 0 && !in.args.empty())
        in.args.pop_back();
      else
        in.args.push_back({});
      return;
    default:
      if (in.args.empty()) return;
      Operand& arg = in.args[random.Below(in.args.size())];
      arg.index = number;
      arg.is_last = random.Below(2) == 0;
      arg.kind = static_cast<Operand::Kind>(random.Below(3));
  }
}

TEST_F(MachineTest, WhatVerifiesRunsToAnEnd) {
  constexpr uint64_t kSeed = 20261124;
  int verified = 0, ended = 0;
  for (uint64_t trial = 0; trial < 20000; ++trial) {
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", trial ", trial));
    Random random(kSeed, trial);
    Executable executable = SmallExecutable();
    const auto changes = 1 + random.Below(3);
    for (uint64_t i = 0; i < changes; ++i) Change(executable, random);
    if (!Verify(executable).ok()) continue;
    ++verified;
    auto machine = Make(std::move(executable));
    if (!machine.ok()) continue;
    for (bool flag : {false, true}) {
      ended += (*machine)->Call("main", Args(3, flag)).ok();
    }
  }
  EXPECT_GT(verified, 1000);
  EXPECT_GT(ended, 1000);
}

}  // namespace
}  // namespace kiln::vm
