// A kernel in memory, with what is needed to call it safely.
#ifndef KILN_VM_PACKED_LOADED_KERNEL_H_
#define KILN_VM_PACKED_LOADED_KERNEL_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/signature.h"
#include "kiln/vm/packed/packed_function.h"
#include "kiln/vm/packed/quick_bind.h"

namespace kiln {

// Checks `args`, one for each parameter of a well-formed signature. The error
// names the parameter, what was expected and what came.
absl::StatusOr<BoundArguments> BindPacked(const KernelSignature& signature,
                                          absl::Span<const PackedValue> args);

// Holds a kernel's entry point, its signature, and whatever keeps its code
// loaded. A value; copies share the code.
class LoadedKernel {
 public:
  LoadedKernel() = default;
  // Refuses a malformed signature and a null entry.
  static absl::StatusOr<LoadedKernel> Create(
      KernelSignature signature, KilnKernel entry,
      std::shared_ptr<const void> keep_alive);

  const KernelSignature& signature() const { return signature_; }
  KilnKernel entry() const { return entry_; }

  // Checks `args`, one for each parameter of the signature, without a call. To
  // time a kernel, bind once and call RunBound in the loop. Makes no copies:
  // refuses unaligned tensors, and those that share memory with written ones.
  absl::StatusOr<BoundArguments> Bind(absl::Span<const PackedValue> args) const;

  // Runs the kernel; a status other than 0 becomes an error that names it.
  absl::Status RunBound(const KilnHost* host, const BoundArguments& args) const;

  // Bind, then RunBound. Tensors may lie at any address: those whose alignment
  // the kernel relies on and that lack it are copied, and copied back if it
  // writes them. What is only read may lie where the kernel writes: it sees a
  // copy, so that results are those of tensors that are apart. Refused is what
  // is written twice, and any overlap if the function declares tir.noalias.
  absl::Status Call(const KilnHost* host,
                    absl::Span<const PackedValue> args) const;

  // As Call, without an allocation. False, and nothing was called, where
  // anything about the call is unusual; Call says what is wrong, or copies.
  bool CallQuickly(const KilnHost* host, absl::Span<const QuickArgument> args,
                   QuickArguments* scratch, absl::Status* status) const;

  // The kernel as a packed function; `host` must outlive it.
  PackedFunction Pack(const KilnHost* host) const;

 private:
  KernelSignature signature_;
  KilnKernel entry_ = nullptr;
  bool can_bind_quickly_ = false;
  std::shared_ptr<const void> keep_alive_;
};

// What a kernel's return value means.
absl::Status KernelStatus(int32_t status, const std::string& kernel);

}  // namespace kiln

#endif  // KILN_VM_PACKED_LOADED_KERNEL_H_
