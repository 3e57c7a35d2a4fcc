// Threads with a machine each over one model: what sanitizers look at, with
// nothing of the compiler.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "kiln/base/blob.h"
#include "kiln/base/file.h"
#include "kiln/base/status_matchers.h"
#include "kiln/ir/type/dtype.h"
#include "kiln/vm/capi/kiln.h"
#include "kiln/vm/executable/bytecode.h"
#include "kiln/vm/executable/file.h"
#include "kiln/vm/library/kernel_dim.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

constexpr int kThreads = 4, kCalls = 300;

float Weight(int64_t i) { return static_cast<float>(i % 8 - 3); }

KernelSignature ScaleSignature() {
  KernelSignature signature;
  signature.name = "scale";
  const auto buffer = [](const char* name, KernelDim extent, bool written) {
    KernelBuffer buffer;
    buffer.name = name;
    buffer.dtype = DType::Float(32);
    buffer.shape = {extent};
    buffer.alignment = 4;
    buffer.written = written;
    return buffer;
  };
  signature.buffers = {buffer("x", KernelDim::Symbolic(0), false),
                       buffer("w", KernelDim::Constant(8), false),
                       buffer("y", KernelDim::Symbolic(0), true)};
  signature.scalars = {{"n"}};
  for (int i = 0; i < 3; ++i) {
    signature.params.push_back({KernelParam::Kind::kBuffer, i});
  }
  return signature;
}

// main(x: float32[n]) gives x times the weights.
vm::Executable Scale(const std::string& object) {
  constexpr int32_t kNone = vm::Instruction::kNone;
  vm::Executable executable;
  vm::Type type;
  type.kind = vm::Type::Kind::kTensor;
  type.dtype = DType::Float(32);
  type.rank = 1;
  type.has_dims = true;
  type.dims = {KernelDim::Symbolic(0)};
  executable.types = {type};
  std::vector<float> weights;
  for (int64_t i = 0; i < 8; ++i) weights.push_back(Weight(i));
  executable.constants = {vm::TensorConstant{
      DType::Float(32),
      {8},
      *Blob::Copy({reinterpret_cast<const char*>(weights.data()), 32})}};
  executable.kernels = {{"kiln_scale", ScaleSignature(), *Blob::Copy(object)}};
  const auto reg = [](int32_t index) {
    return vm::Operand{vm::Operand::Kind::kRegister, false, index};
  };
  vm::Function f;
  f.name = "main";
  f.params = {"x"};
  f.dims = {"n"};
  f.num_registers = 2;
  f.code = {{vm::Opcode::kMatch, kNone, 0, kNone, kNone, {reg(0)}},
            {vm::Opcode::kAllocTensor, 1, 0, kNone, kNone, {}},
            {vm::Opcode::kKernel,
             kNone,
             0,
             kNone,
             kNone,
             {reg(0), {vm::Operand::Kind::kConstant, false, 0}, reg(1)}},
            {vm::Opcode::kReturn, kNone, kNone, kNone, kNone, {reg(1)}}};
  executable.functions = {f};
  return executable;
}

// Whether one call gives what it should.
bool IsRight(KilnMachine* machine, int64_t n) {
  std::vector<float> x(n, 2);
  KilnDlTensor tensor = {x.data(), {KILN_DL_CPU, 0}, 1, {KILN_DL_FLOAT, 32, 1},
                         &n,       nullptr,          0};
  KilnArgument argument = {KILN_TENSOR, 0, {}};
  argument.as.tensor = &tensor;
  KilnValue* y = nullptr;
  KilnDlTensor got;
  bool right = KilnMachineCall(machine, "main", &argument, 1, &y) == KILN_OK &&
               KilnValueTensor(y, &got) == KILN_OK && got.shape[0] == n;
  for (int64_t i = 0; right && i < n; ++i) {
    right = static_cast<const float*>(got.data)[i] == 2 * Weight(i);
  }
  KilnValueRelease(y);
  return right;
}

TEST(ThreadsTest, MachinesShareCodeAndWeights) {
  const absl::StatusOr<std::string> object = ReadFile("vm/capi/scale.o");
  KILN_ASSERT_OK(object.status());
  const std::string path = ::testing::TempDir() + "/scale.kiln";
  KILN_ASSERT_OK(vm::WriteExecutable(Scale(*object), path));
  KilnModel* model = nullptr;
  ASSERT_EQ(KilnModelOpen(path.c_str(), &model), KILN_OK) << KilnErrorText();
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const KilnMachineOptions options = {sizeof(options), 1 + t % 2, 0,
                                          nullptr};
      KilnMachine* machine = nullptr;
      if (KilnMachineCreate(model, &options, &machine) != KILN_OK) return;
      for (int i = 0; i < kCalls; ++i) right += IsRight(machine, (i * 7) % 50);
      KilnMachineDestroy(machine);
    });
  }
  for (std::thread& thread : threads) thread.join();
  KilnModelClose(model);
  EXPECT_EQ(right, kThreads * kCalls);
}

}  // namespace
}  // namespace kiln
