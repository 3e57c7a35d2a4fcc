#include "kiln/codegen/lower/auto/epilogue.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kiln/codegen/lower/auto/vector_grid.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln::lower {
namespace {

using Buffers = std::set<const BufferNode*>;

void AddLoaded(const Expr& e, Buffers* buffers) {
  Visit(e, [&](const Expr& inner) {
    const auto* load = inner.As<LoadNode>();
    if (load) buffers->insert(load->buffer.get());
    return inner->has_loads;
  });
}

Buffers BuffersOf(const Stmt& nest) {
  Buffers buffers;
  Visit(nest, [&](const Stmt& s) {
    if (const auto* store = s.As<StoreNode>()) {
      buffers.insert(store->buffer.get());
    }
    ForEachExpr(s, [&](const Expr& e) { AddLoaded(e, &buffers); });
    return true;
  });
  return buffers;
}

class Collector {
 public:
  explicit Collector(Buffers near) : near_(std::move(near)) {}

  void AddStore(const StoreNode& store) {
    Visit(store.value, [&](const Expr& e) {
      if (const auto* load = e.As<LoadNode>()) {
        Add(load->buffer, load->indices[0], load->dtype, false);
      }
      return e->has_loads;
    });
    Add(store.buffer, store.indices[0], store.value.dtype(), true);
  }
  std::vector<LateAccess> Take() { return std::move(accesses_); }

 private:
  void Add(const Buffer& buffer, const Expr& index, DType dtype, bool writes) {
    const Expr first =
        index.dtype().is_scalar() ? index : ContiguousBase(index);
    if (!first || near_.count(buffer.get())) return;
    accesses_.push_back({buffer, first, dtype.bytes(), writes});
  }

  Buffers near_;
  std::vector<LateAccess> accesses_;
};

}  // namespace

std::vector<LateAccess> AccessesAfter(const SeqNode& seq, size_t nest) {
  Collector collector(BuffersOf(seq.stmts[nest]));
  for (size_t i = nest + 1; i < seq.stmts.size(); ++i) {
    if (seq.stmts[i].As<ForNode>()) break;
    if (const auto* store = seq.stmts[i].As<StoreNode>()) {
      collector.AddStore(*store);
    }
  }
  return collector.Take();
}

int64_t BytesStored(const Stmt& nest) {
  if (const auto* store = nest.As<StoreNode>()) {
    return store->value.dtype().bytes();
  }
  int64_t bytes = 0;
  ForEachChild(nest, [&](const Stmt& child) { bytes += BytesStored(child); });
  const auto* loop = nest.As<ForNode>();
  const int64_t* extent = loop ? AsInt(loop->extent) : nullptr;
  return extent ? bytes * std::max<int64_t>(*extent, 0) : bytes;
}

}  // namespace kiln::lower
