#include "kiln/vm/machine/observed_call.h"

#include <algorithm>
#include <set>
#include <variant>

#include "kiln/vm/library/kernel_dim.h"
#include "kiln/vm/library/signature.h"

namespace kiln::vm {
namespace {

// Adds up tensors, each at its first sight.
class Sizes {
 public:
  void Add(const Value& value, double* bytes) {
    if (const auto* tuple = std::get_if<Tuple>(&value)) {
      for (const Value& field : (*tuple)->fields) Add(field, bytes);
    }
    const auto* array = std::get_if<NDArray>(&value);
    if (!array || array->is_null() || array->bytes() == 0) return;
    if (seen_.insert(array->data()).second) {
      *bytes += static_cast<double>(array->bytes());
    }
  }

 private:
  std::set<const void*> seen_;
};

// Nothing is checked yet: arguments may be of any kind and rank.
bool Fits(const NDArray& array, const KernelSignature& signature,
          const KernelParam& param) {
  return !array.is_null() && param.kind == KernelParam::Kind::kBuffer &&
         array.shape().size() == signature.buffers[param.index].shape.size();
}

ScalarValues ScalarsOf(const KernelSignature& signature,
                       absl::Span<const Value> args) {
  ScalarValues scalars(signature.scalars.size());
  ArgumentShapes shapes(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    const auto* array = std::get_if<NDArray>(&args[i]);
    const auto* integer = std::get_if<int64_t>(&args[i]);
    const KernelParam& param = signature.params[i];
    if (array && Fits(*array, signature, param)) shapes[i] = array->shape();
    if (integer && param.kind == KernelParam::Kind::kScalar) {
      scalars.values[param.index] = *integer;
    }
  }
  FindScalars(signature, shapes, &scalars);
  return scalars;
}

}  // namespace

void LookAtKernel(const Kernel& kernel, absl::Span<const Value> args,
                  ObservedCall* call) {
  const KernelSignature& signature = kernel.signature;
  const auto is_written = [&](const KernelParam& param) {
    return param.kind == KernelParam::Kind::kBuffer &&
           signature.buffers[param.index].written;
  };
  Sizes sizes;
  for (const bool written : {true, false}) {
    for (size_t i = 0; i < args.size(); ++i) {
      if (is_written(signature.params[i]) != written) continue;
      sizes.Add(args[i], written ? &call->bytes_written : &call->bytes_read);
    }
  }
  if (!kernel.flop) return;
  const ScalarValues scalars = ScalarsOf(signature, args);
  const auto count =
      Evaluate(kernel.flop->count, absl::MakeConstSpan(scalars.values));
  if (!count) return;
  call->flop = static_cast<double>(std::max<int64_t>(*count, 0));
  call->flop_is_bound = kernel.flop->is_bound;
}

void LookAtPacked(absl::Span<const Value> args, const Value& result,
                  ObservedCall* call) {
  Sizes sizes;
  for (const Value& arg : args) sizes.Add(arg, &call->bytes_read);
  sizes.Add(result, &call->bytes_written);
}

}  // namespace kiln::vm
