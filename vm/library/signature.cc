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

std::string DimText(const KernelSignature& signature, const KernelDim& dim) {
  if (!dim.is_symbolic()) return std::to_string(dim.extent);
  return signature.scalars[dim.scalar].name;
}

std::string BufferTypeText(const KernelSignature& signature,
                           const KernelBuffer& buffer) {
  std::string text = buffer.dtype.ToString() + "[";
  for (size_t i = 0; i < buffer.shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += DimText(signature, buffer.shape[i]);
  }
  return text + "]";
}

// "parameter 2 (B: float32[n, 4]) of kernel mm".
std::string Where(const KernelSignature& signature, size_t position) {
  const KernelParam& param = signature.params[position];
  std::string what;
  if (param.kind == KernelParam::Kind::kBuffer) {
    const KernelBuffer& buffer = signature.buffers[param.index];
    what = buffer.name + ": " + BufferTypeText(signature, buffer);
  } else {
    const KernelScalar& scalar = signature.scalars[param.index];
    what = scalar.name + ": " + scalar.dtype.ToString();
  }
  return "parameter " + std::to_string(position) + " (" + what +
         ") of kernel " + signature.name;
}

std::string ShapeText(absl::Span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

// Sizes that overflow are no shapes of tensors in memory.
uint64_t Bytes(const KernelArgument& arg) {
  uint64_t bytes = arg.dtype.bytes();
  for (int64_t extent : arg.shape) bytes *= extent;
  return bytes;
}

absl::Status CheckBuffer(const KernelSignature& signature,
                         const KernelBuffer& buffer,
                         std::vector<bool>& determined) {
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
    if (!dim.is_symbolic()) {
      if (dim.extent < 0) return Invalid(where + " has a negative extent");
      continue;
    }
    if (dim.scalar >= static_cast<int>(signature.scalars.size())) {
      return Invalid(where + " refers to scalar " + std::to_string(dim.scalar) +
                     ", which does not exist");
    }
    if (!signature.scalars[dim.scalar].dtype.is_integral()) {
      return Invalid(where + " has the extent " +
                     signature.scalars[dim.scalar].name +
                     ", which is not an integer");
    }
    determined[dim.scalar] = true;
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

// Binds one call. Scalars are bound first so that shapes are checked against
// them; a symbol that only shapes tell takes the first value that it meets.
class Binder {
 public:
  Binder(const KernelSignature& signature,
         absl::Span<const KernelArgument> args)
      : signature_(signature),
        args_(args),
        values_(signature.scalars.size()),
        sources_(signature.scalars.size()) {
    bound_.data.resize(signature.buffers.size());
    bound_.scalars.resize(signature.scalars.size());
  }

  absl::StatusOr<BoundArguments> Bind() {
    KILN_RETURN_IF_ERROR(CheckKinds());
    for (size_t i = 0; i < args_.size(); ++i) {
      if (args_[i].kind == KernelParam::Kind::kScalar) BindScalar(i);
    }
    for (size_t i = 0; i < args_.size(); ++i) {
      if (args_[i].kind == KernelParam::Kind::kBuffer) {
        KILN_RETURN_IF_ERROR(BindBuffer(i));
      }
    }
    KILN_RETURN_IF_ERROR(CheckApart(signature_, args_));
    for (size_t i = 0; i < values_.size(); ++i) {
      bound_.scalars[i] = values_[i].value_or(0);
    }
    return std::move(bound_);
  }

 private:
  absl::Status CheckKinds() const {
    if (args_.size() != signature_.params.size()) {
      return Invalid("kernel " + signature_.name + " takes " +
                     std::to_string(signature_.params.size()) +
                     " arguments, got " + std::to_string(args_.size()) +
                     "; its signature is " + ToString(signature_));
    }
    for (size_t i = 0; i < args_.size(); ++i) {
      if (args_[i].kind == signature_.params[i].kind) continue;
      const bool got_buffer = args_[i].kind == KernelParam::Kind::kBuffer;
      return Invalid(
          Where(signature_, i) + ": expected a " +
          (got_buffer ? "scalar, got a tensor" : "tensor, got a scalar"));
    }
    return absl::OkStatus();
  }

  void BindScalar(size_t position) {
    const int index = signature_.params[position].index;
    values_[index] = args_[position].value;
    sources_[index] = position;
  }

  absl::Status BindBuffer(size_t position) {
    const int index = signature_.params[position].index;
    const KernelBuffer& buffer = signature_.buffers[index];
    const KernelArgument& arg = args_[position];
    if (arg.dtype != buffer.dtype) {
      return Invalid(Where(signature_, position) + ": expected " +
                     buffer.dtype.ToString() + ", got " + arg.dtype.ToString());
    }
    KILN_RETURN_IF_ERROR(BindShape(position, buffer, arg));
    KILN_RETURN_IF_ERROR(CheckAddress(position, buffer, arg));
    bound_.data[index] = arg.data;
    return absl::OkStatus();
  }

  absl::Status BindShape(size_t position, const KernelBuffer& buffer,
                         const KernelArgument& arg) {
    if (arg.shape.size() != buffer.shape.size()) {
      return Invalid(Where(signature_, position) + ": expected rank " +
                     std::to_string(buffer.shape.size()) + ", got shape " +
                     ShapeText(arg.shape));
    }
    for (size_t i = 0; i < buffer.shape.size(); ++i) {
      KILN_RETURN_IF_ERROR(BindDim(position, i, buffer.shape[i], arg));
    }
    return absl::OkStatus();
  }

  absl::Status BindDim(size_t position, size_t axis, const KernelDim& dim,
                       const KernelArgument& arg) {
    const int64_t got = arg.shape[axis];
    int64_t expected = dim.extent;
    std::string reason;
    if (dim.is_symbolic()) {
      if (!values_[dim.scalar]) {
        values_[dim.scalar] = got;
        sources_[dim.scalar] = position;
      }
      expected = *values_[dim.scalar];
      reason = " (" + signature_.scalars[dim.scalar].name + " is set by " +
               "parameter " + std::to_string(sources_[dim.scalar]) + ")";
    }
    if (got == expected) return absl::OkStatus();
    return Invalid(Where(signature_, position) + ": expected extent " +
                   std::to_string(expected) + reason + " at axis " +
                   std::to_string(axis) + ", got shape " +
                   ShapeText(arg.shape));
  }

  absl::Status CheckAddress(size_t position, const KernelBuffer& buffer,
                            const KernelArgument& arg) const {
    bool empty = false;
    for (int64_t extent : arg.shape) empty |= extent == 0;
    if (arg.data == nullptr && !empty) {
      return Invalid(Where(signature_, position) +
                     ": the tensor has no memory (null address)");
    }
    const uint64_t address = reinterpret_cast<uintptr_t>(arg.data);
    if (!empty && address % buffer.alignment != 0) {
      return Invalid(Where(signature_, position) +
                     ": the address is not a multiple of " +
                     std::to_string(buffer.alignment) +
                     "; copy the tensor into an aligned one");
    }
    return absl::OkStatus();
  }

  const KernelSignature& signature_;
  absl::Span<const KernelArgument> args_;
  std::vector<std::optional<int64_t>> values_;
  std::vector<size_t> sources_;  // Position of the argument that set a value.
  BoundArguments bound_;
};

}  // namespace

int64_t KernelAlignment(int64_t stated, int64_t element_bytes) {
  const int64_t power = stated & -stated;
  const int64_t element = element_bytes & -element_bytes;
  return std::clamp<int64_t>(power, element, KILN_KERNEL_ALIGNMENT);
}

bool ShareMemory(const KernelArgument& a, const KernelArgument& b) {
  return KilnShareMemory(a.data, Bytes(a), b.data, Bytes(b)) != 0;
}

absl::Status CheckApart(const KernelSignature& signature,
                        absl::Span<const KernelArgument> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    const KernelParam& param = signature.params[i];
    if (param.kind != KernelParam::Kind::kBuffer ||
        !signature.buffers[param.index].written) {
      continue;
    }
    for (size_t j = 0; j < args.size(); ++j) {
      if (j == i || args[j].kind != KernelParam::Kind::kBuffer ||
          !ShareMemory(args[i], args[j])) {
        continue;
      }
      return Invalid(Where(signature, i) +
                     ", which is written, shares memory with parameter " +
                     std::to_string(j) + " (" +
                     signature.buffers[signature.params[j].index].name + "); " +
                     (signature.noalias
                          ? "the function declares tir.noalias, so pass "
                            "tensors that are apart"
                          : "pass tensors that are apart"));
    }
  }
  return absl::OkStatus();
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
            BufferTypeText(signature, buffer);
  }
  return text + ")";
}

absl::Status CheckSignature(const KernelSignature& signature) {
  std::vector<bool> determined(signature.scalars.size(), false);
  for (const KernelBuffer& buffer : signature.buffers) {
    KILN_RETURN_IF_ERROR(CheckBuffer(signature, buffer, determined));
  }
  KILN_RETURN_IF_ERROR(CheckParams(signature, determined));
  for (size_t i = 0; i < determined.size(); ++i) {
    const KernelScalar& scalar = signature.scalars[i];
    if (!IsValueType(scalar.dtype)) {
      return Invalid("scalar " + scalar.name + " of kernel " + signature.name +
                     " has type " + scalar.dtype.ToString() +
                     "; expected a scalar integer, float or bool");
    }
    if (!determined[i]) {
      return Invalid("scalar " + scalar.name + " of kernel " + signature.name +
                     " is neither a parameter nor the extent of a buffer");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<BoundArguments> BindArguments(
    const KernelSignature& signature, absl::Span<const KernelArgument> args) {
  return Binder(signature, args).Bind();
}

}  // namespace kiln
