// Tensor functions from index notation.
//
//   ParseEinsum("C[i,j] += A[i,k] * B[k,j]", {{"i", 512}, {"j", 512}, {"k",
//   8}})
//
// gives a function `main(A, B, C)` with one block that sums over k, the index
// that the left side lacks.
#ifndef KILN_FRONTENDS_EINSUM_EINSUM_H_
#define KILN_FRONTENDS_EINSUM_EINSUM_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/ir/tensor/module.h"

namespace kiln {

// Reads "i=512,j=512,k=8". Refuses names given twice and extents below 1.
absl::StatusOr<std::map<std::string, int64_t>> ParseExtents(
    std::string_view text);

// `text` is one assignment: `=` where every index stands on the left, `+=` to
// sum over those that do not. The right side holds tensors, numbers, + - * /
// and parentheses, max(x, y), min(x, y), exp(x), sqrt(x). Indices are sums of
// index names and numbers with constant factors, such as A[2*i + r, k]; a
// tensor is as large as its indices reach. Parameters are the tensors of the
// right side in order of appearance, then the left one. Errors point into the
// text.
absl::StatusOr<Module> ParseEinsum(
    std::string text, const std::map<std::string, int64_t>& extents,
    DType dtype = DType::Float(32));

}  // namespace kiln

#endif  // KILN_FRONTENDS_EINSUM_EINSUM_H_
