// Distinct slices are found by sorting: a tensor is seen as [outer, count,
// inner] around the axis (or as [1, elements, 1]), the numbers of the slices
// are sorted by their elements, and equal neighbours are one. Of 3 1 3 2
//
//   sorted   1 (at 1)   2 (at 3)   3 (at 0, 2)
//   values 1 2 3, index 1 3 0, inverse 2 0 2 1, counts 1 1 2
#include "kiln/vm/machine/builtins.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/element.h"

namespace kiln::vm {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

absl::StatusOr<NDArray> TensorArg(absl::Span<const Value> args, size_t i) {
  const auto* array =
      i < args.size() ? std::get_if<NDArray>(&args[i]) : nullptr;
  if (array && !array->is_null()) return *array;
  return Invalid(absl::StrCat("argument ", i + 1, " has to be a tensor"));
}

absl::StatusOr<int64_t> IntArg(absl::Span<const Value> args, size_t i) {
  const auto* number =
      i < args.size() ? std::get_if<int64_t>(&args[i]) : nullptr;
  if (number) return *number;
  return Invalid(absl::StrCat("argument ", i + 1, " has to be an integer"));
}

template <typename T>
int Order(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

// Elements i and j, as a sign. 64-bit integers are compared exactly.
int CompareElements(const NDArray& x, int64_t i, int64_t j) {
  if (x.dtype() == DType::Int(64)) {
    return Order(x.data_as<int64_t>()[i], x.data_as<int64_t>()[j]);
  }
  if (x.dtype() == DType::UInt(64)) {
    return Order(x.data_as<uint64_t>()[i], x.data_as<uint64_t>()[j]);
  }
  const double a = LoadElement(x.data(), x.dtype(), i);
  const double b = LoadElement(x.data(), x.dtype(), j);
  if (std::isnan(a) || std::isnan(b)) {
    return Order<int>(std::isnan(a), std::isnan(b));
  }
  return Order(a, b);
}

struct Slices {
  NDArray x;
  std::optional<int> axis;
  int64_t outer = 1, count = 1, inner = 1;

  int64_t Place(int64_t o, int64_t slice, int64_t k) const {
    return (o * count + slice) * inner + k;
  }
  int Compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < inner; ++k) {
        const int order = CompareElements(x, Place(o, a, k), Place(o, b, k));
        if (order != 0) return order;
      }
    }
    return 0;
  }
};

absl::StatusOr<Slices> SlicesOf(absl::Span<const Value> args) {
  Slices slices;
  KILN_ASSIGN_OR_RETURN(slices.x, TensorArg(args, 0));
  slices.count = slices.x.num_elements();
  if (args.size() < 6 || std::holds_alternative<std::monostate>(args[5])) {
    return slices;
  }
  KILN_ASSIGN_OR_RETURN(int64_t axis, IntArg(args, 5));
  const int rank = slices.x.rank();
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return Invalid(
        absl::StrCat("axis ", axis, " is outside of ", rank, " dimensions"));
  }
  const auto shape = slices.x.shape();
  slices.axis = static_cast<int>(axis);
  slices.count = shape[axis];
  for (int d = 0; d < axis; ++d) slices.outer *= shape[d];
  for (int d = static_cast<int>(axis) + 1; d < rank; ++d) {
    slices.inner *= shape[d];
  }
  return slices;
}

// The slices that are distinct.
struct Distinct {
  std::vector<int64_t> first, counts;  // of each
  std::vector<int64_t> inverse;        // of each slice of the tensor
};

Distinct FindDistinct(const Slices& slices) {
  std::vector<int64_t> sorted(slices.count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) {
    const int order = slices.Compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  Distinct distinct;
  distinct.inverse.resize(slices.count);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || slices.Compare(sorted[i - 1], sorted[i]) != 0) {
      distinct.first.push_back(sorted[i]);
      distinct.counts.push_back(0);
    }
    ++distinct.counts.back();
    distinct.inverse[sorted[i]] =
        static_cast<int64_t>(distinct.first.size()) - 1;
  }
  return distinct;
}

// In the order in which they appear.
Distinct ByAppearance(const Distinct& ascending) {
  std::vector<int64_t> order(ascending.first.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return ascending.first[a] < ascending.first[b];
  });
  Distinct distinct;
  std::vector<int64_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    distinct.first.push_back(ascending.first[order[i]]);
    distinct.counts.push_back(ascending.counts[order[i]]);
    place[order[i]] = static_cast<int64_t>(i);
  }
  for (int64_t of : ascending.inverse) distinct.inverse.push_back(place[of]);
  return distinct;
}

absl::StatusOr<NDArray> Integers(const std::vector<int64_t>& values) {
  KILN_ASSIGN_OR_RETURN(
      NDArray array,
      NDArray::Empty({static_cast<int64_t>(values.size())}, DType::Int(64)));
  std::copy(values.begin(), values.end(), array.data_as<int64_t>());
  return array;
}

// The chosen slices, one after the other.
absl::StatusOr<NDArray> Gather(const Slices& slices,
                               const std::vector<int64_t>& chosen) {
  const auto count = static_cast<int64_t>(chosen.size());
  std::vector<int64_t> shape = {count};
  if (slices.axis) {
    shape.assign(slices.x.shape().begin(), slices.x.shape().end());
    shape[*slices.axis] = count;
  }
  KILN_ASSIGN_OR_RETURN(NDArray result,
                        NDArray::Empty(std::move(shape), slices.x.dtype()));
  const int64_t bytes = slices.inner * slices.x.dtype().bytes();
  if (bytes == 0) return result;
  auto* to = result.data_as<uint8_t>();
  for (int64_t o = 0; o < slices.outer; ++o) {
    for (int64_t slice : chosen) {
      std::memcpy(to,
                  slices.x.data_as<uint8_t>() +
                      slices.Place(o, slice, 0) * slices.x.dtype().bytes(),
                  bytes);
      to += bytes;
    }
  }
  return result;
}

absl::StatusOr<Value> Unique(absl::Span<const Value> args) {
  KILN_ASSIGN_OR_RETURN(const Slices slices, SlicesOf(args));
  bool wanted[5] = {false, true, false, false, false};
  for (size_t i = 1; i < 5 && i < args.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const int64_t flag, IntArg(args, i));
    wanted[i] = flag != 0;
  }
  Distinct distinct = FindDistinct(slices);
  if (!wanted[1]) distinct = ByAppearance(distinct);
  std::vector<Value> results;
  KILN_ASSIGN_OR_RETURN(NDArray values, Gather(slices, distinct.first));
  results.emplace_back(std::move(values));
  const std::vector<int64_t>* const parts[] = {
      &distinct.first, &distinct.inverse, &distinct.counts};
  for (int i = 0; i < 3; ++i) {
    if (!wanted[i + 2]) continue;
    KILN_ASSIGN_OR_RETURN(NDArray part, Integers(*parts[i]));
    results.emplace_back(std::move(part));
  }
  if (results.size() == 1) return results[0];
  return Value(MakeTuple(std::move(results)));
}

absl::StatusOr<Value> Nonzero(absl::Span<const Value> args) {
  KILN_ASSIGN_OR_RETURN(const NDArray x, TensorArg(args, 0));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    if (LoadElement(x.data(), x.dtype(), i) != 0) places.push_back(i);
  }
  const auto count = static_cast<int64_t>(places.size());
  KILN_ASSIGN_OR_RETURN(NDArray result,
                        NDArray::Empty({x.rank(), count}, DType::Int(64)));
  for (int64_t n = 0; n < count; ++n) {
    int64_t place = places[n];
    for (int d = x.rank(); d-- > 0;) {
      result.data_as<int64_t>()[d * count + n] = place % x.shape()[d];
      place /= x.shape()[d];
    }
  }
  return Value(std::move(result));
}

absl::StatusOr<Value> TensorToShape(absl::Span<const Value> args) {
  KILN_ASSIGN_OR_RETURN(const NDArray x, TensorArg(args, 0));
  if (x.rank() != 1 || x.dtype() != DType::Int(64)) {
    return Invalid(
        absl::StrCat("a vector of int64 is needed, not ", x.TypeString()));
  }
  const auto elements = x.elements<int64_t>();
  return Value(MakeShape({elements.begin(), elements.end()}));
}

absl::StatusOr<Value> Assert(absl::Span<const Value> args) {
  bool holds = false;
  if (!args.empty() && std::holds_alternative<int64_t>(args[0])) {
    holds = std::get<int64_t>(args[0]) != 0;
  } else {
    KILN_ASSIGN_OR_RETURN(const NDArray x, TensorArg(args, 0));
    if (x.num_elements() != 1) return Invalid("a condition is one bool");
    holds = LoadElement(x.data(), x.dtype(), 0) != 0;
  }
  if (holds) return Value(MakeTuple({}));
  std::vector<std::string> said;
  for (const Value& arg : args.subspan(1)) {
    const auto* text = std::get_if<std::string>(&arg);
    said.push_back(text ? *text : Describe(arg));
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the assertion does not hold", said.empty() ? "" : ": ",
                   absl::StrJoin(said, ", ")));
}

absl::StatusOr<Value> Print(absl::Span<const Value> args) {
  for (const Value& arg : args) std::printf("%s\n", Describe(arg).c_str());
  return Value(MakeTuple({}));
}

}  // namespace

const FunctionTable& Builtins() {
  static const FunctionTable& table = *[] {
    auto* made = new FunctionTable;
    made->Add("kiln.builtin.assert_op", Assert);
    made->Add("kiln.builtin.nonzero", Nonzero);
    made->Add("kiln.builtin.print", Print);
    made->Add("kiln.builtin.tensor_to_shape", TensorToShape);
    made->Add("kiln.builtin.unique", Unique);
    return made;
  }();
  return table;
}

}  // namespace kiln::vm
