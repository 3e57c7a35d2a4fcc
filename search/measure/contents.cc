#include "kiln/search/measure/contents.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "kiln/base/status_macros.h"
#include "kiln/codegen/guard/input_ranges.h"
#include "kiln/ir/access/argument_use.h"
#include "kiln/ir/tensor/timed_size.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

absl::Status OnlyKnownAtCalls(const KernelSignature& signature,
                              const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "function ", signature.name, " depends on ", what,
      ", whose value is only known at the call; give constant shapes, or an "
      "--input for each parameter"));
}

using Shapes = std::vector<std::vector<int64_t>>;

// Of each parameter of `f`, whose kernel has the signature.
absl::StatusOr<Shapes> KnownShapes(const Function& f,
                                   const KernelSignature& signature) {
  const Function at_size = AtTimedSize(f);
  Shapes shapes(signature.params.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const KernelParam& param = signature.params[i];
    if (param.kind == KernelParam::Kind::kScalar) {
      return OnlyKnownAtCalls(signature, signature.scalars[param.index].name);
    }
    const std::vector<KernelDim>& dims = signature.buffers[param.index].shape;
    for (size_t d = 0; d < dims.size(); ++d) {
      const int64_t* extent = AsInt(at_size.params[i].buffer->shape[d]);
      if (!extent) {
        return OnlyKnownAtCalls(signature, ToString(signature, dims[d]));
      }
      shapes[i].push_back(*extent);
    }
  }
  return shapes;
}

// The scalars that shapes tell, such as strides: all of them.
absl::StatusOr<std::vector<int64_t>> ScalarsOf(const KernelSignature& signature,
                                               const Shapes& shapes) {
  ScalarValues scalars(signature.scalars.size());
  ArgumentShapes known(signature.params.size());
  for (size_t i = 0; i < shapes.size(); ++i) known[i] = shapes[i];
  FindScalars(signature, known, &scalars);
  std::vector<int64_t> values;
  for (size_t s = 0; s < scalars.values.size(); ++s) {
    if (!scalars.values[s]) {
      return OnlyKnownAtCalls(signature, signature.scalars[s].name);
    }
    values.push_back(*scalars.values[s]);
  }
  return values;
}

absl::StatusOr<NDArray> EmptyFor(const KernelBuffer& buffer,
                                 absl::Span<const int64_t> scalars,
                                 std::vector<int64_t> shape) {
  KILN_RETURN_IF_ERROR(BufferBytes(buffer, scalars).status());
  return NDArray::Empty(std::move(shape), buffer.dtype);
}

// The uses of the tensor parameters alone, as a signature numbers them.
std::vector<ArgumentUse> BufferUses(const Function& f) {
  const std::vector<ArgumentUse> all = ArgumentUses(f);
  std::vector<ArgumentUse> uses;
  for (size_t i = 0; i < all.size(); ++i) {
    if (f.params[i].buffer) uses.push_back(all[i]);
  }
  return uses;
}

}  // namespace

void FillInRange(const NDArray& array, const std::optional<ValueRange>& range,
                 uint64_t seed) {
  if (!range) return FillRandom(array, seed);
  FillSmallInts(array, range->low, range->high, seed);
}

absl::StatusOr<CallContents> DrawContents(const Function& f,
                                          const KernelSignature& signature,
                                          uint64_t seed) {
  CallContents contents;
  KILN_ASSIGN_OR_RETURN(const Shapes shapes, KnownShapes(f, signature));
  KILN_ASSIGN_OR_RETURN(contents.scalars, ScalarsOf(signature, shapes));
  const std::vector<ArgumentUse> uses = BufferUses(f);
  KILN_ASSIGN_OR_RETURN(const auto ranges, InputRanges(AtTimedSize(f)));
  contents.buffers.resize(signature.buffers.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == ArgumentUse::kWritten) continue;
    // Each parameter is a buffer.
    KILN_ASSIGN_OR_RETURN(
        contents.buffers[i],
        EmptyFor(signature.buffers[i], contents.scalars, shapes[i]));
    FillInRange(*contents.buffers[i], ranges[i], seed + i);
  }
  return contents;
}

CallContents WithoutOutputs(const Function& f, CallContents contents) {
  const std::vector<ArgumentUse> uses = BufferUses(f);
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i] == ArgumentUse::kWritten) contents.buffers[i].reset();
  }
  return contents;
}

absl::StatusOr<std::shared_ptr<const MeasureTask>> MakeRunTask(
    const KernelSignature& signature, const CallContents& contents) {
  std::vector<TaskTensor> tensors(contents.buffers.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!contents.buffers[i]) continue;
    const NDArray& array = *contents.buffers[i];
    tensors[i].initial = {static_cast<const char*>(array.data()),
                          static_cast<size_t>(array.bytes())};
  }
  return MeasureTask::Create(signature, contents.scalars, tensors);
}

}  // namespace kiln
