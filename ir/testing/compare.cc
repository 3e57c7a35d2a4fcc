#include "kiln/ir/testing/compare.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

// The indices of the i-th element, as "[1, 2]".
std::string IndexText(const Tensor& tensor, int64_t i) {
  i /= tensor.dtype.lanes();
  std::vector<int64_t> indices(tensor.shape.size());
  for (size_t d = indices.size(); d-- > 0;) {
    indices[d] = i % tensor.shape[d];
    i /= tensor.shape[d];
  }
  return absl::StrCat("[", absl::StrJoin(indices, ", "), "]");
}

}  // namespace

Tolerance DefaultTolerance(DType dtype) {
  if (!dtype.is_float()) return {};
  if (dtype.code() == TypeCode::kBFloat) return {6e-2, 6e-2};
  if (dtype.bits() == 16) return {2e-2, 2e-2};
  return dtype.bits() == 32 ? Tolerance{1e-4, 1e-5} : Tolerance{1e-11, 1e-12};
}

absl::Status CompareTensors(const Tensor& actual, const Tensor& expected,
                            Tolerance tolerance) {
  if (actual.dtype != expected.dtype || actual.shape != expected.shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor of ", actual.dtype.ToString(), " [",
                     absl::StrJoin(actual.shape, ", "),
                     "] is compared with one of ", expected.dtype.ToString(),
                     " [", absl::StrJoin(expected.shape, ", "), "]"));
  }
  const bool exact = !actual.dtype.is_float();
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const bool same =
        exact ? actual.GetInt(i) == expected.GetInt(i)
              : Agree(actual.GetReal(i), expected.GetReal(i), tolerance);
    if (same) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(
      "element ", IndexText(expected, first), " is ", actual.GetReal(first),
      " and should be ", expected.GetReal(first), "; ", count, " of ",
      expected.size(), " elements differ"));
}

absl::Status CompareTensors(const Tensor& actual, const Tensor& expected) {
  return CompareTensors(actual, expected, DefaultTolerance(expected.dtype));
}

}  // namespace kiln
