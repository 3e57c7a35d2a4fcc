// A model that a C++ program is linked to, with typed arguments; header only,
// over kiln.h. Headers that tensor_module (bazel/tensor_module.bzl) generates
// derive from Module.
//
//   mlp::Module mlp;
//   rt::Result y = mlp.main({pixels.data(), {1, 784}});
//   if (!y.ok()) return Fail(y.error());
//   rt::Tensor<const float, 2> scores = y.tensor<float, 2>();
#ifndef KILN_VM_CAPI_MODULE_H_
#define KILN_VM_CAPI_MODULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/vm/capi/kiln.h"

namespace kiln::rt {

// 16 bits of a float16 and of a bfloat16.
struct Half {
  uint16_t bits = 0;
};
struct BrainHalf {
  uint16_t bits = 0;
};

template <typename T>
constexpr KilnDlType DlTypeFor() {
  using V = std::remove_const_t<T>;
  constexpr auto kBits = static_cast<uint8_t>(8 * sizeof(V));
  if (std::is_same_v<V, bool>) return {KILN_DL_BOOL, kBits, 1};
  if (std::is_same_v<V, Half>) return {KILN_DL_FLOAT, kBits, 1};
  if (std::is_same_v<V, BrainHalf>) return {KILN_DL_BFLOAT, kBits, 1};
  if (std::is_floating_point_v<V>) return {KILN_DL_FLOAT, kBits, 1};
  return {
      static_cast<uint8_t>(std::is_signed_v<V> ? KILN_DL_INT : KILN_DL_UINT),
      kBits, 1};
}

// Row-major, in memory of somebody else's.
template <typename T, int kRank>
struct Tensor {
  T* data = nullptr;
  std::array<int64_t, kRank> shape = {};

  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape) count *= extent;
    return count;
  }
};

// What a call gave: a value, or an error.
class Result {
 public:
  Result() = default;
  Result(Result&& other) noexcept { Swap(other); }
  Result& operator=(Result&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Result() { KilnValueRelease(value_); }

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  const KilnValue* value() const { return value_; }

  // The tensor, for as long as the result lives; null where it is of another
  // type or rank.
  template <typename T, int kRank>
  Tensor<const T, kRank> tensor() const {
    KilnDlTensor dl;
    Tensor<const T, kRank> view;
    constexpr KilnDlType kType = DlTypeFor<T>();
    const bool fits = ok() && KilnValueTensor(value_, &dl) == KILN_OK &&
                      dl.ndim == kRank && dl.dtype.code == kType.code &&
                      dl.dtype.bits == kType.bits;
    if (!fits) return view;
    view.data = static_cast<const T*>(dl.data);
    for (int i = 0; i < kRank; ++i) view.shape[i] = dl.shape[i];
    return view;
  }

  // A field of a tuple.
  Result field(int32_t index) const {
    Result field;
    if (KilnValueField(value_, index, &field.value_) != KILN_OK) {
      field.error_ = KilnErrorText();
    }
    return field;
  }

 private:
  friend class Module;
  void Swap(Result& other) {
    std::swap(value_, other.value_);
    std::swap(error_, other.error_);
  }

  KilnValue* value_ = nullptr;
  std::string error_;
};

// One argument of a call, as kiln.h has it, and what it points to.
class Argument {
 public:
  template <typename T, int kRank>
  Argument(const Tensor<T, kRank>& tensor)  // NOLINT: converts
      : shape_(tensor.shape.begin(), tensor.shape.end()) {
    argument_.kind = KILN_TENSOR;
    void* data = const_cast<std::remove_const_t<T>*>(tensor.data);
    tensor_ = {data,    {KILN_DL_CPU, 0}, kRank, DlTypeFor<T>(),
               nullptr, nullptr,          0};
  }
  Argument(int64_t integer) {  // NOLINT: converts
    argument_.kind = KILN_INTEGER;
    argument_.as.integer = integer;
  }
  Argument(double real) {  // NOLINT: converts
    argument_.kind = KILN_REAL;
    argument_.as.real = real;
  }
  Argument(std::vector<int64_t> extents)  // NOLINT: converts
      : shape_(std::move(extents)) {
    argument_.kind = KILN_SHAPE;
    argument_.count = static_cast<int32_t>(shape_.size());
  }
  // Anything else; what it points to is the caller's.
  Argument(const KilnArgument& argument)  // NOLINT: converts
      : argument_(argument), is_own_(false) {}

  // Good for as long as this one stays where it is.
  KilnArgument get() {
    if (!is_own_) return argument_;
    if (argument_.kind == KILN_TENSOR) {
      tensor_.shape = shape_.data();
      argument_.as.tensor = &tensor_;
    }
    if (argument_.kind == KILN_SHAPE) argument_.as.extents = shape_.data();
    return argument_;
  }

 private:
  KilnArgument argument_ = {};
  KilnDlTensor tensor_ = {};
  std::vector<int64_t> shape_;
  bool is_own_ = true;  // what `argument_` points to
};

// A machine over a model that the program is linked to. Runs one call at a
// time; threads have one each, and share code and weights.
class Module {
 public:
  // Whether the model could be opened; every call gives the same error if not.
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

  Result Call(const char* function, std::vector<Argument> arguments) {
    Result result;
    result.error_ = error_;
    if (!ok()) return result;
    std::vector<KilnArgument> all;
    for (Argument& argument : arguments) all.push_back(argument.get());
    if (KilnMachineCall(machine_, function, all.data(),
                        static_cast<int32_t>(all.size()),
                        &result.value_) != KILN_OK) {
      result.error_ = KilnErrorText();
    }
    return result;
  }

 protected:
  // `symbol` is the model's; `threads` of parallel loops, 0: all processors.
  Module(const void* symbol, int threads) {
    KilnModel* model = nullptr;
    KilnMachineOptions options = {sizeof(options), threads, 0, nullptr};
    if (KilnModelOpenSymbol(symbol, &model) != KILN_OK ||
        KilnMachineCreate(model, &options, &machine_) != KILN_OK) {
      error_ = KilnErrorText();
    }
    KilnModelClose(model);  // The machine has it.
  }
  ~Module() { KilnMachineDestroy(machine_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

 private:
  KilnMachine* machine_ = nullptr;
  std::string error_;
};

}  // namespace kiln::rt

#endif  // KILN_VM_CAPI_MODULE_H_
