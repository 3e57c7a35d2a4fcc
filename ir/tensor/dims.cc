#include "kiln/ir/tensor/dims.h"

#include <algorithm>
#include <vector>

#include "kiln/ir/tensor/visit.h"

namespace kiln {
namespace {

class Buffers {
 public:
  explicit Buffers(const VarMap& map) : map_(map) {}

  void Add(const Buffer& buffer) {
    if (!buffer || replaced_.count(buffer.get())) return;
    replaced_[buffer.get()] = EditBuffer(buffer, [&](BufferNode& node) {
      for (Expr& e : node.shape) e = Substitute(e, map_);
      for (Expr& e : node.strides) e = Substitute(e, map_);
      if (node.elem_offset)
        node.elem_offset = Substitute(node.elem_offset, map_);
    });
  }

  void AddAllOf(const Stmt& body) {
    Visit(body, [&](const Stmt& s) {
      if (const auto* allocate = s.As<AllocateNode>()) Add(allocate->buffer);
      if (const auto* realize = s.As<BlockRealizeNode>()) {
        for (const Buffer& buffer : realize->block->alloc_buffers) Add(buffer);
        for (const MatchBufferRegion& match : realize->block->match_buffers) {
          Add(match.buffer);
        }
      }
      return true;
    });
  }

  const BufferMap& map() const { return replaced_; }

 private:
  const VarMap& map_;
  BufferMap replaced_;
};

}  // namespace

Function SubstituteDims(Function f, const VarMap& map) {
  if (map.empty()) return f;
  Buffers buffers(map);
  for (const Param& param : f.params) buffers.Add(param.buffer);
  buffers.AddAllOf(f.body);
  f.body = ReplaceBuffers(Substitute(f.body, map), buffers.map());
  for (Param& param : f.params) {
    if (param.buffer) param.buffer = buffers.map().at(param.buffer.get());
  }
  const auto is_replaced = [&](const Param& param) {
    return !param.buffer && map.count(param.var.get()) > 0;
  };
  f.params.erase(std::remove_if(f.params.begin(), f.params.end(), is_replaced),
                 f.params.end());
  return f;
}

}  // namespace kiln
