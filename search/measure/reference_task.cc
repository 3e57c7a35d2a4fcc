#include "kiln/search/measure/reference_task.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/base/thread_pool.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/te/flops.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/transform/split_preparation.h"
#include "kiln/schedule/analysis/path.h"
#include "kiln/schedule/primitive/for_kind.h"
#include "kiln/schedule/primitive/reorder.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/trusted.h"
#include "kiln/vm/library/kernel_host.h"
#include "kiln/vm/library/object_loader.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/ndarray/random_fill.h"
#include "kiln/vm/packed/loaded_kernel.h"

namespace kiln {
namespace {

absl::Status CheckStatic(const KernelSignature& signature) {
  if (signature.scalars.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "function ", signature.name, " depends on ", signature.scalars[0].name,
      ", whose value is only known at the call; give constant shapes to tune "
      "it"));
}

absl::StatusOr<std::vector<NDArray>> MakeInputs(
    const KernelSignature& signature, uint64_t seed) {
  std::vector<NDArray> arrays;
  for (const KernelBuffer& buffer : signature.buffers) {
    std::vector<int64_t> shape;
    for (const KernelDim& dim : buffer.shape) shape.push_back(dim.extent);
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Zeros(shape, buffer.dtype));
    if (!buffer.written) FillRandom(array, seed + arrays.size());
    arrays.push_back(std::move(array));
  }
  return arrays;
}

absl::Status RunCompiled(const BuildResult& build,
                         const std::vector<NDArray>& arrays) {
  KILN_ASSIGN_OR_RETURN(auto object, LoadedObject::Load(build.object));
  KILN_ASSIGN_OR_RETURN(KilnKernel entry, object->Kernel(build.symbol));
  ThreadPool pool;
  KernelHost host(&pool);
  std::vector<void*> data;
  for (const NDArray& array : arrays) data.push_back(array.data());
  return KernelStatus(entry(host.abi(), data.data(), nullptr), build.symbol);
}

// How many terms a reduction of `f` adds up: the largest product of extents of
// reduce iterators in a block.
int64_t ReductionLength(const Function& f) {
  int64_t longest = 1;
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize) return true;
    int64_t length = 1;
    for (const IterVar& iter : realize->block->iters) {
      const int64_t* extent = AsInt(iter.domain.extent);
      if (iter.type == IterType::kReduce && extent) length *= *extent;
    }
    longest = std::max(longest, length);
    return true;
  });
  return longest;
}

Tolerance ToleranceOf(const Function& f, const NDArray& expected) {
  const double magnitude = LargestMagnitude(expected.dtype(), expected.data(),
                                            expected.num_elements());
  return ToleranceFor(expected.dtype(), ReductionLength(f), magnitude);
}

std::vector<Tensor> CopyInputs(const KernelSignature& signature,
                               const std::vector<NDArray>& arrays) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const NDArray& array = arrays[i];
    Tensor tensor(array.dtype(), {array.shape().begin(), array.shape().end()});
    if (!signature.buffers[i].written) {
      std::copy_n(array.data_as<uint8_t>(), array.bytes(), tensor.bytes.data());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The interpreter's outputs have to agree with the compiled ones. It goes
// first: it names what a program does outside of its buffers, where compiled
// code would take this process along.
absl::Status CheckAgainstInterpreter(const Function& f,
                                     const BuildResult& build, uint64_t seed) {
  const KernelSignature& signature = build.signature;
  KILN_ASSIGN_OR_RETURN(std::vector<NDArray> compiled,
                        MakeInputs(signature, seed));
  std::vector<Tensor> tensors = CopyInputs(signature, compiled);
  KILN_RETURN_IF_ERROR(Interpret(f, tensors));
  KILN_RETURN_IF_ERROR(RunCompiled(build, compiled));
  for (size_t i = 0; i < compiled.size(); ++i) {
    if (!signature.buffers[i].written) continue;
    const NDArray& array = compiled[i];
    std::optional<OutputMismatch> mismatch =
        CompareElements(array.dtype(), array.data(), tensors[i].bytes.data(),
                        array.num_elements(), ToleranceOf(f, array));
    if (!mismatch) continue;
    return absl::InternalError(
        absl::StrCat("function ", f.name,
                     " compiled without a schedule disagrees with its "
                     "interpretation: ",
                     ToString(*mismatch, signature.buffers[i].name)));
  }
  return absl::OkStatus();
}

// Loops of `block` that drive an iterator of the type directly, outermost
// first.
std::vector<LoopId> LoopsOfType(const Path& block, IterType type) {
  std::vector<LoopId> loops;
  for (const ForNode* loop : LoopsAbove(block)) {
    const BlockRealizeNode& realize = *block.realize();
    for (size_t i = 0; i < realize.values.size(); ++i) {
      if (realize.values[i] == loop->var &&
          realize.block->iters[i].type == type) {
        loops.push_back(loop->id);
      }
    }
  }
  return loops;
}

Function InCacheOrder(Function f, BlockId block) {
  std::optional<Path> path = FindBlock(f, block);
  std::vector<LoopId> spatial = LoopsOfType(*path, IterType::kSpatial);
  std::vector<LoopId> order = LoopsOfType(*path, IterType::kReduce);
  if (spatial.size() < 2 || order.empty()) return f;
  order.push_back(spatial.back());
  if (absl::StatusOr<Function> g = Reorder(f, order); g.ok()) f = *std::move(g);
  for (const ForNode* loop : LoopsAbove(*path)) {
    if (loop->id != spatial.back() && !IsOne(loop->extent)) {
      absl::StatusOr<Function> g = Parallel(f, loop->id);
      return g.ok() ? *std::move(g) : f;
    }
  }
  return f;
}

}  // namespace

Function InCacheOrder(const Function& f) {
  std::vector<BlockId> blocks;
  ForEachBlockDeep(f.body, [&](const BlockRealizeNode& realize) {
    blocks.push_back(realize.block->id);
  });
  Function result = f;
  for (BlockId block : blocks) result = InCacheOrder(std::move(result), block);
  return result;
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeReferenceTask(
    const Function& f, Builder& builder, const ReferenceOptions& options) {
  const double flop = EstimateFlops(f).value_or(0);
  KILN_ASSIGN_OR_RETURN(
      BuildResult build,
      builder.Build(WithoutPreparation(
          flop > options.max_plain_flop ? InCacheOrder(f) : f)));
  KILN_RETURN_IF_ERROR(CheckStatic(build.signature));
  if (flop <= options.max_interpreted_flop) {
    KILN_RETURN_IF_ERROR(CheckAgainstInterpreter(f, build, options.seed));
  }
  TrustedOptions trusted;
  trusted.seed = options.seed;
  trusted.reduction_length = ReductionLength(f);
  trusted.num_threads = ThreadPool::NumAvailableCpus();
  return MakeTrustedTask(build, {}, trusted);
}

}  // namespace kiln
