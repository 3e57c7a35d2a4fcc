#include "kiln/ir/expr/kinds.h"

#include <unordered_map>

namespace kiln {
namespace {

constexpr BinaryInfo kBinaries[] = {
#define KILN_ROW(kind, symbol, name, precedence, gives_bool, commutes) \
  {symbol, name, precedence, gives_bool, commutes},
    KILN_BINARY_KINDS(KILN_ROW)
#undef KILN_ROW
};

constexpr std::string_view kKindNames[] = {
#define KILN_ROW(kind, ...) #kind,
    KILN_BINARY_KINDS(KILN_ROW) KILN_OTHER_EXPR_KINDS(KILN_ROW)
#undef KILN_ROW
};

constexpr IntrinsicInfo kIntrinsics[] = {
#define KILN_ROW(op, name, arity, purity) {name, arity, Purity::purity},
    KILN_INTRINSICS(KILN_ROW)
#undef KILN_ROW
};

}  // namespace

const BinaryInfo* GetBinaryInfo(ExprKind kind) {
  return IsBinary(kind) ? &kBinaries[static_cast<int>(kind)] : nullptr;
}

std::string_view ExprKindName(ExprKind kind) {
  return kKindNames[static_cast<int>(kind)];
}

const IntrinsicInfo& GetIntrinsicInfo(Intrinsic op) {
  return kIntrinsics[static_cast<int>(op)];
}

std::optional<Intrinsic> FindIntrinsic(std::string_view name) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, Intrinsic>;
    int next = 0;
    for (const IntrinsicInfo& info : kIntrinsics) {
      map->emplace(info.name, static_cast<Intrinsic>(next++));
    }
    return map;
  }();
  auto found = table->find(name);
  if (found == table->end()) return std::nullopt;
  return found->second;
}

}  // namespace kiln
