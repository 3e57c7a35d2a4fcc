#include "kiln/tools/support/execute.h"

#include <cstring>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/codegen/host/kernel.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"

namespace kiln {

absl::StatusOr<LoadedKernel> CompileAndLoad(const Function& f,
                                            const Target& target) {
  KILN_RETURN_IF_ERROR(CheckRunsHere(target));
  KILN_ASSIGN_OR_RETURN(CompiledKernel kernel, CompileKernel(f, target));
  KILN_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedObject> object,
                        LoadedObject::Load(kernel.object));
  KILN_ASSIGN_OR_RETURN(KilnKernel entry, object->Kernel(kernel.symbol));
  return LoadedKernel::Create(std::move(kernel.signature), entry, object);
}

absl::Status RunCompiled(const Function& f, std::vector<Tensor>& args,
                         const Target& target) {
  KILN_ASSIGN_OR_RETURN(LoadedKernel kernel, CompileAndLoad(f, target));
  std::vector<PackedValue> values;
  for (const Tensor& arg : args) {
    KILN_ASSIGN_OR_RETURN(NDArray array, ToNDArray(arg));
    values.push_back(std::move(array));
  }
  ThreadPool::Options options;
  options.num_threads = target.num_cores;
  ThreadPool pool(options);
  KernelHost host(&pool);
  KILN_RETURN_IF_ERROR(kernel.Call(host.abi(), values));
  for (size_t i = 0; i < args.size(); ++i) {
    const NDArray& array = std::get<NDArray>(values[i]);
    std::memcpy(args[i].bytes.data(), array.data(), args[i].bytes.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> ToNDArray(const Tensor& tensor) {
  KILN_ASSIGN_OR_RETURN(NDArray array,
                        NDArray::Empty(tensor.shape, tensor.dtype));
  std::memcpy(array.data(), tensor.bytes.data(), tensor.bytes.size());
  return array;
}

Tensor ToTensor(const NDArray& array) {
  Tensor tensor(array.dtype(), {array.shape().begin(), array.shape().end()});
  std::memcpy(tensor.bytes.data(), array.data(), tensor.bytes.size());
  return tensor;
}

}  // namespace kiln
