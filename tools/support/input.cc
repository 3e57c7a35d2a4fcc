// Inputs are taken in the order of the parameters, and each is checked as soon
// as it is read, with what those before it have told. Of
//
//   f(A: float32[n, 8], B: float32[n], C: out float32[n, 8])
//
// --input @a.npy of shape 3 x 8 tells n = 3, so random:4xf32 for B is refused,
// and C is made as 3 x 8 zeros. Two inputs are for A and B, three for all
// parameters; other numbers are refused, as nobody could say which is whose.
// Without any, tensors of constant extents that are read get random numbers.
#include "kiln/tools/support/input.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kiln/base/file.h"
#include "kiln/base/status_macros.h"
#include "kiln/vm/ndarray/npy.h"
#include "kiln/vm/ndarray/random_fill.h"

namespace kiln {
namespace {

// "f32" for float32 and so on; other names as they are.
std::optional<DType> TypeByName(const std::string& name) {
  static const auto* const prefixes = new std::map<std::string, std::string>{
      {"f", "float"}, {"bf", "bfloat"}, {"i", "int"}, {"u", "uint"}};
  const size_t digits = name.find_first_of("0123456789");
  if (digits == name.npos) return DType::FromString(name);
  const auto found = prefixes->find(name.substr(0, digits));
  if (found == prefixes->end()) return DType::FromString(name);
  return DType::FromString(found->second + name.substr(digits));
}

absl::Status InInput(const std::string& text, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat("--input ", text, ": ", status.message()));
}

absl::StatusOr<PackedValue> ParseScalar(const std::string& text) {
  int64_t integer;
  if (absl::SimpleAtoi(text, &integer)) return PackedValue(integer);
  if (text == "true" || text == "false") {
    return PackedValue(int64_t{text == "true"});
  }
  double real;
  if (absl::SimpleAtod(text, &real)) return PackedValue(real);
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no number; write value:3 or value:0.5"));
}

// What the inputs tell, one after the other.
struct Known {
  explicit Known(const KernelSignature& signature)
      : shapes(signature.params.size()), scalars(signature.scalars.size()) {}
  ArgumentShapes shapes;
  ScalarValues scalars;
};

// Checks a tensor against its parameter, and learns symbolic extents.
absl::Status CheckTensor(const KernelSignature& signature, size_t param,
                         const NDArray& array, Known* known) {
  const KernelBuffer& buffer = signature.buffers[signature.params[param].index];
  bool fits = array.dtype() == buffer.dtype &&
              array.rank() == static_cast<int>(buffer.shape.size());
  if (fits) {
    known->shapes[param] = array.shape();
    FindScalars(signature, known->shapes, &known->scalars);
  }
  for (int i = 0; fits && i < array.rank(); ++i) {
    const auto extent = Evaluate(buffer.shape[i], known->scalars.values);
    fits = !extent || *extent == array.shape()[i];
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "parameter ", buffer.name, " takes ", ToString(signature, buffer),
      ", and this is ", array.TypeString()));
}

absl::Status CheckArgument(const KernelSignature& signature, size_t position,
                           const PackedValue& value, Known* known) {
  const KernelParam& param = signature.params[position];
  const NDArray* array = std::get_if<NDArray>(&value);
  if (param.kind == KernelParam::Kind::kBuffer) {
    if (array) return CheckTensor(signature, position, *array, known);
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", signature.buffers[param.index].name,
                     " is a tensor: @FILE.npy, "
                     "random:SHAPExTYPE or zeros:SHAPExTYPE"));
  }
  const KernelScalar& scalar = signature.scalars[param.index];
  if (array) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", scalar.name, " is a scalar: value:3"));
  }
  if (const int64_t* integer = std::get_if<int64_t>(&value)) {
    known->scalars.values[param.index] = *integer;
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> MakeOutput(const KernelSignature& signature,
                                   const KernelBuffer& buffer,
                                   const ScalarValues& scalars) {
  std::vector<int64_t> shape;
  for (const KernelDim& dim : buffer.shape) {
    const std::optional<int64_t> extent = Evaluate(dim, scalars.values);
    if (!extent) {
      return absl::InvalidArgumentError(
          absl::StrCat("no input tells the extent ", ToString(signature, dim),
                       " of parameter ", buffer.name,
                       "; give an --input for it, such as "
                       "zeros:8x8xf32"));
    }
    shape.push_back(*extent);
  }
  return NDArray::Zeros(std::move(shape), buffer.dtype);
}

bool IsOutput(const KernelSignature& signature, const KernelParam& param) {
  return param.kind == KernelParam::Kind::kBuffer &&
         signature.buffers[param.index].written;
}

absl::StatusOr<std::vector<PackedValue>> RandomArguments(
    const KernelSignature& signature, uint64_t seed) {
  const ScalarValues unknown(signature.scalars.size());
  std::vector<PackedValue> args;
  for (const KernelParam& param : signature.params) {
    if (param.kind != KernelParam::Kind::kBuffer) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter ", signature.scalars[param.index].name,
          " is a scalar; give an --input for each parameter: value:3"));
    }
    const KernelBuffer& buffer = signature.buffers[param.index];
    KILN_ASSIGN_OR_RETURN(NDArray array,
                          MakeOutput(signature, buffer, unknown));
    if (!buffer.written) FillRandom(array, seed + args.size());
    args.emplace_back(std::move(array));
  }
  return args;
}

}  // namespace

absl::StatusOr<std::vector<size_t>> GivenParams(
    const KernelSignature& signature, size_t count) {
  std::vector<size_t> all, read;
  for (size_t i = 0; i < signature.params.size(); ++i) {
    all.push_back(i);
    if (!IsOutput(signature, signature.params[i])) read.push_back(i);
  }
  if (count == all.size()) return all;
  if (count == read.size()) return read;
  return absl::InvalidArgumentError(
      absl::StrCat(ToString(signature), " takes ", all.size(),
                   " arguments, of which it "
                   "only reads ",
                   read.size(), "; ", count,
                   " --input are given (with none at all, random numbers "
                   "are read)"));
}

absl::StatusOr<NDArray> ParseTensorType(const std::string& text) {
  std::vector<std::string> parts = absl::StrSplit(text, 'x');
  const std::optional<DType> dtype = TypeByName(parts.back());
  if (!dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", parts.back(),
                     "\" is no element type; write for "
                     "example 1024x1024xf32"));
  }
  std::vector<int64_t> shape;
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    int64_t extent;
    if (!absl::SimpleAtoi(parts[i], &extent) || extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", parts[i],
                       "\" is no extent; write for example "
                       "1024x1024xf32"));
    }
    shape.push_back(extent);
  }
  return NDArray::Zeros(std::move(shape), *dtype);
}

absl::StatusOr<NDArray> ReadTensor(const std::string& text) {
  if (text.empty() || text[0] != '@') {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" is no file; write @FILE.npy"));
  }
  return ReadNpy(CallerPath(text.substr(1)));
}

absl::StatusOr<PackedValue> ParseInput(const std::string& text, uint64_t seed) {
  if (!text.empty() && text[0] == '@') return ReadTensor(text);
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (parts.first == "value") return ParseScalar(parts.second);
  if (parts.first == "zeros") return ParseTensorType(parts.second);
  if (parts.first == "random") {
    KILN_ASSIGN_OR_RETURN(NDArray array, ParseTensorType(parts.second));
    FillRandom(array, seed);
    return PackedValue(std::move(array));
  }
  return absl::InvalidArgumentError(
      "an input is @FILE.npy, random:1024x1024xf32, zeros:2x3xf32 or value:3");
}

absl::StatusOr<std::vector<PackedValue>> MakeArguments(
    const KernelSignature& signature, const std::vector<std::string>& inputs,
    uint64_t seed) {
  if (inputs.empty()) return RandomArguments(signature, seed);
  KILN_ASSIGN_OR_RETURN(std::vector<size_t> given,
                        GivenParams(signature, inputs.size()));
  std::vector<PackedValue> args(signature.params.size());
  std::vector<bool> is_given(signature.params.size());
  Known known(signature);
  for (size_t i = 0; i < given.size(); ++i) {
    absl::StatusOr<PackedValue> value = ParseInput(inputs[i], seed + i);
    if (!value.ok()) return InInput(inputs[i], value.status());
    args[given[i]] = *std::move(value);
    is_given[given[i]] = true;
    const absl::Status fits =
        CheckArgument(signature, given[i], args[given[i]], &known);
    if (!fits.ok()) return InInput(inputs[i], fits);
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (is_given[i]) continue;
    const KernelBuffer& buffer = signature.buffers[signature.params[i].index];
    KILN_ASSIGN_OR_RETURN(NDArray output,
                          MakeOutput(signature, buffer, known.scalars));
    args[i] = std::move(output);
  }
  return args;
}

}  // namespace kiln
