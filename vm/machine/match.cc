// Extents that are one unknown dim set it, then all are compared, those in
// other fields of a tuple included. Of ((n + 1,), (n,)) and values of shapes
// (4,) and (3,), the second field tells n and the first is checked with it.
#include "kiln/vm/machine/match.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::vm {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

class Matcher {
 public:
  Matcher(const Executable& executable, const Function& f, Dims& dims)
      : executable_(executable), f_(f), dims_(dims) {}

  absl::Status Run(const Type& type, const Value& value) {
    KILN_RETURN_IF_ERROR(CheckKind(type, value));
    // Each number that is told may make another one solvable.
    for (size_t known = CountKnown(), before = known + 1; known != before;) {
      for (const auto& [dim, number] : extents_) Learn(*dim, number);
      before = known;
      known = CountKnown();
    }
    for (const auto& [dim, number] : extents_) {
      KILN_RETURN_IF_ERROR(Check(*dim, number));
    }
    return absl::OkStatus();
  }

 private:
  size_t CountKnown() const {
    size_t count = 0;
    for (const auto& dim : dims_) count += dim.has_value();
    return count;
  }

  void Learn(const KernelDim& dim, int64_t number) {
    if (dim.is_constant()) return;
    const std::optional<int> unknown = OnlyUnknown(dim, dims_);
    if (!unknown) return;
    if (const auto value = Solve(dim, dims_, *unknown, number)) {
      dims_[*unknown] = *value;
    }
  }

  std::string Spell(const KernelDim& dim) const {
    return kiln::ToString(dim, [&](int i) { return f_.dims[i]; });
  }

  absl::Status Check(const KernelDim& dim, int64_t number) const {
    const std::optional<int64_t> expected = Evaluate(dim, dims_);
    if (!expected) {
      return Invalid(absl::StrCat("nothing tells the numbers in ", Spell(dim),
                                  ", which is ", number, " here"));
    }
    if (*expected == number) return absl::OkStatus();
    const std::string spelled =
        dim.is_constant() ? "" : absl::StrCat(Spell(dim), " = ");
    return Invalid(absl::StrCat("an extent is ", number, " where ", spelled,
                                *expected, " is expected"));
  }

  absl::Status Wrong(std::string_view expected, const Value& value) const {
    return Invalid(absl::StrCat("expected ", std::string(expected), ", got ",
                                Describe(value)));
  }

  absl::Status CheckKind(const Type& type, const Value& value) {
    switch (type.kind) {
      case Type::Kind::kAny:
        return absl::OkStatus();
      case Type::Kind::kNumber:
        return CheckNumber(type, value);
      case Type::Kind::kShape: {
        const auto* shape = std::get_if<Shape>(&value);
        if (!shape) return Wrong("a shape", value);
        return CheckExtents(type, *shape->extents, value);
      }
      case Type::Kind::kTensor:
        return CheckTensor(type, value);
      case Type::Kind::kTuple:
        return CheckTuple(type, value);
      case Type::Kind::kFunction:
        if (std::holds_alternative<Closure>(value)) return absl::OkStatus();
        return Wrong("a function", value);
    }
    return absl::OkStatus();
  }

  absl::Status CheckNumber(const Type& type, const Value& value) {
    const bool is_float = type.dtype.is_float();
    const auto* integer = std::get_if<int64_t>(&value);
    if (!integer && !(std::holds_alternative<double>(value) &&
                      (is_float || type.dtype.is_void()))) {
      return Wrong(is_float ? "a number" : "an integer", value);
    }
    if (integer && type.has_dims) extents_.push_back({&type.dims[0], *integer});
    return absl::OkStatus();
  }

  absl::Status CheckTensor(const Type& type, const Value& value) {
    const auto* array = std::get_if<NDArray>(&value);
    if (!array || array->is_null()) return Wrong("a tensor", value);
    if (!type.dtype.is_void() && array->dtype() != type.dtype) {
      return Wrong(absl::StrCat("a tensor of ", type.dtype.ToString()), value);
    }
    return CheckExtents(type, array->shape(), value);
  }

  absl::Status CheckExtents(const Type& type, absl::Span<const int64_t> extents,
                            const Value& value) {
    if (type.rank != Type::kAnyRank &&
        extents.size() != static_cast<size_t>(type.rank)) {
      return Wrong(absl::StrCat(type.rank, " dimensions"), value);
    }
    if (!type.has_dims) return absl::OkStatus();
    for (size_t i = 0; i < extents.size(); ++i) {
      extents_.push_back({&type.dims[i], extents[i]});
    }
    return absl::OkStatus();
  }

  absl::Status CheckTuple(const Type& type, const Value& value) {
    const auto* tuple = std::get_if<Tuple>(&value);
    if (!tuple || (*tuple)->fields.size() != type.fields.size()) {
      return Wrong(absl::StrCat("a tuple of ", type.fields.size()), value);
    }
    for (size_t i = 0; i < type.fields.size(); ++i) {
      KILN_RETURN_IF_ERROR(
          CheckKind(executable_.types[type.fields[i]], (*tuple)->fields[i]));
    }
    return absl::OkStatus();
  }

  const Executable& executable_;
  const Function& f_;
  Dims& dims_;
  std::vector<std::pair<const KernelDim*, int64_t>> extents_;
};

}  // namespace

absl::Status Match(const Executable& executable, const Function& f,
                   const Type& type, const Value& value, Dims& dims) {
  return Matcher(executable, f, dims).Run(type, value);
}

}  // namespace kiln::vm
