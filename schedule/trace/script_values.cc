#include "kiln/schedule/trace/script_values.h"

#include <algorithm>

namespace kiln {
namespace {

bool IsNumber(const Arg& arg) {
  return arg.integer() || arg.arithmetic() ||
         (arg.rv() && arg.rv()->kind == RvKind::kInt);
}

std::optional<ExprKind> IntegerOperator(char op) {
  switch (op) {
    case '+':
      return ExprKind::kAdd;
    case '-':
      return ExprKind::kSub;
    case '*':
      return ExprKind::kMul;
    case '/':
      return ExprKind::kFloorDiv;
    case '%':
      return ExprKind::kFloorMod;
  }
  return std::nullopt;
}

// Takes the parts of `arg` out of `budget`; false where that is spent or the
// parts are nested deeper than `depth`.
bool TakeParts(const Arg& arg, int depth, int* budget) {
  if (--*budget < 0 || depth < 0) return false;
  const auto take = [&](const Arg& part) {
    return TakeParts(part, depth - 1, budget);
  };
  if (const RvArithmetic* e = arg.arithmetic()) return take(e->a) && take(e->b);
  if (const ArgList* list = arg.list()) {
    return std::all_of(list->begin(), list->end(), take);
  }
  if (!arg.dict()) return true;
  return std::all_of(arg.dict()->begin(), arg.dict()->end(),
                     [&](const auto& entry) { return take(entry.second); });
}

}  // namespace

bool IsSmall(const Arg& arg) {
  int budget = 10000;
  return TakeParts(arg, 200, &budget);
}

std::optional<Arg> ArgBinary(const std::string& text, const Arg& a,
                             const Arg& b) {
  if (text == "+" && a.list() && b.list()) {
    ArgList joined = *a.list();
    joined.insert(joined.end(), b.list()->begin(), b.list()->end());
    return Arg(std::move(joined));
  }
  const char op = text == "//" ? '/' : text.size() == 1 ? text[0] : ' ';
  const auto kind = text == "/" ? std::nullopt : IntegerOperator(op);
  if (!kind || !IsNumber(a) || !IsNumber(b)) return std::nullopt;
  if (!a.integer() || !b.integer()) {
    return Arg(std::make_shared<const RvArithmetic>(RvArithmetic{op, a, b}));
  }
  int64_t value = 0;
  if (!FoldInt(*kind, *a.integer(), *b.integer(), &value)) return std::nullopt;
  return Arg(value);
}

std::optional<Arg> ArgItem(const Arg& list, int64_t index) {
  if (!list.list()) return std::nullopt;
  const auto size = static_cast<int64_t>(list.list()->size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return (*list.list())[index];
}

std::optional<Arg> ArgSlice(const Arg& list, std::optional<int64_t> begin,
                            std::optional<int64_t> end) {
  if (!list.list()) return std::nullopt;
  const auto size = static_cast<int64_t>(list.list()->size());
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t from = clamp(begin.value_or(0));
  const int64_t to = std::max(from, clamp(end.value_or(size)));
  return Arg(ArgList(list.list()->begin() + from, list.list()->begin() + to));
}

}  // namespace kiln
