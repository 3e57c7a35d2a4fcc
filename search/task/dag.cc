#include "kiln/search/task/dag.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/ir/text/printer/printer.h"

namespace kiln {
namespace {

std::string IterName(const std::string& name) {
  if (name.size() > 2 && name.compare(0, 2, "v_") == 0) return name.substr(2);
  return name.size() > 1 && name[0] == 'v' ? name.substr(1) : name;
}

std::string Text(const Expr& e);

std::string TextOf(const std::vector<Expr>& list) {
  return absl::StrJoin(list, ", ", [](std::string* out, const Expr& e) {
    out->append(Text(e));
  });
}

std::string Element(const Buffer& buffer, const std::vector<Expr>& indices) {
  return absl::StrCat(buffer->name, "[", TextOf(indices), "]");
}

std::string BinaryText(const BinaryNode& e) {
  const BinaryInfo& info = *GetBinaryInfo(e.kind);
  const std::string a = Text(e.a), b = Text(e.b);
  if (info.symbol.empty()) {
    return absl::StrCat(e.kind == ExprKind::kMax   ? "max"
                        : e.kind == ExprKind::kMin ? "min"
                                                   : std::string(info.name),
                        "(", a, ", ", b, ")");
  }
  const std::string symbol(info.symbol);
  const bool tight = e.kind == ExprKind::kMul || e.kind == ExprKind::kDiv;
  return absl::StrCat("(", a, tight ? symbol : " " + symbol + " ", b, ")");
}

std::string Text(const Expr& e) {
  if (const auto* load = e.As<LoadNode>()) {
    return Element(load->buffer, load->indices);
  }
  if (const auto* var = e.As<VarNode>()) return IterName(var->name);
  if (const auto* value = e.As<IntImmNode>()) return absl::StrCat(value->value);
  if (const auto* value = e.As<FloatImmNode>()) {
    return absl::StrCat(value->value, "f");
  }
  if (const auto* binary = e.As<BinaryNode>()) return BinaryText(*binary);
  if (const auto* cast = e.As<CastNode>()) {
    return absl::StrCat(e.dtype().ToString(), "(", Text(cast->value), ")");
  }
  if (const auto* call = e.As<CallNode>()) {
    return absl::StrCat(std::string(GetIntrinsicInfo(call->op).name), "(",
                        TextOf(call->args), ")");
  }
  if (const auto* select = e.As<SelectNode>()) {
    return absl::StrCat("select(", Text(select->condition), ", ",
                        Text(select->true_value), ", ",
                        Text(select->false_value), ")");
  }
  return PrintExpr(e);
}

// "+=" and what is combined, for out[i] = out[i] + e; "=" otherwise.
std::string Right(const StoreNode& store) {
  const auto* binary = store.value.As<BinaryNode>();
  const auto* load = binary ? binary->a.As<LoadNode>() : nullptr;
  if (load && load->buffer.get() == store.buffer.get()) {
    if (binary->kind == ExprKind::kAdd) return "+= " + Text(binary->b);
    if (binary->kind == ExprKind::kMul) return "*= " + Text(binary->b);
    if (binary->kind == ExprKind::kMax) return "max= " + Text(binary->b);
    if (binary->kind == ExprKind::kMin) return "min= " + Text(binary->b);
  }
  return "= " + Text(store.value);
}

std::string BlockLine(const BlockNode& block) {
  std::vector<std::string> axes;
  for (const IterVar& iter : block.iters) {
    if (iter.type == IterType::kSpatial) {
      axes.push_back(IterName(iter.var.name()));
    }
  }
  std::string line =
      absl::StrCat(block.name, "(", absl::StrJoin(axes, ", "), ") ");
  if (const auto* store = block.body.As<StoreNode>()) {
    return absl::StrCat(line, Right(*store), "\n");
  }
  std::vector<std::string> reads;
  for (const BufferRegion& read : block.reads) {
    reads.push_back(read.buffer->name);
  }
  return absl::StrCat(line, "from ", absl::StrJoin(reads, ", "), "\n");
}

}  // namespace

std::string DagText(const Function& f) {
  std::set<const BufferNode*> known;
  std::string text;
  const auto need = [&](const BufferRegion& read, const BlockNode& reader) {
    for (const BufferRegion& write : reader.writes) {
      if (write.buffer.get() == read.buffer.get()) return;
    }
    if (!known.insert(read.buffer.get()).second) return;
    absl::StrAppend(&text, read.buffer->name, " = PLACEHOLDER [",
                    TextOf(read.buffer->shape), "]\n");
  };
  Visit(f.body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    if (!realize || realize->block.get() == &f.root()) return true;
    for (const BufferRegion& read : realize->block->reads) {
      need(read, *realize->block);
    }
    absl::StrAppend(&text, BlockLine(*realize->block));
    for (const BufferRegion& write : realize->block->writes) {
      known.insert(write.buffer.get());
    }
    return false;
  });
  return text;
}

}  // namespace kiln
