// Numbers that a call tells: extents, strides and offsets made of constants and
// of the scalars of a signature, such as n + m or (n + 1) // 2.
#ifndef KILN_VM_LIBRARY_KERNEL_DIM_H_
#define KILN_VM_LIBRARY_KERNEL_DIM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace kiln {

class KernelDim {
 public:
  // Division and remainder round down.
  enum class Op : uint8_t {
    kConstant,  // `value`
    kScalar,    // KernelSignature::scalars[value]
    kAdd,
    kSub,
    kMul,
    kFloorDiv,
    kFloorMod,
    kMin,
    kMax
  };
  // In postfix order: an operation follows its operands.
  struct Step {
    Op op = Op::kConstant;
    int64_t value = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  KernelDim() : steps_{Step{}} {}
  static KernelDim Constant(int64_t value);
  static KernelDim Symbolic(int scalar);
  static KernelDim Compound(Op op, const KernelDim& a, const KernelDim& b);
  // Nothing where the steps do not end in one number.
  static std::optional<KernelDim> FromSteps(std::vector<Step> steps);

  bool is_constant() const { return Only(Op::kConstant); }
  bool is_symbolic() const { return Only(Op::kScalar); }
  // Of one that is.
  int64_t constant() const { return steps_[0].value; }
  int scalar() const { return static_cast<int>(steps_[0].value); }

  absl::Span<const Step> steps() const { return steps_; }
  // The scalars in it, each as often as it stands there.
  std::vector<int> Scalars() const;

  // What `leaf(step)` of constants and scalars and `combine(op, a, b)` make of
  // it.
  template <typename T, typename Leaf, typename Combine>
  T Fold(Leaf leaf, Combine combine) const {
    std::vector<T> stack;
    for (const Step& step : steps_) {
      if (IsLeaf(step.op)) {
        stack.push_back(leaf(step));
        continue;
      }
      T b = std::move(stack.back());
      stack.pop_back();
      stack.back() = combine(step.op, std::move(stack.back()), std::move(b));
    }
    return std::move(stack.back());
  }

  static bool IsLeaf(Op op) { return op == Op::kConstant || op == Op::kScalar; }
  friend bool operator==(const KernelDim&, const KernelDim&) = default;

 private:
  explicit KernelDim(std::vector<Step> steps) : steps_(std::move(steps)) {}
  bool Only(Op op) const { return steps_.size() == 1 && steps_[0].op == op; }

  std::vector<Step> steps_;
};

// The value for those of the scalars; nothing where it overflows or divides by
// zero.
std::optional<int64_t> Evaluate(const KernelDim& dim,
                                absl::Span<const int64_t> scalars);
// The same where some scalars are known; nothing if it needs another one.
std::optional<int64_t> Evaluate(
    const KernelDim& dim, absl::Span<const std::optional<int64_t>> scalars);

// The one scalar in `dim` that is not known; nothing where there are none or
// several. It may stand there more than once.
std::optional<int> OnlyUnknown(
    const KernelDim& dim, absl::Span<const std::optional<int64_t>> scalars);

// What `unknown`, the one scalar of `dim` whose value is not known, has to be
// for the value to be `wanted`; nothing where that is no whole number, or not
// told, as by n // 2.
std::optional<int64_t> Solve(const KernelDim& dim,
                             absl::Span<const std::optional<int64_t>> scalars,
                             int unknown, int64_t wanted);

// As the program spells it: "n + m", "(n + 1) // 2", "T.min(n, 8)".
std::string ToString(const KernelDim& dim,
                     const std::function<std::string(int)>& name_of_scalar);

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_KERNEL_DIM_H_
