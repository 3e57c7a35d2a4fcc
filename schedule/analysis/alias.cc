#include "kiln/schedule/analysis/alias.h"

#include <array>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kiln/ir/tensor/visit.h"
#include "kiln/schedule/analysis/refusal.h"

namespace kiln {
namespace {

// The tensors that are accessed in a statement, by name; what blocks inside do
// counts as they declare it.
class Names {
 public:
  // Views and what they are views of, innermost last.
  using Sources = std::unordered_map<const BufferNode*, Buffer>;

  explicit Names(const Sources& sources) : sources_(sources) {}

  void Walk(const Stmt& s) {
    if (const auto* realize = s.As<BlockRealizeNode>()) {
      for (const BufferRegion& r : realize->block->reads) Add(r.buffer, false);
      for (const BufferRegion& w : realize->block->writes) Add(w.buffer, true);
      return;
    }
    if (const auto* store = s.As<StoreNode>()) Add(store->buffer, true);
    ForEachExpr(s, [&](const Expr& e) {
      Visit(e, [&](const Expr& part) {
        const auto* load = part.As<LoadNode>();
        if (load) Add(load->buffer, false);
        return part->has_loads;
      });
    });
    ForEachChild(s, [&](const Stmt& child) { Walk(child); });
  }

  // Two names of one tensor that is written.
  std::optional<std::string> Clash() const {
    for (const auto& [storage, use] : uses_) {
      if (!use.is_written || !use.second) continue;
      return absl::StrCat("`", use.first->name, "` and `", use.second->name,
                          "` are names of one tensor, which is written");
    }
    return std::nullopt;
  }

 private:
  struct Use {
    Buffer first, second;
    bool is_written = false;
  };

  void Add(const Buffer& buffer, bool is_written) {
    Use& use = uses_[StorageOf(buffer)];
    use.is_written |= is_written;
    if (!use.first) {
      use.first = buffer;
    } else if (use.first != buffer) {
      use.second = buffer;
    }
  }

  const void* StorageOf(Buffer buffer) const {
    for (auto view = sources_.find(buffer.get()); view != sources_.end();
         view = sources_.find(buffer.get())) {
      buffer = view->second;
    }
    if (buffer->data) return buffer->data.get();
    return buffer.get();
  }

  const Sources& sources_;
  std::unordered_map<const void*, Use> uses_;
};

}  // namespace

std::optional<std::string> WhyAliased(const Path& path) {
  Names::Sources sources;
  bool views = false;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    const auto* allocate = path[i].As<AllocateNode>();
    views = views || (allocate && allocate->is_view);
    const auto* realize = path[i].As<BlockRealizeNode>();
    if (!realize) continue;
    const BlockNode& block = *realize->block;
    for (const MatchBufferRegion& match : block.match_buffers) {
      sources.emplace(match.buffer.get(), match.source.buffer);
      views = true;
    }
    Visit(block.body, [&](const Stmt& s) {
      const auto* inside = s.As<AllocateNode>();
      views = views || (inside && inside->is_view);
      return !s.As<BlockRealizeNode>() && !s.As<ForNode>();
    });
    if (!views) continue;
    Names names(sources);
    if (block.init) names.Walk(block.init);
    names.Walk(block.body);
    if (auto clash = names.Clash()) {
      return absl::StrCat("within ", Describe(block), " ", *clash);
    }
  }
  return std::nullopt;
}

bool KeepsOrder(std::string_view primitive) {
  constexpr std::array<std::string_view, 11> kKeeping = {
      "split",
      "fuse",
      "unroll",
      "add_unit_loop",
      "blockize",
      "annotate",
      "unannotate",
      "loop_partition",
      "set_scope",
      "storage_align",
      "reorder_block_iter_var"};
  if (primitive.rfind("get_", 0) == 0 || primitive.rfind("sample_", 0) == 0) {
    return true;
  }
  for (const std::string_view name : kKeeping) {
    if (primitive == name) return true;
  }
  return false;
}

}  // namespace kiln
