// Binds the arguments of a call in three steps: kinds, types and ranks are
// those of the parameters; the scalars are found; every number of a shape is
// what the signature says with these scalars. Of
//   concat(A: float32[n, 8], B: float32[m, 8], C: out float32[n + m, 8])
// A and B tell n and m, and C is checked against their sum.
#include <string_view>
#include <utility>

#include "kiln/base/status_macros.h"
#include "kiln/vm/library/kernel_abi.h"
#include "kiln/vm/library/signature.h"

namespace kiln {
namespace {

absl::Status Invalid(std::string message) {
  return absl::InvalidArgumentError(message);
}

// "parameter 2 (B: float32[n, 4]) of kernel mm".
std::string Where(const KernelSignature& signature, size_t position) {
  const KernelParam& param = signature.params[position];
  std::string what;
  if (param.kind == KernelParam::Kind::kBuffer) {
    const KernelBuffer& buffer = signature.buffers[param.index];
    what = buffer.name + ": " + ToString(signature, buffer);
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

// A number that an argument has, and what the signature calls it.
struct Number {
  const KernelDim* dim = nullptr;
  int64_t value = 0;
  size_t param = 0;
  std::string_view what;  // "extent"
  size_t axis = 0;
  // Says nothing of where elements lie: the stride of at most one.
  bool idle = false;
};

void AddNumbers(const KernelBuffer& buffer, absl::Span<const int64_t> shape,
                size_t param, std::vector<Number>* numbers) {
  for (size_t d = 0; d < shape.size(); ++d) {
    numbers->push_back({&buffer.shape[d], shape[d], param, "extent", d});
  }
  uint64_t stride = 1;
  for (size_t d = buffer.strides.size(); d-- > 0;) {
    numbers->push_back({&buffer.strides[d], static_cast<int64_t>(stride), param,
                        "stride", d, shape[d] <= 1});
    stride *= shape[d];
  }
  if (buffer.offset != KernelDim()) {
    numbers->push_back({&buffer.offset, 0, param, "offset"});
  }
}

std::vector<Number> NumbersOf(const KernelSignature& signature,
                              const ArgumentShapes& shapes) {
  std::vector<Number> numbers;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i]) continue;
    AddNumbers(signature.buffers[signature.params[i].index], *shapes[i], i,
               &numbers);
  }
  return numbers;
}

// Whether `number` told the one scalar in it that was not known.
bool Learn(const Number& number, ScalarValues* scalars) {
  const std::optional<int> unknown = OnlyUnknown(*number.dim, scalars->values);
  if (!unknown) return false;
  const std::optional<int64_t> value =
      Solve(*number.dim, scalars->values, *unknown, number.value);
  if (!value) return false;
  scalars->values[*unknown] = *value;
  scalars->params[*unknown] = number.param;
  return true;
}

// Numbers that are one scalar come first, those that say little last.
void LearnAll(const std::vector<Number>& numbers, ScalarValues* scalars) {
  for (bool idle : {false, true}) {
    for (const Number& number : numbers) {
      if (number.idle == idle && number.dim->is_symbolic()) {
        Learn(number, scalars);
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const Number& number : numbers) {
        if (number.idle == idle) changed |= Learn(number, scalars);
      }
    }
  }
}

// Whether `value` can be the size of something in the type.
bool IsSize(DType dtype, int64_t value) {
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  return value >= 0 && (bits >= 63 || value < int64_t{1} << bits);
}

class Binder {
 public:
  Binder(const KernelSignature& signature,
         absl::Span<const KernelArgument> args)
      : signature_(signature),
        args_(args),
        scalars_(signature.scalars.size()) {}

  absl::StatusOr<BoundArguments> Bind() {
    KILN_RETURN_IF_ERROR(CheckKinds());
    ArgumentShapes shapes(args_.size());
    bound_.data.resize(signature_.buffers.size());
    for (size_t i = 0; i < args_.size(); ++i) {
      const int index = signature_.params[i].index;
      if (args_[i].kind == KernelParam::Kind::kScalar) {
        scalars_.values[index] = args_[i].value;
        scalars_.params[index] = i;
        continue;
      }
      KILN_RETURN_IF_ERROR(CheckTensor(i, signature_.buffers[index]));
      shapes[i] = args_[i].shape;
      bound_.data[index] = args_[i].data;
    }
    const std::vector<Number> numbers = NumbersOf(signature_, shapes);
    LearnAll(numbers, &scalars_);
    for (const Number& number : numbers) {
      KILN_RETURN_IF_ERROR(CheckNumber(number));
    }
    for (size_t i = 0; i < args_.size(); ++i) {
      if (!shapes[i]) continue;
      KILN_RETURN_IF_ERROR(
          CheckAddress(i, signature_.buffers[signature_.params[i].index]));
    }
    KILN_RETURN_IF_ERROR(CheckApart(signature_, args_));
    KILN_RETURN_IF_ERROR(BindScalars());
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

  absl::Status CheckTensor(size_t position, const KernelBuffer& buffer) const {
    const KernelArgument& arg = args_[position];
    if (arg.dtype != buffer.dtype) {
      return Invalid(Where(signature_, position) + ": expected " +
                     buffer.dtype.ToString() + ", got " + arg.dtype.ToString());
    }
    if (arg.shape.size() != buffer.shape.size()) {
      return Invalid(Where(signature_, position) + ": expected rank " +
                     std::to_string(buffer.shape.size()) + ", got shape " +
                     ShapeText(arg.shape));
    }
    return absl::OkStatus();
  }

  // " (n is set by parameter 0)".
  std::string Reason(const KernelDim& dim) const {
    std::string reason;
    for (int s : dim.Scalars()) {
      reason += (reason.empty() ? " (" : ", ") + signature_.scalars[s].name +
                " is set by parameter " + std::to_string(scalars_.params[s]);
    }
    return reason.empty() ? "" : reason + ")";
  }

  absl::Status CheckNumber(const Number& number) const {
    const KernelDim& dim = *number.dim;
    for (int s : dim.Scalars()) {
      if (scalars_.values[s]) continue;
      return Invalid(Where(signature_, number.param) + ": no " +
                     signature_.scalars[s].name + " gives the " +
                     std::string(number.what) + " " +
                     std::to_string(number.value) + " of axis " +
                     std::to_string(number.axis) + ", which has to be " +
                     ToString(signature_, dim));
    }
    const std::optional<int64_t> expected = Evaluate(dim, scalars_.values);
    if (expected == number.value || (number.idle && expected)) {
      return absl::OkStatus();
    }
    std::string text = ": expected " + std::string(number.what) + " ";
    text += expected ? std::to_string(*expected)
                     : ToString(signature_, dim) + ", which has no value";
    text += Reason(dim) + " at axis " + std::to_string(number.axis) + ", got ";
    const std::string shape = "shape " + ShapeText(args_[number.param].shape);
    if (number.what == "extent") {
      return Invalid(Where(signature_, number.param) + text + shape);
    }
    return Invalid(Where(signature_, number.param) + text +
                   std::to_string(number.value) + " of the compact " + shape);
  }

  absl::Status CheckAddress(size_t position, const KernelBuffer& buffer) const {
    const KernelArgument& arg = args_[position];
    if (Bytes(arg) == 0) return absl::OkStatus();
    if (arg.data == nullptr) {
      return Invalid(Where(signature_, position) +
                     ": the tensor has no memory (null address)");
    }
    if (reinterpret_cast<uintptr_t>(arg.data) % buffer.alignment == 0) {
      return absl::OkStatus();
    }
    return Invalid(Where(signature_, position) +
                   ": the address is not a multiple of " +
                   std::to_string(buffer.alignment) +
                   "; copy the tensor into an aligned one");
  }

  absl::Status BindScalars() {
    for (size_t s = 0; s < scalars_.values.size(); ++s) {
      // Those that are passed may be anything.
      const KernelScalar& scalar = signature_.scalars[s];
      const size_t param = scalars_.params[s];
      const int64_t value = scalars_.values[s].value_or(0);
      if (args_[param].kind == KernelParam::Kind::kBuffer &&
          !IsSize(scalar.dtype, value)) {
        return Invalid(Where(signature_, param) + ": " + scalar.name +
                       " would be " + std::to_string(value) +
                       ", which is no size of type " + scalar.dtype.ToString() +
                       "; got shape " + ShapeText(args_[param].shape));
      }
      bound_.scalars.push_back(value);
    }
    return absl::OkStatus();
  }

  const KernelSignature& signature_;
  absl::Span<const KernelArgument> args_;
  ScalarValues scalars_;
  BoundArguments bound_;
};

}  // namespace

bool ShareMemory(const KernelArgument& a, const KernelArgument& b) {
  return KilnShareMemory(a.data, Bytes(a), b.data, Bytes(b)) != 0;
}

bool MayBeInPlace(const KernelSignature& signature, int written, int other) {
  const std::vector<int>& may = signature.buffers[written].in_place_of;
  return std::find(may.begin(), may.end(), other) != may.end();
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
          !ShareMemory(args[i], args[j]) ||
          (args[i].data == args[j].data &&
           MayBeInPlace(signature, param.index, signature.params[j].index))) {
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

void FindScalars(const KernelSignature& signature, const ArgumentShapes& shapes,
                 ScalarValues* scalars) {
  LearnAll(NumbersOf(signature, shapes), scalars);
}

absl::StatusOr<BoundArguments> BindArguments(
    const KernelSignature& signature, absl::Span<const KernelArgument> args) {
  return Binder(signature, args).Bind();
}

}  // namespace kiln
