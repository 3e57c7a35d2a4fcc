// Arguments of a function as the command line spells them.
#ifndef KILN_TOOLS_SUPPORT_INPUT_H_
#define KILN_TOOLS_SUPPORT_INPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/ndarray/ndarray.h"
#include "kiln/vm/packed/packed_function.h"

namespace kiln {

// "@c.npy": a file, relative to the caller's folder; "random:2x3xf32" and
// "zeros:2x3xf32": a tensor made for the occasion; "value:3": a scalar. Types
// go by name (float32) or by letter (f32, bf16, i8, u64, bool).
absl::StatusOr<PackedValue> ParseInput(const std::string& text, uint64_t seed);

// Reads "2x3xf32"; "f32" alone is a scalar tensor.
absl::StatusOr<NDArray> ParseTensorType(const std::string& text);

// The file that "@c.npy" names.
absl::StatusOr<NDArray> ReadTensor(const std::string& text);

// Which parameters `count` inputs are for, by position: all, or those that the
// kernel only reads.
absl::StatusOr<std::vector<size_t>> GivenParams(
    const KernelSignature& signature, size_t count);

// One argument for each parameter of `signature`, from `inputs` in the order
// of the parameters: one for each, or one for each parameter that the kernel
// only reads; those that it writes are then zeros, with symbolic extents from
// the inputs. Without any input, tensors that are read hold random numbers.
// Types and shapes are checked against the signature; errors name the parameter
// and the input.
absl::StatusOr<std::vector<PackedValue>> MakeArguments(
    const KernelSignature& signature, const std::vector<std::string>& inputs,
    uint64_t seed);

}  // namespace kiln

#endif  // KILN_TOOLS_SUPPORT_INPUT_H_
