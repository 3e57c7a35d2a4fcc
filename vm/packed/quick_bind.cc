#include "kiln/vm/packed/quick_bind.h"

#include <algorithm>

#include "kiln/vm/library/kernel_abi.h"

namespace kiln {
namespace {

class Binder {
 public:
  Binder(const KernelSignature& signature, QuickArguments* bound)
      : signature_(signature), bound_(*bound) {
    bound_.data.assign(signature.buffers.size(), nullptr);
    bound_.scalars.assign(signature.scalars.size(), kUnknown);
  }

  bool Run(absl::Span<const QuickArgument> args) {
    if (args.size() != signature_.params.size()) return false;
    for (size_t i = 0; i < args.size(); ++i) {
      if (!BindOne(signature_.params[i], args[i])) return false;
    }
    const auto& scalars = bound_.scalars;
    return std::find(scalars.begin(), scalars.end(), kUnknown) ==
               scalars.end() &&
           AreApart(args);
  }

 private:
  // No extent, and unlikely as a number.
  static constexpr int64_t kUnknown = INT64_MIN;

  bool BindOne(const KernelParam& param, const QuickArgument& arg) {
    if (param.kind == KernelParam::Kind::kScalar) {
      return !arg.array && arg.integer != kUnknown &&
             Set(param.index, arg.integer);
    }
    const NDArray* array = arg.array;
    if (!array || array->is_null()) return false;
    const KernelBuffer& buffer = signature_.buffers[param.index];
    const auto address = reinterpret_cast<uintptr_t>(array->data());
    const auto shape = array->shape();
    if (array->dtype() != buffer.dtype || shape.size() != buffer.shape.size() ||
        (address & (buffer.alignment - 1)) != 0 || address == 0) {
      return false;
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      const KernelDim& dim = buffer.shape[d];
      const bool fits = dim.is_constant() ? dim.constant() == shape[d]
                                          : Set(dim.scalar(), shape[d]);
      if (!fits) return false;
    }
    bound_.data[param.index] = array->data();
    return true;
  }

  // Whether the scalar is not known yet, or known as this number.
  bool Set(int scalar, int64_t value) {
    int64_t& known = bound_.scalars[scalar];
    if (known == kUnknown) known = value;
    return known == value;
  }

  bool AreApart(absl::Span<const QuickArgument> args) const {
    for (size_t i = 0; i < args.size(); ++i) {
      const KernelParam& param = signature_.params[i];
      if (param.kind != KernelParam::Kind::kBuffer ||
          !signature_.buffers[param.index].written) {
        continue;
      }
      const NDArray& written = *args[i].array;
      for (size_t j = 0; j < args.size(); ++j) {
        const NDArray* other = args[j].array;
        if (i != j && other &&
            KilnShareMemory(written.data(), written.bytes(), other->data(),
                            other->bytes()) &&
            !(written.data() == other->data() &&
              MayBeInPlace(signature_, param.index,
                           signature_.params[j].index))) {
          return false;
        }
      }
    }
    return true;
  }

  const KernelSignature& signature_;
  QuickArguments& bound_;
};

bool IsPlain(const KernelBuffer& buffer) {
  return buffer.strides.empty() && buffer.offset == KernelDim() &&
         std::all_of(buffer.shape.begin(), buffer.shape.end(),
                     [](const KernelDim& dim) {
                       return dim.is_constant() || dim.is_symbolic();
                     });
}

}  // namespace

bool CanBindQuickly(const KernelSignature& signature) {
  return std::all_of(signature.buffers.begin(), signature.buffers.end(),
                     IsPlain) &&
         std::all_of(signature.scalars.begin(), signature.scalars.end(),
                     [](const KernelScalar& scalar) {
                       return scalar.dtype == DType::Int(64);
                     });
}

bool BindQuickly(const KernelSignature& signature,
                 absl::Span<const QuickArgument> args, QuickArguments* bound) {
  return Binder(signature, bound).Run(args);
}

}  // namespace kiln
