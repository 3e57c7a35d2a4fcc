// A scalar that the caller does not pass has to follow from the shapes of the
// arguments. Of
//   concat(A: float32[n, 8], B: out float32[n + m, 8])
// n is the extent of A, and m the one unknown in the extent of B then; of
//   half(A: float32[n // 2])
// nothing tells n, and the signature is refused.
#include "kiln/vm/library/signature.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {
namespace {

constexpr size_t kMaxRank = 32;

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

bool IsValueType(DType dtype) {
  return dtype.is_scalar() && (dtype.is_integral() || dtype.is_float());
}

std::string ListText(const KernelSignature& signature,
                     const std::vector<KernelDim>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ", ";
    text += ToString(signature, dims[i]);
  }
  return text + "]";
}

// "a buffer" of `where` has `dim` as its `what`.
absl::Status CheckDim(const KernelSignature& signature, const KernelDim& dim,
                      const std::string& where, const char* what) {
  for (int scalar : dim.Scalars()) {
    if (scalar < 0 || scalar >= static_cast<int>(signature.scalars.size())) {
      return Invalid(where + " refers to scalar " + std::to_string(scalar) +
                     ", which does not exist");
    }
    const KernelScalar& found = signature.scalars[scalar];
    if (!found.dtype.is_integral()) {
      return Invalid(where + " has the " + what + " " + found.name +
                     ", which is not an integer");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBuffer(const KernelSignature& signature,
                         const KernelBuffer& buffer) {
  const std::string where =
      "buffer " + buffer.name + " of kernel " + signature.name;
  if (!IsValueType(buffer.dtype)) {
    return Invalid(where + " has element type " + buffer.dtype.ToString() +
                   "; expected a scalar integer, float or bool");
  }
  if (buffer.shape.size() > kMaxRank) {
    return Invalid(where + " has rank " + std::to_string(buffer.shape.size()) +
                   "; at most " + std::to_string(kMaxRank) + " is supported");
  }
  const int64_t alignment = buffer.alignment;
  if (alignment < 1 || alignment > KILN_KERNEL_ALIGNMENT ||
      (alignment & (alignment - 1)) != 0) {
    return Invalid(where + " has the alignment " + std::to_string(alignment) +
                   "; expected a power of two up to " +
                   std::to_string(KILN_KERNEL_ALIGNMENT));
  }
  for (const KernelDim& dim : buffer.shape) {
    KILN_RETURN_IF_ERROR(CheckDim(signature, dim, where, "extent"));
    if (dim.is_constant() && dim.constant() < 0) {
      return Invalid(where + " has a negative extent");
    }
  }
  if (!buffer.strides.empty() && buffer.strides.size() != buffer.shape.size()) {
    return Invalid(where + " has " + std::to_string(buffer.strides.size()) +
                   " strides for " + std::to_string(buffer.shape.size()) +
                   " dimensions");
  }
  for (const KernelDim& dim : buffer.strides) {
    KILN_RETURN_IF_ERROR(CheckDim(signature, dim, where, "stride"));
  }
  KILN_RETURN_IF_ERROR(CheckDim(signature, buffer.offset, where, "offset"));
  if (buffer.offset.is_constant() && buffer.offset.constant() != 0) {
    return Invalid(where + " has the offset " +
                   std::to_string(buffer.offset.constant()) +
                   ", and arguments begin at their address; expected 0 or a "
                   "variable");
  }
  return absl::OkStatus();
}

absl::Status CheckParams(const KernelSignature& signature,
                         std::vector<bool>& determined) {
  std::vector<bool> passed(signature.buffers.size(), false);
  std::vector<bool> given(signature.scalars.size(), false);
  for (const KernelParam& param : signature.params) {
    const bool is_buffer = param.kind == KernelParam::Kind::kBuffer;
    std::vector<bool>& seen = is_buffer ? passed : given;
    if (param.index < 0 || param.index >= static_cast<int>(seen.size())) {
      return Invalid("a parameter of kernel " + signature.name + " refers to " +
                     (is_buffer ? "buffer " : "scalar ") +
                     std::to_string(param.index) + ", which does not exist");
    }
    if (seen[param.index]) {
      return Invalid("kernel " + signature.name + " takes " +
                     (is_buffer ? signature.buffers[param.index].name
                                : signature.scalars[param.index].name) +
                     " twice");
    }
    seen[param.index] = true;
    if (!is_buffer) determined[param.index] = true;
  }
  for (size_t i = 0; i < passed.size(); ++i) {
    if (!passed[i]) {
      return Invalid("buffer " + signature.buffers[i].name + " of kernel " +
                     signature.name + " is not among its parameters");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckInPlace(const KernelSignature& signature,
                          const KernelBuffer& buffer) {
  for (const int other : buffer.in_place_of) {
    const std::string where = "buffer " + buffer.name + " of kernel " +
                              signature.name + " may be buffer " +
                              std::to_string(other);
    if (other < 0 || other >= static_cast<int>(signature.buffers.size())) {
      return Invalid(where + ", which does not exist");
    }
    const KernelBuffer& read = signature.buffers[other];
    if (!buffer.written || read.written) {
      return Invalid(where +
                     "; expected one that is written in place of one "
                     "that is only read");
    }
    if (read.dtype != buffer.dtype || read.shape != buffer.shape ||
        read.strides != buffer.strides || read.offset != buffer.offset) {
      return Invalid(where + ", which has another type or shape");
    }
  }
  return absl::OkStatus();
}

std::vector<const KernelDim*> DimsOf(const KernelSignature& signature) {
  std::vector<const KernelDim*> dims;
  for (const KernelBuffer& buffer : signature.buffers) {
    for (const KernelDim& dim : buffer.shape) dims.push_back(&dim);
    for (const KernelDim& dim : buffer.strides) dims.push_back(&dim);
    dims.push_back(&buffer.offset);
  }
  return dims;
}

// Adds the scalars that are found from the numbers of arguments once the others
// are: tried out with values of no particular size.
void AddFound(const KernelSignature& signature, std::vector<bool>& determined) {
  std::vector<int64_t> samples;
  for (size_t i = 0; i < determined.size(); ++i) {
    samples.push_back(10007 + 211 * static_cast<int64_t>(i));
  }
  std::vector<std::optional<int64_t>> known(determined.size());
  const std::vector<const KernelDim*> dims = DimsOf(signature);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < known.size(); ++i) {
      if (determined[i]) known[i] = samples[i];
    }
    for (const KernelDim* dim : dims) {
      const std::optional<int> unknown = OnlyUnknown(*dim, known);
      const std::optional<int64_t> wanted = Evaluate(*dim, samples);
      if (!unknown || !wanted || !Solve(*dim, known, *unknown, *wanted)) {
        continue;
      }
      determined[*unknown] = true;
      known[*unknown] = samples[*unknown];
      changed = true;
    }
  }
}

absl::Status NotDetermined(const KernelSignature& signature, int scalar) {
  std::string places;
  for (const KernelDim* dim : DimsOf(signature)) {
    const std::vector<int> scalars = dim->Scalars();
    if (std::find(scalars.begin(), scalars.end(), scalar) == scalars.end()) {
      continue;
    }
    places +=
        (places.empty() ? " (it stands in " : ", ") + ToString(signature, *dim);
  }
  if (!places.empty()) places += ")";
  const std::string& name = signature.scalars[scalar].name;
  return Invalid("scalar " + name + " of kernel " + signature.name +
                 " is neither a parameter nor told by the shape of a buffer" +
                 places + "; make it a parameter or the extent of a buffer");
}

}  // namespace

int64_t KernelAlignment(int64_t stated, int64_t element_bytes) {
  const int64_t power = stated & -stated;
  const int64_t element = element_bytes & -element_bytes;
  return std::clamp<int64_t>(power, element, KILN_KERNEL_ALIGNMENT);
}

std::string ToString(const KernelSignature& signature, const KernelDim& dim) {
  return ToString(dim, [&](int s) { return signature.scalars[s].name; });
}

std::string ToString(const KernelSignature& signature,
                     const KernelBuffer& buffer) {
  std::string text =
      buffer.dtype.ToString() + ListText(signature, buffer.shape);
  if (!buffer.strides.empty()) {
    text += " strides " + ListText(signature, buffer.strides);
  }
  if (buffer.offset != KernelDim()) {
    text += " offset " + ToString(signature, buffer.offset);
  }
  return text;
}

std::string ToString(const KernelSignature& signature) {
  std::string text = signature.name + "(";
  for (size_t i = 0; i < signature.params.size(); ++i) {
    if (i > 0) text += ", ";
    const KernelParam& param = signature.params[i];
    if (param.kind == KernelParam::Kind::kScalar) {
      const KernelScalar& scalar = signature.scalars[param.index];
      text += scalar.name + ": " + scalar.dtype.ToString();
      continue;
    }
    const KernelBuffer& buffer = signature.buffers[param.index];
    text += buffer.name + ": " + (buffer.written ? "out " : "") +
            ToString(signature, buffer);
  }
  return text + ")";
}

absl::Status CheckSignature(const KernelSignature& signature) {
  for (const KernelBuffer& buffer : signature.buffers) {
    KILN_RETURN_IF_ERROR(CheckBuffer(signature, buffer));
    KILN_RETURN_IF_ERROR(CheckInPlace(signature, buffer));
  }
  std::vector<bool> determined(signature.scalars.size(), false);
  KILN_RETURN_IF_ERROR(CheckParams(signature, determined));
  for (const KernelScalar& scalar : signature.scalars) {
    if (IsValueType(scalar.dtype)) continue;
    return Invalid("scalar " + scalar.name + " of kernel " + signature.name +
                   " has type " + scalar.dtype.ToString() +
                   "; expected a scalar integer, float or bool");
  }
  AddFound(signature, determined);
  for (size_t i = 0; i < determined.size(); ++i) {
    if (!determined[i]) return NotDetermined(signature, static_cast<int>(i));
  }
  return absl::OkStatus();
}

}  // namespace kiln
