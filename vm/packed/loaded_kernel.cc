// A call lowers its arguments to addresses and bits, finds those that the
// kernel must not see as they are, and passes copies of these. Of f(A, C),
// which reads A and writes C,
//
//   f(x, y)            x, y
//   f(x, x)            a copy of x, x            A is read while C is written
//   f(x + 4 bytes, y)  an aligned copy of x, y
//   f(x, y + 4 bytes)  x, an aligned copy that is copied back afterwards
//
// With tir.noalias, f(x, x) is refused. That written arguments are apart is
// checked on the addresses at which results end up, not on those of the copies:
// two outputs in one place would be copied back over each other.
//
// A call without copies allocates no tensor, CallQuickly nothing. Bind makes
// none either, so loops that time a kernel bind once.
#include "kiln/vm/packed/loaded_kernel.h"

#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/base/status_macros.h"
#include "kiln/vm/library/kernel_fault.h"

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

absl::StatusOr<std::vector<KernelArgument>> LowerAll(
    const KernelSignature& signature, absl::Span<const PackedValue> args) {
  std::vector<KernelArgument> lowered(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(lowered[i], Lower(signature, i, args[i]));
  }
  return lowered;
}

bool FitsParams(const KernelSignature& signature,
                absl::Span<const KernelArgument> args) {
  if (args.size() != signature.params.size()) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].kind != signature.params[i].kind) return false;
  }
  return true;
}

// The buffer of the signature that argument `i` stands for; null for scalars.
const KernelBuffer* BufferOf(const KernelSignature& signature, size_t i) {
  const KernelParam& param = signature.params[i];
  return param.kind == KernelParam::Kind::kBuffer
             ? &signature.buffers[param.index]
             : nullptr;
}

bool IsMisaligned(const KernelBuffer& buffer, const KernelArgument& arg) {
  return reinterpret_cast<uintptr_t>(arg.data) % buffer.alignment != 0;
}

// Whether argument `i`, which is only read, lies where another is written that
// may not be that tensor.
bool IsOverwritten(const KernelSignature& signature,
                   absl::Span<const KernelArgument> args, size_t i) {
  for (size_t j = 0; j < args.size(); ++j) {
    const KernelBuffer* other = BufferOf(signature, j);
    const bool is_other =
        other && other->written && ShareMemory(args[i], args[j]);
    if (is_other && !(args[i].data == args[j].data &&
                      MayBeInPlace(signature, signature.params[j].index,
                                   signature.params[i].index))) {
      return true;
    }
  }
  return false;
}

// Which arguments the kernel sees copies of: those that are only read and lie
// where another is written, unless the function rules such calls out, and those
// at addresses that it does not take.
std::vector<size_t> NeedCopies(const KernelSignature& signature,
                               absl::Span<const KernelArgument> args) {
  std::vector<size_t> copied;
  if (!FitsParams(signature, args)) return copied;  // Bind explains.
  for (size_t i = 0; i < args.size(); ++i) {
    const KernelBuffer* buffer = BufferOf(signature, i);
    if (!buffer) continue;
    if (IsMisaligned(*buffer, args[i]) ||
        (!signature.noalias && !buffer->written &&
         IsOverwritten(signature, args, i))) {
      copied.push_back(i);
    }
  }
  return copied;
}

}  // namespace

absl::StatusOr<BoundArguments> BindPacked(const KernelSignature& signature,
                                          absl::Span<const PackedValue> args) {
  KILN_ASSIGN_OR_RETURN(const std::vector<KernelArgument> lowered,
                        LowerAll(signature, args));
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
    case KILN_KERNEL_MEMORY_FAULT:
      return absl::OutOfRangeError(where +
                                   "reached outside of its buffers; the "
                                   "interpreter (run --check) tells where");
    case KILN_KERNEL_DIVISION_FAULT:
      return absl::OutOfRangeError(where +
                                   "divided an integer by zero; the "
                                   "interpreter (run --check) tells where");
    case KILN_KERNEL_NO_TILES:
      return absl::FailedPreconditionError(
          where +
          "may not use AMX: the operating system refuses it to this process, "
          "as it does where a thread has a small signal stack; compile with "
          "-mattr=-amx-int8,-amx-bf16");
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
  kernel.can_bind_quickly_ = CanBindQuickly(kernel.signature_);
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
  return KernelStatus(
      RunGuarded(
          [&] { return entry_(host, args.data.data(), args.scalars.data()); }),
      signature_.name);
}

bool LoadedKernel::CallQuickly(const KilnHost* host,
                               absl::Span<const QuickArgument> args,
                               QuickArguments* scratch,
                               absl::Status* status) const {
  if (!can_bind_quickly_ || !BindQuickly(signature_, args, scratch)) {
    return false;
  }
  const int32_t code = RunGuarded([&] {
    return entry_(host, scratch->data.data(), scratch->scalars.data());
  });
  *status = code == KILN_KERNEL_OK ? absl::OkStatus()
                                   : KernelStatus(code, signature_.name);
  return true;
}

absl::Status LoadedKernel::Call(const KilnHost* host,
                                absl::Span<const PackedValue> args) const {
  KILN_ASSIGN_OR_RETURN(const std::vector<KernelArgument> given,
                        LowerAll(signature_, args));
  const std::vector<size_t> copied = NeedCopies(signature_, given);
  if (copied.empty()) {
    KILN_ASSIGN_OR_RETURN(const BoundArguments bound,
                          BindArguments(signature_, given));
    return RunBound(host, bound);
  }
  std::vector<PackedValue> passed(args.begin(), args.end());
  // With results where they end up, which is after all is read.
  std::vector<KernelArgument> ends = given;
  for (size_t i : copied) {
    KILN_ASSIGN_OR_RETURN(NDArray copy, std::get<NDArray>(args[i]).Clone());
    if (!signature_.noalias && !BufferOf(signature_, i)->written) {
      ends[i].data = copy.data();
    }
    passed[i] = std::move(copy);
  }
  KILN_RETURN_IF_ERROR(CheckApart(signature_, ends));
  KILN_ASSIGN_OR_RETURN(const BoundArguments bound, Bind(passed));
  KILN_RETURN_IF_ERROR(RunBound(host, bound));
  for (size_t i : copied) {
    if (!BufferOf(signature_, i)->written) continue;
    KILN_RETURN_IF_ERROR(
        std::get<NDArray>(args[i]).CopyFrom(std::get<NDArray>(passed[i])));
  }
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
