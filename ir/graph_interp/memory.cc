// Memory that programs manage themselves. A tensor that takes a part of a
// storage has bytes of its own here, and ends those that took it before: these
// read as nonsense from then on, so that a plan which gives memory away too
// early shows. Of
//
//   s = R.memory.alloc_storage(R.shape([8]), 0, "global", "float32")
//   a = R.memory.alloc_tensor(s, 0, R.shape([2]), "float32", 0)
//   b = R.memory.alloc_tensor(s, 4, R.shape([1]), "float32", 0)
//
// `a` is of no use once `b` is there.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"
#include "kiln/ir/graph_interp/evaluator.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln::graph {
namespace {

// Of floats a NaN, of integers -1.
constexpr uint8_t kUndefined = 0xFF;

void Undefine(kiln::Tensor& tensor) {
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), kUndefined);
}

absl::Status CheckInside(const kiln::Tensor& held, int64_t begin,
                         const kiln::Tensor& part) {
  const auto bytes = static_cast<int64_t>(held.bytes.size());
  const auto size = static_cast<int64_t>(part.bytes.size());
  if (begin >= 0 && begin <= bytes && size <= bytes - begin) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a tensor of ", size, " bytes from byte ", begin,
                   " on does not fit into ", bytes, " bytes"));
}

}  // namespace

absl::StatusOr<Value> Evaluator::EvaluateMemory(const MemoryCall& call,
                                                Scope& scope) {
  if (call.action == MemoryAction::kAllocate) {
    KILN_ASSIGN_OR_RETURN(std::vector<Value> made,
                          NewTensors({call.info}, scope));
    Undefine(*std::get<TensorValue>(made[0]));
    return std::move(made[0]);
  }
  if (call.action == MemoryAction::kEnd) return TupleOfValues({});
  KILN_ASSIGN_OR_RETURN(Value source, Evaluate(call.source, scope));
  if (call.action == MemoryAction::kSame) return source;
  KILN_ASSIGN_OR_RETURN(const Value offset, Number(call.offset, scope));
  const auto* held = std::get_if<TensorValue>(&source);
  const auto* begin = std::get_if<int64_t>(&offset);
  if (!held || !begin) {
    return absl::InvalidArgumentError(absl::StrCat(
        PrintGraphExpr(call.source), " holds no memory for a tensor"));
  }
  if (call.action == MemoryAction::kTake) {
    return TakeFrom(*held, *begin, call.info, scope);
  }
  KILN_ASSIGN_OR_RETURN(std::vector<Value> made,
                        NewTensors({call.info}, scope));
  auto& bytes = std::get<TensorValue>(made[0])->bytes;
  KILN_RETURN_IF_ERROR(
      CheckInside(**held, *begin, *std::get<TensorValue>(made[0])));
  std::copy_n((*held)->bytes.begin() + *begin, bytes.size(), bytes.begin());
  return std::move(made[0]);
}

absl::StatusOr<Value> Evaluator::TakeFrom(const TensorValue& storage,
                                          int64_t begin, const StructInfo& info,
                                          const Scope& scope) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Value> made,
                        NewTensors({info}, scope));
  const auto& tensor = std::get<TensorValue>(made[0]);
  KILN_RETURN_IF_ERROR(CheckInside(*storage, begin, *tensor));
  Undefine(*tensor);
  const int64_t end = begin + static_cast<int64_t>(tensor->bytes.size());
  std::vector<Taken>& all = storages_[storage];
  std::vector<Taken> kept;
  for (const Taken& taken : all) {
    const TensorValue other = taken.tensor.lock();
    if (!other) continue;
    const bool is_apart = taken.end <= begin || end <= taken.begin;
    if (is_apart) kept.push_back(taken);
    if (!is_apart) Undefine(*other);
  }
  kept.push_back({tensor, begin, end});
  all = std::move(kept);
  return made[0];
}

}  // namespace kiln::graph
