#include "kiln/search/measure/trusted.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/search/measure/compare.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/kernel_fault.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {
namespace {

absl::Span<const char> BytesOf(const NDArray& array) {
  return {static_cast<const char*>(array.data()),
          static_cast<size_t>(array.bytes())};
}

absl::StatusOr<NDArray> RandomTensor(const KernelBuffer& buffer,
                                     absl::Span<const int64_t> scalars,
                                     uint64_t seed) {
  // Refuses extents that are negative or too large.
  KILN_RETURN_IF_ERROR(BufferBytes(buffer, scalars).status());
  std::vector<int64_t> shape;
  for (const KernelDim& dim : buffer.shape) {
    shape.push_back(dim.is_symbolic() ? scalars[dim.scalar] : dim.extent);
  }
  KILN_ASSIGN_OR_RETURN(NDArray tensor,
                        NDArray::Empty(std::move(shape), buffer.dtype));
  FillRandom(tensor, seed);
  return tensor;
}

absl::Status Run(const BuildResult& kernel, absl::Span<const NDArray> tensors,
                 absl::Span<const int64_t> scalars, int num_threads) {
  KILN_ASSIGN_OR_RETURN(const std::shared_ptr<const LoadedObject> object,
                        LoadedObject::Load(kernel.object));
  KILN_ASSIGN_OR_RETURN(const KilnKernel entry, object->Kernel(kernel.symbol));
  ThreadPool::Options options;
  options.num_threads = num_threads;
  ThreadPool pool(options);
  const KernelHost host(&pool);
  std::vector<void*> data;
  for (const NDArray& tensor : tensors) data.push_back(tensor.data());
  const KernelFaultMessage message(kernel.signature.name.c_str());
  const int32_t status = entry(host.abi(), data.data(), scalars.data());
  return KernelStatus(status, kernel.signature.name);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeTrustedTask(
    const BuildResult& trusted, absl::Span<const int64_t> scalars,
    const TrustedOptions& options, bool written_are_inputs) {
  const KernelSignature& signature = trusted.signature;
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  if (scalars.size() != signature.scalars.size()) {
    return absl::InvalidArgumentError("a trusted kernel lacks its scalars");
  }
  if (trusted.preparation) {
    return absl::InvalidArgumentError("a trusted kernel has no preparation");
  }
  std::vector<NDArray> before;
  std::vector<NDArray> after;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    const uint64_t seed = options.seed + i;
    KILN_ASSIGN_OR_RETURN(before.emplace_back(),
                          RandomTensor(buffer, scalars, seed));
    after.push_back(before.back());
    if (!buffer.written) continue;
    KILN_ASSIGN_OR_RETURN(after.back(), RandomTensor(buffer, scalars, seed));
  }
  KILN_RETURN_IF_ERROR(Run(trusted, after, scalars, options.num_threads));
  std::vector<TaskTensor> tensors(signature.buffers.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    if (!buffer.written || written_are_inputs) {
      tensors[i].initial = BytesOf(before[i]);
    }
    if (!buffer.written) continue;
    tensors[i].expected = BytesOf(after[i]);
    tensors[i].tolerance =
        ToleranceFor(buffer.dtype, options.reduction_length,
                     LargestMagnitude(buffer.dtype, after[i].data(),
                                      after[i].bytes() / buffer.dtype.bytes()));
  }
  return MeasureTask::Create(signature, scalars, tensors);
}

}  // namespace kiln
