// A kernel goes wrong where loops begin and end, so samples are drawn in turns
// from three kinds: corners, elements with some coordinates within three of a
// border, and anywhere. Of shape (64, 64) the first ones are
//
//   [63, 63]    corner, from the far end      next: [0, 63]
//   [a, b]      each of a, b by a coin flip within 3 of a border, or anywhere
//   [a, b]      anywhere
//
// The interpreter computes each element alone, with what it depends on, until
// its steps are used up: a share for each output, so that a costly one leaves
// some for the next. If even the first element takes too long, the result says
// why there are no samples.
#include "kiln/search/measure/samples.h"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/interp/elements.h"

namespace kiln {
namespace {

// The coordinates of one dimension where borders of loops tend to be.
int64_t NearABorder(int64_t extent, std::mt19937_64& random) {
  const int64_t near =
      static_cast<int64_t>(random() % std::min<int64_t>(extent, 3));
  return random() % 2 ? near : extent - 1 - near;
}

struct Output {
  size_t param;
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  const std::string* bytes;
  Tolerance tolerance;
};

// The tensor parameters of `f` that are written by a call with the scalars.
std::vector<Output> OutputsOf(const Function& f,
                              const KernelSignature& signature,
                              absl::Span<const int64_t> scalars,
                              absl::Span<const std::string> bytes,
                              absl::Span<const Tolerance> tolerances) {
  std::vector<Output> outputs;
  for (size_t i = 0; i < signature.buffers.size(); ++i) {
    const KernelBuffer& buffer = signature.buffers[i];
    if (!buffer.written) continue;
    Output output = {i, buffer.name, buffer.dtype, {}, nullptr, {}};
    for (const KernelDim& dim : buffer.shape) {
      output.shape.push_back(*Evaluate(dim, scalars));
    }
    output.bytes = &bytes[outputs.size()];
    output.tolerance = tolerances[outputs.size()];
    outputs.push_back(std::move(output));
  }
  return outputs;
}

int64_t OffsetOf(const std::vector<int64_t>& index,
                 const std::vector<int64_t>& shape) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    offset = offset * shape[d] + index[d];
  }
  return offset;
}

absl::Status CheckOne(const Function& f, const Output& output,
                      const std::vector<int64_t>& index,
                      const std::vector<uint8_t>& interpreted,
                      const std::string& made_by) {
  const char* compiled = output.bytes->data() +
                         OffsetOf(index, output.shape) * output.dtype.bytes();
  const std::optional<OutputMismatch> mismatch = CompareElements(
      output.dtype, compiled, interpreted.data(), 1, output.tolerance);
  if (!mismatch) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("function ", f.name, " compiled ", made_by,
                   " disagrees with its interpretation: ", output.name, "[",
                   absl::StrJoin(index, ", "), "] is ", mismatch->got,
                   ", expected ", mismatch->expected));
}

}  // namespace

std::vector<std::vector<int64_t>> SampleIndices(
    const std::vector<int64_t>& shape, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::set<std::vector<int64_t>> seen;
  std::vector<std::vector<int64_t>> indices;
  for (int64_t extent : shape) {
    if (extent == 0) return indices;
  }
  auto add = [&](std::vector<int64_t> index) {
    if (seen.insert(index).second) indices.push_back(std::move(index));
  };
  const int64_t corners =
      std::min<int64_t>(int64_t{1} << std::min<size_t>(shape.size(), 4), 16);
  // Turns between kinds, so that a few samples are of each.
  for (int64_t round = 0; round < 4 * count; ++round) {
    if (static_cast<int64_t>(indices.size()) >= count) break;
    std::vector<int64_t> index(shape.size());
    const int64_t corner = corners - 1 - round / 3;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool at_border = round % 3 == 1 && random() % 2;
      index[d] = at_border ? NearABorder(shape[d], random)
                           : static_cast<int64_t>(random() % shape[d]);
      if (round % 3 != 0 || corner < 0) continue;
      index[d] = corner >> std::min<size_t>(d, 3) & 1 ? shape[d] - 1 : 0;
    }
    add(std::move(index));
  }
  return indices;
}

absl::StatusOr<Samples> CheckSamples(const Function& f,
                                     const KernelSignature& signature,
                                     const CallContents& contents,
                                     absl::Span<const std::string> outputs,
                                     absl::Span<const Tolerance> tolerances,
                                     const SampleOptions& options) {
  absl::StatusOr<ElementInterpreter> elements = ElementInterpreter::Create(f);
  if (absl::IsUnimplemented(elements.status())) {
    return Samples{0, std::string(elements.status().message())};
  }
  KILN_RETURN_IF_ERROR(elements.status());
  std::vector<const void*> args;
  for (const std::optional<NDArray>& buffer : contents.buffers) {
    args.push_back(buffer ? buffer->data() : nullptr);
  }
  KILN_RETURN_IF_ERROR(elements->Start(args, options.max_steps));
  const std::vector<Output> all =
      OutputsOf(f, signature, contents.scalars, outputs, tolerances);
  Samples samples;
  for (size_t o = 0; o < all.size(); ++o) {
    const auto indices =
        SampleIndices(all[o].shape, options.per_output, options.seed + o);
    // Each output has its share of the steps.
    const int64_t limit = options.steps * static_cast<int64_t>(o + 1) /
                          static_cast<int64_t>(all.size());
    for (const std::vector<int64_t>& index : indices) {
      if (samples.count > 0 && elements->steps() >= limit) break;
      const auto value = elements->Get(all[o].param, index);
      if (absl::IsResourceExhausted(value.status())) {
        if (samples.count > 0) return samples;
        return Samples{
            0, absl::StrCat("one element takes more than ", options.max_steps,
                            " steps of the interpreter")};
      }
      KILN_RETURN_IF_ERROR(value.status());
      KILN_RETURN_IF_ERROR(CheckOne(f, all[o], index, *value, options.made_by));
      ++samples.count;
    }
  }
  if (samples.count == 0) samples.none = "the outputs have no elements";
  return samples;
}

}  // namespace kiln
