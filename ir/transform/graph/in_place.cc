// A tensor goes from block to block: each that reads it has to be elementwise,
// and write another tensor that again goes on element by element, until all
// ends in the one result:
//
//   R, S -> T[i, j] = S[i, j] + R[i, j] -> C[i, j] = max(T[i, j], 0)
//
// R and C may lie together then. S may not be C: it is no parameter; and what S
// is a sum of is read for many elements.
#include "kiln/ir/transform/graph/in_place.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "kiln/ir/expr/same.h"
#include "kiln/ir/expr/visit.h"
#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

bool Uses(const std::vector<BufferRegion>& regions, const Buffer& buffer) {
  return absl::c_any_of(regions, [&](const BufferRegion& region) {
    return region.buffer == buffer;
  });
}

bool HaveOneShape(const Buffer& a, const Buffer& b) {
  return absl::c_equal(a->shape, b->shape, SameExpr);
}

// The blocks of a function that is a sequence of nests with one block each.
// nullopt for others.
std::optional<std::vector<const BlockNode*>> BlocksOf(const Function& f) {
  const auto* root = f.body.As<BlockRealizeNode>();
  if (!root || !root->block->match_buffers.empty()) return std::nullopt;
  std::vector<const BlockNode*> blocks;
  bool is_plain = true;
  Visit(root->block->body, [&](const Stmt& s) {
    const auto* realize = s.As<BlockRealizeNode>();
    is_plain &= realize || s.As<ForNode>() || s.As<SeqNode>();
    if (!realize) return is_plain;
    is_plain &= IsOne(realize->predicate) &&
                realize->block->match_buffers.empty() &&
                realize->block->alloc_buffers.empty();
    blocks.push_back(realize->block.get());
    return false;
  });
  if (!is_plain) return std::nullopt;
  return blocks;
}

// The store that is all of a block over spatial axes, at an element for each of
// their values; null for other blocks.
const StoreNode* PointStore(const BlockNode& block) {
  const auto* store = block.body.As<StoreNode>();
  if (!store || block.init || block.writes.size() != 1) return nullptr;
  std::set<const Node*> free;
  for (const IterVar& iter : block.iters) {
    if (iter.type != IterType::kSpatial) return nullptr;
    if (!IsOne(iter.domain.extent)) free.insert(iter.var.get());
  }
  for (size_t d = 0; d < store->indices.size(); ++d) {
    const bool is_only = IsOne(store->buffer->shape[d]);
    if (!is_only && free.erase(store->indices[d].get()) == 0) return nullptr;
  }
  return free.empty() ? store : nullptr;
}

// Whether the store reads `buffer` at the place to which it writes alone.
bool ReadsAlike(const StoreNode& store, const Buffer& buffer) {
  bool alike = true;
  Visit(store.value, [&](const Expr& e) {
    const auto* load = e.As<LoadNode>();
    if (!load || load->buffer != buffer) return alike;
    for (size_t d = 0; d < load->indices.size(); ++d) {
      alike &= IsOne(buffer->shape[d]) ||
               SameExpr(load->indices[d], store.indices[d]);
    }
    return alike;
  });
  for (const Expr& index : store.indices) alike &= !index->has_loads;
  return alike;
}

class Finder {
 public:
  Finder(const Function& f, std::vector<const BlockNode*> blocks)
      : f_(f), blocks_(std::move(blocks)) {}

  std::vector<InPlacePair> Run() const {
    std::vector<InPlacePair> pairs;
    for (size_t w = 0; w < f_.params.size(); ++w) {
      const Buffer& written = f_.params[w].buffer;
      if (!written || CountWriters(written) != 1 || IsRead(written)) continue;
      for (size_t r = 0; r < f_.params.size(); ++r) {
        const Buffer& read = f_.params[r].buffer;
        if (r != w && read && read->dtype == written->dtype &&
            HaveOneShape(read, written) && CountWriters(read) == 0 &&
            EndsIn(read, written, blocks_.size())) {
          pairs.push_back({static_cast<int>(r), static_cast<int>(w)});
        }
      }
    }
    return pairs;
  }

 private:
  int CountWriters(const Buffer& buffer) const {
    return static_cast<int>(absl::c_count_if(
        blocks_,
        [&](const BlockNode* block) { return Uses(block->writes, buffer); }));
  }
  bool IsRead(const Buffer& buffer) const {
    return absl::c_any_of(blocks_, [&](const BlockNode* block) {
      return Uses(block->reads, buffer);
    });
  }

  // Whether all that is made of `buffer`, and there is something, is element by
  // element, and is `result` after at most so many steps.
  bool EndsIn(const Buffer& buffer, const Buffer& result, size_t steps) const {
    if (steps == 0 || !IsRead(buffer)) return false;
    return absl::c_all_of(blocks_, [&](const BlockNode* block) {
      if (!Uses(block->reads, buffer)) return true;
      const StoreNode* store = PointStore(*block);
      return store && HaveOneShape(store->buffer, buffer) &&
             ReadsAlike(*store, buffer) &&
             (store->buffer == result ||
              (IsOwn(store->buffer) && CountWriters(store->buffer) == 1 &&
               EndsIn(store->buffer, result, steps - 1)));
    });
  }

  bool IsOwn(const Buffer& buffer) const {
    return absl::c_linear_search(f_.root().alloc_buffers, buffer);
  }

  const Function& f_;
  std::vector<const BlockNode*> blocks_;
};

}  // namespace

std::vector<InPlacePair> FindInPlacePairs(const Function& f) {
  std::optional<std::vector<const BlockNode*>> blocks = BlocksOf(f);
  if (!blocks) return {};
  return Finder(f, *std::move(blocks)).Run();
}

Module MarkInPlace(Module module) {
  for (Function& f : module.functions) {
    if (f.attrs.count(kInPlaceBuffers) == 0) {
      SetInPlacePairs(&f, FindInPlacePairs(f));
    }
  }
  return module;
}

}  // namespace kiln
