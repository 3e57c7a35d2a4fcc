#include "kiln/vm/packed/loaded_kernel.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

// Whether `value` is one of `dtype`'s, an integer type or bool. A uint64 comes
// as the int64 of the same bits.
bool Fits(DType dtype, int64_t value) {
  if (dtype.is_bool()) return value == 0 || value == 1;
  if (dtype.bits() == 64) return true;
  const int64_t limit = int64_t{1} << (dtype.bits() - (dtype.is_int() ? 1 : 0));
  return value < limit && value >= (dtype.is_int() ? -limit : 0);
}

// The 64 bits that stand for a scalar; nullopt if it is no value of the type.
std::optional<int64_t> Encode(DType dtype, const PackedValue& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    if (dtype.is_float()) {
      return std::bit_cast<int64_t>(static_cast<double>(*integer));
    }
    if (!Fits(dtype, *integer)) return std::nullopt;
    return *integer;
  }
  if (!dtype.is_float()) return std::nullopt;
  return std::bit_cast<int64_t>(std::get<double>(value));
}

std::string ValueText(const PackedValue& value) {
  if (const auto* array = std::get_if<NDArray>(&value)) {
    return array->TypeString();
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  return std::to_string(std::get<double>(value));
}

absl::StatusOr<KernelArgument> Lower(const KernelSignature& signature,
                                     size_t position,
                                     const PackedValue& value) {
  KernelArgument arg;
  if (const auto* array = std::get_if<NDArray>(&value)) {
    if (array->is_null()) {
      return Invalid("argument " + std::to_string(position) + " of kernel " +
                     signature.name + " is a null tensor");
    }
    arg.data = array->data();
    arg.dtype = array->dtype();
    arg.shape = array->shape();
    return arg;
  }
  arg.kind = KernelParam::Kind::kScalar;
  // Too many arguments, or a scalar for a tensor: BindArguments explains.
  if (position >= signature.params.size() ||
      signature.params[position].kind != KernelParam::Kind::kScalar) {
    return arg;
  }
  const KernelScalar& scalar =
      signature.scalars[signature.params[position].index];
  const std::optional<int64_t> encoded = Encode(scalar.dtype, value);
  if (!encoded) {
    return Invalid("parameter " + std::to_string(position) + " (" +
                   scalar.name + ": " + scalar.dtype.ToString() +
                   ") of kernel " + signature.name + ": " + ValueText(value) +
                   " is no value of that type");
  }
  arg.dtype = scalar.dtype;
  arg.value = *encoded;
  return arg;
}

// The aligned buffer of the signature that `value`, a tensor somewhere else,
// stands for; null for all other arguments.
const KernelBuffer* Misaligned(const KernelSignature& signature,
                               size_t position, const PackedValue& value) {
  const auto* array = std::get_if<NDArray>(&value);
  if (!array || array->is_null() || position >= signature.params.size() ||
      signature.params[position].kind != KernelParam::Kind::kBuffer) {
    return nullptr;
  }
  const KernelBuffer& buffer =
      signature.buffers[signature.params[position].index];
  const auto address = reinterpret_cast<uintptr_t>(array->data());
  return buffer.aligned && address % KILN_KERNEL_ALIGNMENT != 0 ? &buffer
                                                                : nullptr;
}

bool NeedsCopies(const KernelSignature& signature,
                 absl::Span<const PackedValue> args) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (Misaligned(signature, i, args[i])) return true;
  }
  return false;
}

// Copies of tensors in memory of their own; a tensor that stands twice has one.
class AlignedCopies {
 public:
  absl::StatusOr<NDArray> Of(const NDArray& array, bool written) {
    for (Copy& copy : copies_) {
      if (copy.original.data() != array.data() ||
          copy.original.bytes() != array.bytes()) {
        continue;
      }
      copy.written = copy.written || written;
      return NDArray::View(
          copy.aligned.data(), {array.shape().begin(), array.shape().end()},
          array.dtype(), std::make_shared<NDArray>(copy.aligned));
    }
    KILN_ASSIGN_OR_RETURN(
        NDArray aligned,
        NDArray::Empty({array.shape().begin(), array.shape().end()},
                       array.dtype()));
    std::memcpy(aligned.data(), array.data(), array.bytes());
    copies_.push_back({array, aligned, written});
    return aligned;
  }

  void WriteBack() const {
    for (const Copy& copy : copies_) {
      if (!copy.written) continue;
      std::memcpy(copy.original.data(), copy.aligned.data(),
                  copy.aligned.bytes());
    }
  }

 private:
  struct Copy {
    NDArray original, aligned;
    bool written = false;
  };
  std::vector<Copy> copies_;
};

}  // namespace

absl::StatusOr<BoundArguments> BindPacked(const KernelSignature& signature,
                                          absl::Span<const PackedValue> args) {
  std::vector<KernelArgument> lowered(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(lowered[i], Lower(signature, i, args[i]));
  }
  return BindArguments(signature, lowered);
}

absl::Status KernelStatus(int32_t status, const std::string& kernel) {
  if (status == KILN_KERNEL_OK) return absl::OkStatus();
  const std::string where = "kernel " + kernel + " ";
  switch (status) {
    case KILN_KERNEL_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(where +
                                          "got no memory for its workspace");
    case KILN_KERNEL_NESTED_PARALLEL:
      return absl::FailedPreconditionError(
          where +
          "started a parallel loop inside another; make the inner one serial");
    case KILN_KERNEL_BAD_ARGUMENT:
      return Invalid(where + "refused its arguments");
    default:
      return absl::InternalError(where + "ended with status " +
                                 std::to_string(status));
  }
}

absl::StatusOr<LoadedKernel> LoadedKernel::Create(
    KernelSignature signature, KilnKernel entry,
    std::shared_ptr<const void> keep_alive) {
  KILN_RETURN_IF_ERROR(CheckSignature(signature));
  if (entry == nullptr) {
    return Invalid("kernel " + signature.name + " has no entry point");
  }
  LoadedKernel kernel;
  kernel.signature_ = std::move(signature);
  kernel.entry_ = entry;
  kernel.keep_alive_ = std::move(keep_alive);
  return kernel;
}

absl::StatusOr<BoundArguments> LoadedKernel::Bind(
    absl::Span<const PackedValue> args) const {
  return BindPacked(signature_, args);
}

absl::Status LoadedKernel::RunBound(const KilnHost* host,
                                    const BoundArguments& args) const {
  if (entry_ == nullptr) {
    return absl::FailedPreconditionError("call of a kernel that is not loaded");
  }
  return KernelStatus(entry_(host, args.data.data(), args.scalars.data()),
                      signature_.name);
}

absl::Status LoadedKernel::Call(const KilnHost* host,
                                absl::Span<const PackedValue> args) const {
  if (!NeedsCopies(signature_, args)) {
    KILN_ASSIGN_OR_RETURN(const BoundArguments bound, Bind(args));
    return RunBound(host, bound);
  }
  AlignedCopies copies;
  std::vector<PackedValue> aligned(args.begin(), args.end());
  for (size_t i = 0; i < args.size(); ++i) {
    const KernelBuffer* buffer = Misaligned(signature_, i, args[i]);
    if (!buffer) continue;
    KILN_ASSIGN_OR_RETURN(
        aligned[i], copies.Of(std::get<NDArray>(args[i]), buffer->written));
  }
  KILN_ASSIGN_OR_RETURN(const BoundArguments bound, Bind(aligned));
  KILN_RETURN_IF_ERROR(RunBound(host, bound));
  copies.WriteBack();
  return absl::OkStatus();
}

PackedFunction LoadedKernel::Pack(const KilnHost* host) const {
  return PackedFunction(
      signature_.name,
      [kernel = *this, host](absl::Span<const PackedValue> args) {
        return kernel.Call(host, args);
      });
}

}  // namespace kiln
