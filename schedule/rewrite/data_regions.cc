#include "kiln/schedule/rewrite/data_regions.h"

#include <unordered_set>

#include "kiln/ir/expr/same.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Widener {
 public:
  explicit Widener(BlockFields* fields) : fields_(fields) {}

  void Walk(const Stmt& s) {
    const auto* let = s.As<LetStmtNode>();
    if (let && DependsOnData(let->value)) data_.insert(let->var.get());
    const auto* store = s.As<StoreNode>();
    if (store) Access(store->buffer, store->indices, &fields_->writes);
    ForEachExpr(s, [&](const Expr& e) {
      if (e->has_loads) Loads(e);
    });
    ForEachChild(s, [&](const Stmt& child) { Walk(child); });
  }

 private:
  void Loads(const Expr& e) {
    Visit(e, [&](const Expr& part) {
      const auto* let = part.As<LetNode>();
      if (let && DependsOnData(let->value)) data_.insert(let->var.get());
      const auto* load = part.As<LoadNode>();
      if (load) Access(load->buffer, load->indices, &fields_->reads);
      return part->has_loads;
    });
  }

  bool DependsOnData(const Expr& e) const {
    if (e->has_loads || data_.empty()) return e->has_loads;
    bool found = false;
    Visit(e, [&](const Expr& part) {
      found = found || data_.count(part.get()) > 0;
      return !found;
    });
    return found;
  }

  void Access(const Buffer& buffer, const std::vector<Expr>& indices,
              std::vector<BufferRegion>* regions) const {
    for (size_t d = 0; d < indices.size(); ++d) {
      if (!DependsOnData(indices[d])) continue;
      for (BufferRegion& region : *regions) {
        if (region.buffer != buffer) continue;
        Range& range = region.region[d];
        if (IsOne(range.extent) && SameExpr(range.min, indices[d])) continue;
        range = {Int(0), buffer->shape[d]};
      }
    }
  }

  BlockFields* fields_;
  std::unordered_set<const ExprNode*> data_;  // variables
};

}  // namespace

void WidenOverData(BlockFields* fields) {
  Widener widener(fields);
  if (fields->init) widener.Walk(fields->init);
  widener.Walk(fields->body);
}

}  // namespace kiln
