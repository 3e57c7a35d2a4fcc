// A table is read from its beginning, and a node may refer to earlier nodes
// only. So there are no cycles and nothing recurses, and the depth and the size
// of the tree that a node stands for follow from those of its operands:
//
//   node 1: IntImm 1        size 1
//   node 2: Add(1, 1)       size 3
//   node i: Add(i-1, i-1)   size 2^i - 1;  node 25 has more than kMaxTreeSize
//
// Both are bounded as each node is read, and all later code may walk the tree
// by recursion. Nodes are made by their constructors rather than by the makers,
// which fold constants and take wrong types for a bug: what was written has to
// come back as it was, and a wrong type is an error of the file, told here or
// by VerifyFunction.
#include <algorithm>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "kiln/ir/serial/reader.h"
#include "kiln/ir/serial/serial.h"

namespace kiln::serial_internal {
namespace {

constexpr int kKindCount = 0
#define KILN_COUNT(...) +1
    KILN_BINARY_KINDS(KILN_COUNT) KILN_OTHER_EXPR_KINDS(KILN_COUNT)
#undef KILN_COUNT
    ;

const ExprKind* FindKind(const std::string& name) {
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string, ExprKind>;
    for (int i = 0; i < kKindCount; ++i) {
      const auto kind = static_cast<ExprKind>(i);
      map->emplace(std::string(ExprKindName(kind)), kind);
    }
    return map;
  }();
  auto found = table->find(name);
  return found == table->end() ? nullptr : &found->second;
}

// The number of operands; -1: any.
int ArityOf(ExprKind kind) {
  switch (kind) {
#define KILN_CASE(kind, ...) case ExprKind::k##kind:
    KILN_BINARY_KINDS(KILN_CASE)
#undef KILN_CASE
    case ExprKind::kRamp:
    case ExprKind::kLet:
      return 2;
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kStringImm:
    case ExprKind::kVar:
      return 0;
    case ExprKind::kCast:
    case ExprKind::kNot:
    case ExprKind::kBroadcast:
      return 1;
    case ExprKind::kSelect:
      return 3;
    case ExprKind::kLoad:
    case ExprKind::kCall:
      return -1;
  }
  return -1;
}

}  // namespace

void Reader::Fail(const std::string& what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(where_, ": node ", entries_.size() + 1, ": ", what));
}

const Reader::Entry* Reader::Use(uint32_t ref, bool optional) {
  if (!ok() || (ref == 0 && optional)) return nullptr;
  if (ref == 0 || ref > entries_.size()) {
    Fail(absl::StrCat("reference ", ref, " is not to an earlier node"));
    return nullptr;
  }
  const Entry& entry = entries_[ref - 1];
  current_.depth = std::max(current_.depth, entry.depth + 1);
  current_.tree_size += entry.tree_size;
  if (current_.depth > kMaxDepth) {
    Fail(absl::StrCat("nests deeper than ", kMaxDepth));
  }
  if (current_.tree_size > kMaxTreeSize) {
    Fail(absl::StrCat("expands to more than ", kMaxTreeSize, " nodes"));
  }
  return ok() ? &entry : nullptr;
}

Expr Reader::GetExpr(uint32_t ref, bool optional) {
  const Entry* entry = Use(ref, optional);
  if (!entry) return nullptr;
  if (!entry->expr) Fail(absl::StrCat("node ", ref, " is no expression"));
  return entry->expr;
}

Var Reader::GetVar(uint32_t ref, bool optional) {
  const Entry* entry = Use(ref, optional);
  if (!entry) return Var();
  const VarNode* var = entry->expr.As<VarNode>();
  if (!var) {
    Fail(absl::StrCat("node ", ref, " is no variable"));
    return Var();
  }
  return Var(var);
}

Buffer Reader::GetBuffer(uint32_t ref, bool optional) {
  const Entry* entry = Use(ref, optional);
  if (!entry) return nullptr;
  if (!entry->buffer) Fail(absl::StrCat("node ", ref, " is no buffer"));
  return entry->buffer;
}

Stmt Reader::GetStmt(uint32_t ref, bool optional) {
  const Entry* entry = Use(ref, optional);
  if (!entry) return nullptr;
  if (!entry->stmt) Fail(absl::StrCat("node ", ref, " is no statement"));
  return entry->stmt;
}

std::vector<Expr> Reader::GetExprs(const Refs& refs) {
  std::vector<Expr> list;
  list.reserve(refs.size());
  for (uint32_t ref : refs) list.push_back(GetExpr(ref));
  return list;
}

DType Reader::GetType(const std::string& name) {
  const std::optional<DType> dtype = DType::FromString(name);
  if (!dtype) Fail(absl::StrCat("unknown type \"", name, "\""));
  return dtype.value_or(DType::Void());
}

Expr Reader::MakeLeaf(ExprKind kind, DType dtype, const proto::Expr& message) {
  if (kind == ExprKind::kIntImm && dtype.is_integral() && dtype.is_scalar()) {
    return Expr(new IntImmNode(dtype, message.number()));
  }
  if (kind == ExprKind::kFloatImm && dtype.is_float() && dtype.is_scalar()) {
    return Expr(new FloatImmNode(dtype, message.real()));
  }
  if (kind == ExprKind::kStringImm) {
    return Expr(new StringImmNode(message.text()));
  }
  if (kind == ExprKind::kVar) return Expr(new VarNode(message.text(), dtype));
  Fail(absl::StrCat(message.kind(), " of type ", dtype.ToString()));
  return nullptr;
}

Expr Reader::MakeInner(ExprKind kind, DType dtype, const proto::Expr& message,
                       std::vector<Expr> args) {
  if (IsBinary(kind)) {
    return Expr(new BinaryNode(kind, dtype, args[0], args[1]));
  }
  if (kind == ExprKind::kCast) return Expr(new CastNode(dtype, args[0]));
  if (kind == ExprKind::kNot) return Expr(new NotNode(args[0]));
  if (kind == ExprKind::kSelect) {
    return Expr(new SelectNode(args[0], args[1], args[2]));
  }
  if (kind == ExprKind::kRamp) {
    return Expr(new RampNode(args[0], args[1], dtype.lanes()));
  }
  if (kind == ExprKind::kBroadcast) {
    return Expr(new BroadcastNode(args[0], dtype.lanes()));
  }
  if (kind == ExprKind::kLet) {
    Var var = GetVar(message.var());
    return ok() ? Expr(new LetNode(var, args[0], args[1])) : nullptr;
  }
  if (kind == ExprKind::kLoad) {
    Buffer buffer = GetBuffer(message.buffer());
    if (!ok()) return nullptr;
    return Expr(new LoadNode(dtype, std::move(buffer), std::move(args)));
  }
  const std::optional<Intrinsic> op = FindIntrinsic(message.text());
  if (op) return Expr(new CallNode(dtype, *op, std::move(args)));
  Fail(absl::StrCat("unknown intrinsic \"", message.text(), "\""));
  return nullptr;
}

Expr Reader::ReadExpr(const proto::Expr& message) {
  const ExprKind* kind = FindKind(message.kind());
  if (!kind) {
    Fail(absl::StrCat("unknown expression kind \"", message.kind(), "\""));
    return nullptr;
  }
  const DType dtype = GetType(message.dtype());
  const int arity = ArityOf(*kind);
  if (arity >= 0 && arity != message.operands_size()) {
    Fail(absl::StrCat(message.kind(), " has ", message.operands_size(),
                      " operands; it takes ", arity));
  }
  std::vector<Expr> operands = GetExprs(message.operands());
  if (!ok()) return nullptr;
  if (arity == 0) return MakeLeaf(*kind, dtype, message);
  Expr e = MakeInner(*kind, dtype, message, std::move(operands));
  if (ok() && e.dtype() != dtype) {
    Fail(absl::StrCat(message.kind(), " gives ", e.dtype().ToString(), ", not ",
                      dtype.ToString()));
  }
  return e;
}

Buffer Reader::ReadBuffer(const proto::Buffer& message) {
  auto* node = new BufferNode;
  Buffer buffer(node);
  node->name = message.name();
  node->dtype = GetType(message.dtype());
  node->shape = GetExprs(message.shape());
  node->strides = GetExprs(message.strides());
  node->elem_offset = GetExpr(message.elem_offset(), /*optional=*/true);
  node->data = GetVar(message.data(), /*optional=*/true);
  node->scope = message.scope();
  node->alignment = message.alignment();
  node->offset_factor = message.offset_factor();
  return buffer;
}

}  // namespace kiln::serial_internal
