#include "kiln/search/measure/reference_task.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
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
#include "kiln/search/measure/access_check.h"
#include "kiln/search/measure/compare.h"
#include "kiln/search/measure/trusted.h"
#include "kiln/vm/ndarray/ndarray.h"

namespace kiln {
namespace {

// Loop iterations that a check by the interpreter may take.
constexpr int64_t kMaxInterpretedSteps = 20'000'000;
// A run of the reference is given up after so long: far more than any needs.
constexpr double kDeadlineS = 120;
constexpr double kSecondsPerFlop = 1e-8;

// Contents as the interpreter takes them.
absl::StatusOr<std::vector<Tensor>> TensorsOf(const KernelSignature& signature,
                                              const CallContents& contents) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    KILN_RETURN_IF_ERROR(BufferBytes(buffer, contents.scalars).status());
    std::vector<int64_t> shape;
    for (const KernelDim& dim : buffer.shape) {
      shape.push_back(dim.is_symbolic() ? contents.scalars[dim.scalar]
                                        : dim.extent);
    }
    Tensor& tensor = tensors.emplace_back(buffer.dtype, std::move(shape));
    std::fill(tensor.bytes.begin(), tensor.bytes.end(), 0xff);
    if (!contents.buffers[i]) continue;
    const NDArray& array = *contents.buffers[i];
    std::copy_n(array.data_as<uint8_t>(), array.bytes(), tensor.bytes.data());
  }
  return tensors;
}

absl::Status WithWayOut(const absl::Status& status,
                        const ReferenceOptions& options) {
  if (options.contents) return status;
  return absl::Status(
      status.code(),
      absl::StrCat(
          status.message(),
          "; this is with random inputs: where the program is meant to "
          "get others, give an --input for each tensor that it reads"));
}

// From the form of the kernel ABI.
Argument ScalarArgument(const KernelScalar& scalar, int64_t value) {
  if (!scalar.dtype.is_float()) return value;
  return std::bit_cast<double>(value);
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

// What the interpreter leaves in the tensors of `f` that it writes, in order;
// nullopt where it would take too long.
absl::StatusOr<std::optional<std::vector<Tensor>>> Interpreted(
    const Function& f, const KernelSignature& signature,
    const CallContents& contents) {
  KILN_ASSIGN_OR_RETURN(std::vector<Tensor> tensors,
                        TensorsOf(signature, contents));
  KILN_ASSIGN_OR_RETURN(const Interpreter interpreter, Interpreter::Create(f));
  std::vector<Argument> arguments;
  for (const KernelParam& param : signature.params) {
    if (param.kind == KernelParam::Kind::kBuffer) {
      arguments.push_back(&tensors[param.index]);
    } else {
      arguments.push_back(ScalarArgument(signature.scalars[param.index],
                                         contents.scalars[param.index]));
    }
  }
  InterpOptions options;
  options.max_steps = kMaxInterpretedSteps;
  const absl::Status status = interpreter.Run(arguments, options);
  if (absl::IsResourceExhausted(status)) return std::nullopt;
  KILN_RETURN_IF_ERROR(status);
  std::vector<Tensor> written;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (signature.buffers[i].written) written.push_back(std::move(tensors[i]));
  }
  return written;
}

// The interpreter's outputs have to agree with the compiled ones.
absl::Status CheckAgainstInterpreter(const Function& f,
                                     const BuildResult& build,
                                     const CallContents& contents,
                                     Runner& runner,
                                     const TrustedOptions& options) {
  KILN_ASSIGN_OR_RETURN(const auto interpreted,
                        Interpreted(f, build.signature, contents));
  if (!interpreted) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const std::vector<std::string> compiled,
                        RunTrusted(build, contents, runner, options));
  size_t next = 0;
  for (const KernelBuffer& buffer : build.signature.buffers) {
    if (!buffer.written) continue;
    const Tensor& tensor = (*interpreted)[next];
    const std::string& bytes = compiled[next++];
    const Tolerance tolerance = ToleranceFor(
        tensor.dtype, options.reduction_length,
        LargestMagnitude(tensor.dtype, tensor.bytes.data(), tensor.size()));
    std::optional<OutputMismatch> mismatch =
        CompareElements(tensor.dtype, bytes.data(), tensor.bytes.data(),
                        tensor.size(), tolerance);
    if (!mismatch) continue;
    return absl::InternalError(absl::StrCat(
        "function ", f.name,
        " compiled without a schedule disagrees with its interpretation: ",
        ToString(*mismatch, buffer.name)));
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
    const Function& f, Builder& builder, Runner& runner,
    const ReferenceOptions& options) {
  const double flop = EstimateFlops(f).value_or(0);
  KILN_ASSIGN_OR_RETURN(
      BuildResult build,
      builder.Build(WithoutPreparation(
          flop > options.max_plain_flop ? InCacheOrder(f) : f)));
  CallContents contents;
  if (options.contents) {
    contents = WithoutOutputs(f, *options.contents);
  } else {
    KILN_ASSIGN_OR_RETURN(contents,
                          DrawContents(f, build.signature, options.seed));
  }
  TrustedOptions trusted;
  trusted.reduction_length = ReductionLength(f);
  trusted.num_threads = ThreadPool::NumAvailableCpus();
  trusted.deadline_s = kDeadlineS + flop * kSecondsPerFlop;
  const absl::Status inside =
      CheckAccesses(f, contents, builder, runner, trusted.deadline_s);
  if (absl::IsOutOfRange(inside)) return WithWayOut(inside, options);
  KILN_RETURN_IF_ERROR(inside);
  if (flop <= options.max_interpreted_flop) {
    KILN_RETURN_IF_ERROR(
        CheckAgainstInterpreter(f, build, contents, runner, trusted));
  }
  return MakeTrustedTask(build, contents, runner, trusted);
}

}  // namespace kiln
