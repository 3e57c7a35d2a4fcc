#include "kiln/ir/te/workloads.h"

#include <gtest/gtest.h>

#include "kiln/base/status_matchers.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln {
namespace {

// Small shapes of every named workload.
constexpr const char* kSmall[] = {"gmm:8,24,12",
                                  "c1d:16,4,20,3,2,1",
                                  "c2d:8,8,3,20,3,2,1",
                                  "c3d:4,6,6,3,8,3,2,1",
                                  "dep:8,8,20,3,1,1",
                                  "grp:8,8,8,16,3,1,1,4",
                                  "dil:10,10,3,8,3,1,1,2",
                                  "t2d:4,4,8,6,4,2,1",
                                  "cap:4,4,4,4,3,1,1",
                                  "nrm:16,24",
                                  "sfm:8,40",
                                  "cbr:6,6,3,16,3,1,1",
                                  "tbg:8,2,12"};

absl::Status RunCompiled(const Function& f, std::vector<Tensor>& tensors) {
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(f, HostTarget()));
  KILN_ASSIGN_OR_RETURN(auto object, LoadedObject::Load(kernel.object));
  KILN_ASSIGN_OR_RETURN(KilnKernel entry, object->Kernel(kernel.symbol));
  // Kernels expect aligned addresses.
  std::vector<void*> data;
  for (const Tensor& tensor : tensors) {
    data.push_back(
        std::aligned_alloc(64, (tensor.bytes.size() + 63) / 64 * 64));
    std::copy(tensor.bytes.begin(), tensor.bytes.end(),
              static_cast<uint8_t*>(data.back()));
  }
  ThreadPool pool;
  KernelHost host(&pool);
  const int32_t status = entry(host.abi(), data.data(), nullptr);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::copy_n(static_cast<uint8_t*>(data[i]), tensors[i].bytes.size(),
                tensors[i].bytes.begin());
    std::free(data[i]);
  }
  if (status == 0) return absl::OkStatus();
  return absl::InternalError("the kernel failed");
}

class WorkloadTest : public ::testing::TestWithParam<const char*> {};

TEST_P(WorkloadTest, ComputesWhatTheInterpreterComputes) {
  KILN_ASSERT_OK_AND_ASSIGN(Module module, MakeWorkload(GetParam()));
  const Function& f = module.functions[0];
  std::vector<Tensor> interpreted;
  for (const Param& param : f.params) {
    std::vector<int64_t> shape;
    for (const Expr& extent : param.buffer->shape) {
      shape.push_back(*AsInt(extent));
    }
    Tensor tensor(param.buffer->dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      tensor.Set(i, static_cast<double>((i * 7 + 3) % 11 - 5) / 8);
    }
    interpreted.push_back(std::move(tensor));
  }
  std::vector<Tensor> compiled = interpreted;
  KILN_ASSERT_OK(Interpret(f, interpreted));
  KILN_ASSERT_OK(RunCompiled(f, compiled));
  for (size_t i = 0; i < compiled.size(); ++i) {
    for (int64_t j = 0; j < compiled[i].size(); ++j) {
      ASSERT_NEAR(compiled[i].GetReal(j), interpreted[i].GetReal(j), 1e-4)
          << f.params[i].buffer->name << " element " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadTest, ::testing::ValuesIn(kSmall));

}  // namespace
}  // namespace kiln
