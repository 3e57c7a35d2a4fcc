#include "kiln/search/measure/testing.h"

#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/base/check.h"
#include "kiln/search/measure/test_kernels.h"

namespace kiln::testing {
namespace {

absl::Span<const char> BytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(float)};
}

}  // namespace

KernelSignature AffineSignature() {
  KernelSignature signature;
  signature.name = "affine";
  signature.scalars = {{"n", DType::Index()}};
  for (const char* name : {"A", "B"}) {
    KernelBuffer buffer;
    buffer.name = name;
    buffer.dtype = DType::Float(32);
    buffer.shape = {KernelDim::Symbolic(0)};
    buffer.written = buffer.name == "B";
    signature.params.push_back({KernelParam::Kind::kBuffer,
                                static_cast<int>(signature.buffers.size())});
    signature.buffers.push_back(std::move(buffer));
  }
  return signature;
}

std::shared_ptr<const MeasureTask> AffineTask(int64_t count) {
  std::vector<float> input(count);
  std::vector<float> expected(count);
  for (int64_t i = 0; i < count; ++i) {
    input[i] = static_cast<float>(i % 1000) * 0.25f;
    expected[i] = 2 * input[i] + 1;
  }
  TaskTensor a;
  a.initial = BytesOf(input);
  TaskTensor b;
  b.expected = BytesOf(expected);
  b.tolerance = ToleranceFor(DType::Float(32), 1, 500);
  const TaskTensor tensors[] = {a, b};
  auto task = MeasureTask::Create(AffineSignature(), {count}, tensors);
  KILN_CHECK(task.ok()) << task.status().ToString();
  return *task;
}

BuildResult TestKernel(const std::string& name) {
  return {std::string(TestKernels()), "test_" + name, AffineSignature()};
}

void WaitForEnd(pid_t pid) {
  while (true) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string number, name, state;
    in >> number >> name >> state;
    if (!in || state == "Z" || state == "X") return;
    std::this_thread::yield();
  }
}

}  // namespace kiln::testing
