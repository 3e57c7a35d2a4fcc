// What a parameter has to be stands in the matches with which a function
// begins: match(%i) type. For random arguments every symbolic dimension gets a
// small number first, then tensors are drawn.
#include "kiln/tools/graph/arguments.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "kiln/base/random.h"
#include "kiln/base/status_macros.h"
#include "kiln/tools/support/input.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

// Of dimensions that have no name.
constexpr int64_t kAnyExtent = 2;

class RandomArguments {
 public:
  RandomArguments(const vm::Executable& executable, const vm::Function& f,
                  uint64_t seed)
      : executable_(executable), seed_(seed), random_(seed) {
    for (size_t i = 0; i < f.dims.size(); ++i) {
      dims_.push_back(2 + static_cast<int64_t>(random_.Below(7)));
    }
  }

  absl::StatusOr<vm::Value> Draw(const vm::Type& type) {
    switch (type.kind) {
      case vm::Type::Kind::kTensor:
        return DrawTensor(type);
      case vm::Type::Kind::kNumber: {
        if (type.dtype.is_float()) return vm::Value(random_.Unit());
        if (!type.has_dims) return vm::Value(int64_t{1});
        KILN_ASSIGN_OR_RETURN(const auto value, Extents(type));
        return vm::Value(value[0]);
      }
      case vm::Type::Kind::kShape: {
        if (!type.has_dims && type.rank < 0) break;
        std::vector<int64_t> extents(std::max(type.rank, 0), kAnyExtent);
        if (type.has_dims) {
          KILN_ASSIGN_OR_RETURN(extents, Extents(type));
        }
        return vm::Value(vm::MakeShape(std::move(extents)));
      }
      case vm::Type::Kind::kTuple: {
        std::vector<vm::Value> fields;
        for (int32_t field : type.fields) {
          KILN_ASSIGN_OR_RETURN(vm::Value value,
                                Draw(executable_.types[field]));
          fields.push_back(std::move(value));
        }
        return vm::Value(vm::MakeTuple(std::move(fields)));
      }
      case vm::Type::Kind::kAny:
      case vm::Type::Kind::kFunction:
        break;
    }
    return Invalid("what it takes is not told well enough to draw one");
  }

 private:
  absl::StatusOr<std::vector<int64_t>> Extents(const vm::Type& type) const {
    std::vector<int64_t> extents;
    for (const KernelDim& dim : type.dims) {
      const std::optional<int64_t> extent =
          Evaluate(dim, absl::Span<const int64_t>(dims_));
      if (!extent) return Invalid("an extent cannot be worked out");
      extents.push_back(*extent);
    }
    return extents;
  }

  absl::StatusOr<vm::Value> DrawTensor(const vm::Type& type) {
    std::vector<int64_t> shape(std::max(type.rank, 0), kAnyExtent);
    if (type.has_dims) {
      KILN_ASSIGN_OR_RETURN(shape, Extents(type));
    }
    const DType dtype = type.dtype.is_void() ? DType::Float(32) : type.dtype;
    KILN_ASSIGN_OR_RETURN(NDArray array, NDArray::Zeros(shape, dtype));
    if (dtype.is_float()) {
      FillRandom(array, seed_++);
      return vm::Value(std::move(array));
    }
    auto* bytes = array.data_as<uint8_t>();
    for (int64_t i = 0; i < array.num_elements(); ++i) {
      bytes[i * dtype.bytes()] = static_cast<uint8_t>(random_.Below(2));
    }
    return vm::Value(std::move(array));
  }

  const vm::Executable& executable_;
  uint64_t seed_;
  Random random_;
  std::vector<int64_t> dims_;
};

absl::StatusOr<vm::Value> ShapeGiven(absl::string_view text) {
  std::vector<int64_t> extents;
  for (const absl::string_view part :
       absl::StrSplit(text, 'x', absl::SkipEmpty())) {
    int64_t extent;
    if (!absl::SimpleAtoi(part, &extent) || extent < 0) {
      return Invalid(absl::StrCat("--input shape:", text,
                                  ": expected extents such as shape:2x3"));
    }
    extents.push_back(extent);
  }
  return vm::Value(vm::MakeShape(std::move(extents)));
}

absl::StatusOr<vm::Value> Given(const std::string& text, uint64_t seed) {
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "shape:")) return ShapeGiven(rest);
  KILN_ASSIGN_OR_RETURN(PackedValue value, ParseInput(text, seed));
  return std::visit([](auto& x) { return vm::Value(std::move(x)); }, value);
}

absl::Status CheckCount(const vm::Function& f, const GraphInputs& inputs,
                        size_t open) {
  const size_t given = inputs.by_position.size();
  if (given == 0 || given == open) return absl::OkStatus();
  return Invalid(absl::StrCat(
      f.name, " takes ", open,
      inputs.by_name.empty() ? " arguments" : " arguments beside --params",
      ", and ", given, " --input are given"));
}

}  // namespace

absl::StatusOr<std::vector<vm::Value>> GraphArguments(
    const vm::Executable& executable, const vm::Function& f,
    const GraphInputs& inputs) {
  size_t open = 0;
  for (const std::string& param : f.params) {
    open += inputs.by_name.count(param) == 0;
  }
  KILN_RETURN_IF_ERROR(CheckCount(f, inputs, open));
  RandomArguments random(executable, f, inputs.seed);
  std::vector<vm::Value> args;
  size_t next = 0;
  for (size_t i = 0; i < f.params.size(); ++i) {
    const auto named = inputs.by_name.find(f.params[i]);
    if (named != inputs.by_name.end()) {
      args.emplace_back(named->second);
      continue;
    }
    if (!inputs.by_position.empty()) {
      KILN_ASSIGN_OR_RETURN(
          vm::Value value, Given(inputs.by_position[next], inputs.seed + next));
      args.push_back(std::move(value));
      ++next;
      continue;
    }
    const vm::Type* type = vm::ParamType(executable, f, i);
    absl::StatusOr<vm::Value> value = random.Draw(type ? *type : vm::Type());
    if (!value.ok()) {
      return Invalid(absl::StrCat("parameter ", f.params[i], ": ",
                                  std::string(value.status().message()),
                                  "; give it by --input or --params"));
    }
    args.push_back(*std::move(value));
  }
  return args;
}

}  // namespace kiln
